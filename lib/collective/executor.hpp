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

/// Appends one rank's elements as `blocks` blocks whose sizes differ by at most one.
void add_blocks(BlockedVector& vector, std::size_t first, std::size_t elements, int blocks);

/// Cuts `elements` into `blocks` blocks whose sizes differ by at most one.
void cut_evenly(std::size_t elements, int blocks, BlockedVector& vector);

}  // namespace shortcut::collective
