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
  /// There are no data: done, with MPI_SUCCESS as `code`. Not even PMPI is asked, for some MPI
  /// libraries hang or call the user's function then, and another rank may describe no data
  /// otherwise (a zero count here, a type without size there).
  bool nothing(int& code);

  Communicator& comm() { return *comm_; }

  /// Reads the operation on `type` (a valid handle); false: pass.
  bool set_operation(MPI_Op op, MPI_Datatype type);
  /// Selects the plan for `bytes` (signature size, equal on all ranks); false: pass.
  bool select(std::size_t bytes);
  /// Of the ranks, or where two_level(), of the nodes.
  const planner::Plan& plan() const { return *choice_.plan; }
  bool two_level() const { return choice_.two_level; }
  const Reduction& reduction() const { return reduction_; }
  double bytes() const { return static_cast<double>(bytes_); }

  /// Would MPI refuse this buffer for items of such a type, `count` of them?
  static bool bad_buffer(const void* buffer, std::size_t count, const TypeInfo& type) {
    // MPI_BOTTOM looks like a null pointer but comes with types that start elsewhere.
    return buffer == MPI_IN_PLACE || (buffer == nullptr && count > 0 && type.true_lower_bound == 0);
  }

  /// Runs `work`, which returns an MPI error code, as this call: timed and recorded.
  template <class Work>
  int run(const Work& work) {
    begin();
    const int code = work();
    end();
    return code;
  }
  /// Within it.
  int execute_plan(BlockedVector& vector) { return execute(*comm_, plan(), vector, reduction_); }

 private:
  void begin();
  void end();

  const char* name_;
  schedule::Collective collective_;
  Communicator* comm_ = nullptr;
  Choice choice_;
  Reduction reduction_;
  schedule::Operands operands_ = schedule::Operands::exact;
  bool order_shows_ = false;
  std::size_t bytes_ = 0;
  double start_ns_ = 0;
};

/// What the caller gets for `code`: an error goes through the error handler of its communicator.
int answer(int code, MPI_Comm comm);

}  // namespace shortcut::collective
