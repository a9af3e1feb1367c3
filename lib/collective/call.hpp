// What the five collectives share: is this call ours, which plan, and the record of it.
#pragma once

#include "collective/communicator.hpp"
#include "collective/executor.hpp"
#include "report/report.hpp"

namespace shortcut::collective {

/// One call that we run. Usage: find a Call, run it, return its code.
class Call {
 public:
  /// `name`: the MPI function without prefix, for the report.
  Call(const char* name, schedule::Collective collective, MPI_Comm comm);

  /// False: the call belongs to PMPI (and is recorded so).
  bool ours() const { return comm_ != nullptr; }
  /// Hands the call to PMPI after all, and says why in the report.
  bool pass(const char* reason);

  Communicator& comm() { return *comm_; }

  /// Reads the operation; false: pass.
  bool set_operation(MPI_Op op);
  /// Selects the plan for `bytes` (signature size, equal on all ranks); false: pass.
  bool select(std::size_t bytes);
  const planner::Plan& plan() const { return *plan_; }

  /// Runs the plan and records the call.
  int run(BlockedVector& vector);

 private:
  const char* name_;
  schedule::Collective collective_;
  Communicator* comm_ = nullptr;
  const planner::Plan* plan_ = nullptr;
  const planner::SelectionTable* table_ = nullptr;
  Reduction reduction_;
  bool commutative_ = true;
  std::size_t bytes_ = 0;
};

}  // namespace shortcut::collective
