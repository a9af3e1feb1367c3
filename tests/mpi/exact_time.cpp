// Virtual time: on every algorithm, every threshold and three sizes, and on optimal plans for
// several delays and starting states, the measured time of a collective equals the prediction to 1
// ns, and the data are right.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "mpi/timed_plan.hpp"

namespace {

using shortcut::collective::Communicator;
using shortcut::schedule::Collective;
using shortcut::tests::expect;
using shortcut::topology::CircuitState;

bool plan_at_once(const shortcut::planner::Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const auto& step) { return step.at_once; });
}

/// Runs one candidate on a vector of `elements` doubles and checks data and time.
void run_one(Communicator& comm, const shortcut::planner::Options& options,
             const shortcut::planner::Candidate& candidate, CircuitState start,
             std::size_t elements) {
  const auto plan = expand(options, candidate, start);
  comm.hold(0, start);
  shortcut::tests::run_plan(
      comm, plan, elements,
      shortcut::tests::folds(candidate.routed->algorithm().name, comm.ranks()),
      " from " + to_string(start) + (plan_at_once(plan) ? " at once" : ""));
}

/// Optimal plans: those for other delays too, priced at this communicator's.
void run_optimal(Communicator& comm, const shortcut::planner::RoutedSchedule& routed,
                 std::size_t elements) {
  const auto options = comm.options();
  for (const double delta_ns : {0.0, 300.0, 2000.0, 10'000.0}) {
    auto planned = options;
    planned.fabric.delta_ns = delta_ns;
    const shortcut::planner::StateSearch search(planned, routed);
    for (const CircuitState start : {CircuitState::ring(), search.states().back()}) {
      const auto found = search.at(static_cast<double>(elements * sizeof(double)), start);
      const auto candidate = price(options, routed, found.states, start);
      expect(candidate.has_value(), "an optimal plan can run");
      if (candidate) run_one(comm, options, *candidate, start, elements);
    }
  }
}

/// Every threshold of one algorithm, three sizes each, and optimal plans.
void run_all(Communicator& comm, const shortcut::planner::Options& options,
             const shortcut::schedule::Algorithm& row, Collective collective, bool all_ports) {
  const shortcut::planner::RoutedSchedule routed(
      row, collective, comm.ranks(), options.fabric.antipodal, options.fabric.base_ring, all_ports);
  // Equal blocks, so that no rank is ahead of the prediction.
  const std::size_t blocks =
      static_cast<std::size_t>(std::max(comm.ranks(), routed.schedule().blocks));
  for (const std::size_t scale : {std::size_t{1}, std::size_t{512}}) {
    run_optimal(comm, routed, blocks * scale);
  }
  const bool joint = collective == Collective::allreduce;
  for (int t = 0; t <= routed.levels(); ++t) {
    for (int g = 0; g <= routed.levels(); ++g) {
      if (!joint && g != t) continue;
      if (g != t && g != (t + 1) % (routed.levels() + 1)) continue;  // two T' per T
      for (const std::size_t scale : {std::size_t{1}, std::size_t{64}, std::size_t{512}}) {
        const auto candidate = price(options, routed, t, g, CircuitState::ring());
        run_one(comm, options, candidate, CircuitState::ring(), blocks * scale);
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
  if (comm == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
  const auto options = comm->options();
  for (const auto& row : shortcut::schedule::algorithms()) {
    for (const auto collective :
         {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
      if (!row.cannot(collective, comm->ranks(), true).empty()) continue;
      for (const bool all_ports : {false, true}) {
        if (row.all_ports_only && !all_ports) continue;
        run_all(*comm, options, row, collective, all_ports);
      }
    }
  }
  return shortcut::tests::finish(*comm);
}
