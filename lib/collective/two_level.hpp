// Two-level collectives: the ranks of a node combine (along a tree) or collect (by the MPI
// library's own means) among themselves, one leader of each node talks to the others' over the
// fabric, and the result is handed out on the node again.
#pragma once

#include "collective/communicator.hpp"
#include "collective/executor.hpp"

namespace shortcut::collective {

/// One two-level call: runs the plan on the fabric level of `comm` (which has one).
class TwoLevel {
 public:
  TwoLevel(Communicator& comm, const planner::Plan& plan, const Reduction& reduction, double bytes);

  /// `input` may be `output`. Each returns an MPI error code.
  int allreduce(const TypeInfo& type, const void* input, void* output, std::size_t elements);
  /// offset[r]: where rank r's block starts; ranks + 1 entries.
  int reduce_scatter(const TypeInfo& type, const void* input, void* output,
                     const std::vector<std::size_t>& offset);
  /// `blocks` holds all ranks' blocks as bytes, in rank order, this rank's filled in; offset as
  /// above, in bytes.
  int allgather(char* blocks, const std::vector<std::size_t>& offset);

 private:
  void begin(const model::Line& price);
  void end(const model::Line& price);
  int reduce_to_leader(const TypeInfo& type, const void* input, void* output, std::size_t elements);
  int broadcast(const TypeInfo& type, void* buffer, std::size_t elements);
  bool leads() const { return nodes_.place == 0; }

  Communicator& comm_;
  NodeLevel& nodes_;
  Communicator& fabric_;
  const planner::Plan& plan_;
  const Reduction& reduction_;
  double bytes_;
};

}  // namespace shortcut::collective
