#include "collective/call.hpp"

namespace shortcut::collective {

Call::Call(const char* name, schedule::Collective collective, MPI_Comm comm)
    : name_(name), collective_(collective) {
  Runtime* runtime = Runtime::get();
  if (runtime == nullptr) return;
  if (comm == MPI_COMM_NULL) {
    pass("invalid communicator");
    return;
  }
  comm_ = Communicator::of(comm, *runtime);
  if (comm_ == nullptr) pass("one rank, or an intercommunicator");
}

bool Call::pass(const char* reason) {
  report::record_native(name_, reason);
  comm_ = nullptr;
  return false;
}

bool Call::set_operation(MPI_Op op) {
  if (op == MPI_OP_NULL || op == MPI_NO_OP || op == MPI_REPLACE) return pass("invalid operation");
  int commutative = 0;
  if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS) return pass("invalid operation");
  // In rank order the combination tree depends on the number of ranks alone.
  commutative_ = commutative != 0 && !comm_->settings().deterministic;
  reduction_.op = op;
  // Operand order may show in the bits of a user's function; the standard's own are symmetric.
  const MPI_Op symmetric[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                              MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  reduction_.ordered = true;
  for (const MPI_Op known : symmetric) {
    if (op == known) reduction_.ordered = false;
  }
  return true;
}

bool Call::select(std::size_t bytes) {
  bytes_ = bytes;
  table_ = &comm_->selector().table(collective_, commutative_, comm_->held());
  plan_ = &table_->lookup(static_cast<double>(bytes));
  if (plan_->native()) return pass("no algorithm can serve it");
  return true;
}

int Call::run(BlockedVector& vector) {
  fabric::Backend& backend = comm_->backend();
  backend.enter_collective();
  const double start_ns = backend.now_ns();
  const int code = execute(*comm_, *plan_, vector, reduction_);
  const double measured_ns = backend.now_ns() - start_ns;
  backend.leave_collective();
  report::record({name_, comm_->ranks(), plan_, table_, static_cast<double>(bytes_), measured_ns,
                  backend.capabilities().name});
  return code;
}

}  // namespace shortcut::collective
