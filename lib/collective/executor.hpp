// Runs a plan for real buffers over MPI point-to-point, rewiring the fabric as it goes.
#pragma once

#include <vector>

#include "collective/communicator.hpp"

namespace shortcut::collective {

/// The vector that a plan works on: blocks in schedule order, each a run of elements.
struct BlockedVector {
  TypeInfo type;
  void* base = nullptr;  ///< element 0's origin
  /// first_element[i]: where block i starts; end_element[i]: one past its last. Blocks of one
  /// step's run must follow each other without gaps, up to the last block, where a run wraps
  /// around.
  std::vector<std::size_t> first_element;
  std::vector<std::size_t> end_element;
};

/// How received operands are combined.
struct Reduction {
  MPI_Op op = MPI_OP_NULL;
  /// The order of operands matters (not commutative, or a user's function whose bits may depend on
  /// it): lower ranks stand on the left.
  bool ordered = false;
};

/// Runs the plan; returns an MPI error code. Must be called by every rank of the communicator.
int execute(Communicator& comm, const planner::Plan& plan, BlockedVector& vector,
            const Reduction& reduction);

/// A run of one rank's elements within a vector in schedule order.
struct OwnedRun {
  int endpoint = 0;        ///< whose
  std::size_t offset = 0;  ///< where it begins within the rank's own elements
  std::size_t place = 0;   ///< and within the vector
  std::size_t count = 0;
};

/// Cuts each rank's elements into its blocks and lays them out in schedule order: fills the
/// vector's blocks. `owner`: Schedule::block_owner; count_of(endpoint): elements of a rank.
template <class Counts>
std::vector<OwnedRun> lay_out(const std::vector<int>& owner, int ranks, const Counts& count_of,
                              BlockedVector& vector) {
  const std::size_t each = owner.size() / static_cast<std::size_t>(ranks);
  std::vector<std::size_t> met(static_cast<std::size_t>(ranks), 0);   // blocks of each rank
  std::vector<std::size_t> laid(static_cast<std::size_t>(ranks), 0);  // elements of each rank
  std::vector<OwnedRun> runs;
  std::size_t place = 0;
  for (const int endpoint : owner) {
    const std::size_t index = static_cast<std::size_t>(endpoint);
    const std::size_t all = count_of(endpoint);
    const std::size_t count = all / each + (met[index]++ < all % each ? 1 : 0);
    vector.first_element.push_back(place);
    if (!runs.empty() && runs.back().endpoint == endpoint) {
      runs.back().count += count;
    } else {
      runs.push_back({endpoint, laid[index], place, count});
    }
    laid[index] += count;
    place += count;
    vector.end_element.push_back(place);
  }
  return runs;
}

/// Appends one rank's elements as `blocks` blocks whose sizes differ by at most one.
void add_blocks(BlockedVector& vector, std::size_t first, std::size_t elements, int blocks);

/// Cuts `elements` into `blocks` blocks whose sizes differ by at most one.
void cut_evenly(std::size_t elements, int blocks, BlockedVector& vector);

}  // namespace shortcut::collective
