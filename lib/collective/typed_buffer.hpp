// Buffers of any MPI datatype: how far elements reach, copies that leave gaps alone, and scratch
// that is large enough whatever the lower bound and the extent.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace shortcut::collective {

/// What we need to know of a datatype.
struct TypeInfo {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower_bound = 0;
  MPI_Aint true_extent = 0;
  std::size_t size = 0;     ///< bytes of data in one element
  bool contiguous = false;  ///< no gaps and no offset: memcpy will do

  /// MPI_SUCCESS, or the class of the failing query.
  static int query(MPI_Datatype type, TypeInfo& info);

  char* at(void* base, std::size_t element) const {
    return static_cast<char*>(base) + static_cast<MPI_Aint>(element) * extent;
  }
  const char* at(const void* base, std::size_t element) const {
    return static_cast<const char*>(base) + static_cast<MPI_Aint>(element) * extent;
  }
};

/// Largest number of elements handed to one MPI call; larger ranges go in pieces.
inline constexpr std::size_t kMostElements = std::size_t{1} << 30;

/// Scratch memory for elements of a type; grows, never shrinks.
class Scratch {
 public:
  /// Space for `elements`; the pointer is where element 0's origin lies (the storage begins at the
  /// true lower bound). Contents are undefined.
  void* reserve(const TypeInfo& type, std::size_t elements);

 private:
  std::vector<std::byte> storage_;
};

/// Copies elements of one type; gaps in `to` stay. `self` is a communicator of ours.
int copy_elements(const TypeInfo& type, const void* from, void* to, std::size_t elements,
                  MPI_Comm self);

/// Elements to bytes and back, in the order of their type map; `packed` has size * elements bytes.
/// Gaps in `to` stay.
int pack_elements(const TypeInfo& type, const void* from, std::size_t elements, char* packed,
                  MPI_Comm self);
int unpack_elements(const TypeInfo& type, const char* packed, void* to, std::size_t elements,
                    MPI_Comm self);

/// Copies between two types of equal signature.
int convert_elements(const void* from, MPI_Count from_count, MPI_Datatype from_type, void* to,
                     MPI_Count to_count, MPI_Datatype to_type, MPI_Comm self);

}  // namespace shortcut::collective
