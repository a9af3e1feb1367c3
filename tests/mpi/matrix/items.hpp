// Items: a datatype over one kind (itself, or derived with gaps, offsets, other extents), and
// buffers of it with guard bytes, patterned gaps and a record of which bytes are data.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/matrix/kinds.hpp"

namespace matrix {

struct Item {
  std::string name;
  const Kind* kind = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<MPI_Aint> offsets;  ///< of the kind's elements, in signature order
  MPI_Aint extent = 0;
  std::size_t most = 0;  ///< items that fit side by side without overlap; 0: any number
  bool owned = false;
};

/// The kind itself.
Item plain(const Kind& kind);
/// Derived types over a kind.
std::vector<Item> derived(const Kind& kind);
void free_item(Item& item);

class Buffer {
 public:
  /// Room for `items` of them; every byte has the pattern.
  Buffer(const Item& item, std::size_t items, bool padding_is_data);

  /// Where item 0's origin lies.
  void* origin() { return bytes_.data() + origin_; }
  void* at(std::size_t i) { return bytes_.data() + place(i, 0); }
  /// Element e (over all items) in signature order.
  void* element(std::size_t e) {
    return bytes_.data() +
           place(e / item_->offsets.size(), item_->offsets[e % item_->offsets.size()]);
  }
  std::size_t elements() const { return items_ * item_->offsets.size(); }
  /// Remembers the contents, for unchanged().
  void seal() { sealed_ = bytes_; }
  bool unchanged() const { return bytes_ == sealed_; }
  /// Guards and gaps have the pattern still.
  bool pattern_intact() const;

 private:
  std::size_t place(std::size_t i, MPI_Aint offset) const {
    return static_cast<std::size_t>(static_cast<MPI_Aint>(origin_) +
                                    static_cast<MPI_Aint>(i) * item_->extent + offset);
  }
  const Item* item_;
  std::size_t items_;
  std::size_t origin_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<unsigned char> sealed_;
  std::vector<bool> data_;
};

}  // namespace matrix
