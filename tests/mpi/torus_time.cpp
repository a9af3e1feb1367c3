// Virtual time on tori (SHORTCUT_DIMS): every algorithm asked for in each dimension, and the free
// choice, with one port and all of them, from the circuits that the plan before left: the measured
// time equals the prediction to 1 ns, and the data are right.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "mpi/timed_plan.hpp"

namespace {

using shortcut::collective::Communicator;
using shortcut::planner::Plan;
using shortcut::schedule::Collective;
using shortcut::schedule::Operands;
using shortcut::tests::expect;

int most_lanes = 1;
int rewired = 0;

void run_one(Communicator& comm, const Plan& plan, std::size_t scale) {
  bool bound = false;
  for (const auto& part : plan.torus->parts) {
    const int size = plan.torus->dims[static_cast<std::size_t>(part.dimension)];
    bound |= shortcut::tests::folds(part.ring.algorithm_name(), size);
  }
  // Equal blocks, so that no rank is ahead of the prediction.
  shortcut::tests::run_plan(comm, plan, static_cast<std::size_t>(plan.schedule().blocks) * scale,
                            bound,
                            " from " + shortcut::topology::to_string(plan.torus->start.front()));
  expect(comm.held() == plan.torus->end, describe(plan) + ": leaves the circuits as it says");
  most_lanes = std::max(most_lanes, plan.torus->lanes);
  rewired += plan.reconfigurations;
}

void run_all(Communicator& comm, shortcut::planner::Options options) {
  shortcut::planner::TorusSelector selector(options, comm.dims());
  for (const auto collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
    for (const std::size_t scale : {std::size_t{1}, std::size_t{64}, std::size_t{512}}) {
      const double bytes = static_cast<double>(scale * sizeof(double)) * comm.ranks();
      run_one(comm, selector.plan(collective, Operands::exact, comm.held(), bytes), scale);
      for (const Plan& plan :
           selector.alternatives(collective, Operands::exact, comm.held(), bytes)) {
        // Another has changed the circuits in between: go back to where this one starts.
        for (std::size_t k = 0; k < comm.held().size(); ++k) {
          comm.hold(static_cast<int>(k), plan.torus->start[k]);
        }
        run_one(comm, plan, scale);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  setenv("SHORTCUT_FABRIC", "virtual", 1);
  auto* runtime = shortcut::collective::Runtime::get();
  Communicator* comm = Communicator::of(MPI_COMM_WORLD, *runtime);
  if (comm == nullptr || comm->dims().size() < 2) MPI_Abort(MPI_COMM_WORLD, 1);
  for (const bool all_ports : {false, true}) {
    auto options = comm->options();
    options.all_ports = all_ports;
    run_all(*comm, options);
    for (const auto& row : shortcut::schedule::algorithms()) {
      if (row.all_ports_only && !all_ports) continue;
      options.algorithm = row.name;
      run_all(*comm, options);
    }
  }
  expect(most_lanes == static_cast<int>(comm->dims().size()), "lanes in all dimensions were run");
  const int longest = *std::max_element(comm->dims().begin(), comm->dims().end());
  if (longest >= 4 && comm->parameters().delta_ns < 1000) expect(rewired > 0, "circuits change");
  return shortcut::tests::finish(*comm);
}
