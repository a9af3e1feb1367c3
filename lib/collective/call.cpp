#include "collective/call.hpp"

#include "collective/operation.hpp"

namespace shortcut::collective {

Call::Call(const char* name, schedule::Collective collective, MPI_Comm comm)
    : name_(name), collective_(collective) {
  Runtime* runtime = Runtime::get();
  if (runtime == nullptr) return;
  if (comm == MPI_COMM_NULL) {
    pass("invalid communicator");
    return;
  }
  const char* why = "";
  comm_ = Communicator::of(comm, *runtime, &why);
  if (comm_ == nullptr) pass(why);
}

bool Call::pass(const char* reason) {
  report::record_native(name_, reason);
  comm_ = nullptr;
  return false;
}

bool Call::nothing(int& code) {
  report::record_native(name_, "no data");
  code = MPI_SUCCESS;
  return true;
}

bool Call::set_operation(MPI_Op op, MPI_Datatype type) {
  if (op == MPI_OP_NULL || op == MPI_NO_OP || op == MPI_REPLACE) return pass("invalid operation");
  const OperationInfo info = describe_operation(op, type);
  // MPI_Reduce_local would raise the error on another communicator than the caller's.
  if (info.predefined && !info.defined_for_type) {
    return pass("operation not defined for the datatype");
  }
  int commutative = 0;
  if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS) return pass("invalid operation");
  // In rank order the combination tree depends on the number of ranks alone.
  order_shows_ = info.order_shows;
  operands_ = commutative == 0 || comm_->settings().deterministic ? schedule::Operands::in_order
              : order_shows_                                      ? schedule::Operands::commutative
                                                                  : schedule::Operands::exact;
  reduction_.op = op;
  // The standard's own operations may swap operands as long as one rank alone computes a value.
  reduction_.ordered = !info.predefined;
  return true;
}

bool Call::select(std::size_t bytes) {
  bytes_ = bytes;
  if (operands_ == schedule::Operands::in_order && !comm_->in_rank_order()) {
    comm_ = &comm_->ordered(*Runtime::get());
  }
  choice_ = comm_->choose(collective_, operands_, static_cast<double>(bytes));
  if (plan().native()) return pass("no algorithm can serve it");
  // Where several ranks compute the same values, they must get the same bits.
  if (order_shows_ && plan().algorithm().repeats_reductions) reduction_.ordered = true;
  return true;
}

void Call::begin() {
  comm_->backend().enter_collective();
  start_ns_ = comm_->backend().now_ns();
}

void Call::end() {
  fabric::Backend& backend = comm_->backend();
  const double measured_ns = backend.now_ns() - start_ns_;
  backend.leave_collective();
  report::record({name_, comm_->ranks(), choice_.plan, choice_.table, static_cast<double>(bytes_),
                  measured_ns, backend.capabilities().name, choice_.per_node,
                  choice_.predicted_ns});
}

int answer(int code, MPI_Comm comm) {
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace shortcut::collective
