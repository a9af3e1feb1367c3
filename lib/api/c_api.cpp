#include <algorithm>
#include <cstring>

#include "collective/collectives.hpp"
#include "collective/communicator.hpp"
#include "shortcut/shortcut.h"

namespace {

using shortcut::schedule::Collective;

template <std::size_t N>
void put(char (&to)[N], std::string_view text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

shortcut::collective::Communicator* state_of(MPI_Comm comm) {
  shortcut::collective::Runtime* runtime = shortcut::collective::Runtime::get();
  if (runtime == nullptr || comm == MPI_COMM_NULL) return nullptr;
  return shortcut::collective::Communicator::of(comm, *runtime);
}

bool uses(const shortcut::planner::Plan& plan, std::string_view algorithm) {
  if (algorithm == "auto" || plan.algorithm_name() == algorithm) return true;
  return plan.torus != nullptr &&
         std::any_of(plan.torus->parts.begin(), plan.torus->parts.end(),
                     [&](const auto& part) { return part.ring.algorithm_name() == algorithm; });
}

}  // namespace

int shortcut_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm) {
  return shortcut::collective::allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int shortcut_reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return shortcut::collective::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int shortcut_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return shortcut::collective::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op,
                                                    comm);
}

int shortcut_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return shortcut::collective::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         comm);
}

int shortcut_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                        MPI_Comm comm) {
  return shortcut::collective::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm);
}

int shortcut_query(const char* collective, double bytes, MPI_Comm comm, shortcut_choice* choice) {
  if (collective == nullptr || choice == nullptr) return MPI_ERR_ARG;
  const std::string_view name = collective;
  Collective kind = Collective::allreduce;
  if (name == "reduce_scatter") {
    kind = Collective::reduce_scatter;
  } else if (name == "allgather") {
    kind = Collective::allgather;
  } else if (name != "allreduce") {
    return MPI_ERR_ARG;
  }
  *choice = {};
  auto* state = state_of(comm);
  if (state == nullptr) {
    put(choice->algorithm, "native");
    put(choice->plan, "native");
    put(choice->reason, "the MPI library serves this communicator");
    return MPI_SUCCESS;
  }
  const auto chosen = state->choose(kind, shortcut::schedule::Operands::commutative, bytes);
  const shortcut::planner::Plan& plan = *chosen.plan;
  const std::string level =
      chosen.two_level ? "two-level, " + std::to_string(chosen.per_node) + " a node: " : "";
  put(choice->algorithm, plan.algorithm_name());
  put(choice->plan, level + shortcut::planner::describe(plan));
  put(choice->reason, level + shortcut::planner::reason(*chosen.table, plan, bytes));
  choice->as_asked = uses(plan, state->settings().algorithm) ? 1 : 0;
  choice->predicted_ns = chosen.predicted_ns;
  choice->reconfigurations = plan.reconfigurations;
  return MPI_SUCCESS;
}

double shortcut_time_ns(MPI_Comm comm) {
  auto* state = state_of(comm);
  return state == nullptr ? shortcut::fabric::wall_clock_ns() : state->backend().now_ns();
}

int shortcut_barrier(MPI_Comm comm) {
  auto* state = state_of(comm);
  if (state == nullptr) return PMPI_Barrier(comm);
  const double latest_ns = state->everyone().synchronise(state->backend().now_ns());
  if (state->backend().capabilities().virtual_time) {
    state->backend().finish_step(state->everyone(), latest_ns, 0);
  }
  return MPI_SUCCESS;
}

int shortcut_set(const char* setting, const char* value) {
  shortcut::collective::Runtime* runtime = shortcut::collective::Runtime::get();
  if (runtime == nullptr || setting == nullptr || value == nullptr) return MPI_ERR_ARG;
  const shortcut::Status taken = runtime->set(setting, value);
  if (taken.ok()) return MPI_SUCCESS;
  runtime->log(shortcut::config::Log::warn, std::string(setting) + ": " + taken.error().message);
  return MPI_ERR_ARG;
}
