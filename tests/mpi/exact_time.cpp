// Virtual time: on every algorithm, every threshold and three sizes, and on optimal plans for
// several delays and starting states, the measured time of a collective equals the prediction to 1
// ns, and the data are right.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "collective/collectives.hpp"
#include "collective/communicator.hpp"
#include "collective/executor.hpp"

namespace {

using shortcut::collective::BlockedVector;
using shortcut::collective::Communicator;
using shortcut::schedule::Collective;
using shortcut::topology::CircuitState;

int failures = 0;
int checks = 0;

void expect(bool ok, const std::string& what) {
  ++checks;
  if (!ok) {
    ++failures;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  }
}

bool plan_at_once(const shortcut::planner::Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const auto& step) { return step.at_once; });
}

/// Runs one candidate on a vector of `elements` doubles and checks data and time.
void run_one(Communicator& comm, const shortcut::planner::Options& options,
             const shortcut::planner::Candidate& candidate, CircuitState start,
             std::size_t elements) {
  const Collective collective = candidate.routed->collective();
  const auto plan = expand(options, candidate, start);
  const std::size_t bytes = elements * sizeof(double);
  const auto& owners = plan.schedule().block_owner;
  const int n = comm.ranks();

  std::vector<double> data(elements);
  BlockedVector vector;
  shortcut::collective::TypeInfo::query(MPI_DOUBLE, vector.type);
  vector.base = data.data();
  cut_evenly(elements, plan.schedule().blocks, vector);
  const auto owner_of = [&](std::size_t i) {
    std::size_t block = 0;
    while (vector.end_element[block] <= i) ++block;
    return owners[block];
  };
  const bool gathers = collective == Collective::allgather;
  for (std::size_t i = 0; i < elements; ++i) {
    const double value = static_cast<double>((i * 3 + 5) % 17);
    data[i] = gathers ? (owner_of(i) == comm.rank() ? value : -1) : value + comm.rank();
  }
  // Start together.
  comm.hold(0, start);
  comm.backend().finish_step(comm.everyone(), comm.everyone().synchronise(comm.backend().now_ns()),
                             0);
  const double start_ns = comm.backend().now_ns();
  const int code = execute(comm, plan, vector, {MPI_SUM, false});
  const double own_ns = comm.backend().now_ns() - start_ns;
  double measured_ns = 0;
  PMPI_Allreduce(&own_ns, &measured_ns, 1, MPI_DOUBLE, MPI_MAX, comm.traffic());
  comm.forget(plan);

  const std::string what = describe(plan) + " " + std::string(to_string(collective)) +
                           " n=" + std::to_string(n) + " from " + to_string(start) +
                           (plan_at_once(plan) ? " at once" : "") +
                           " bytes=" + std::to_string(bytes);
  expect(code == MPI_SUCCESS, what + ": runs");
  const double predicted_ns = plan.predicted_ns(static_cast<double>(bytes));
  // Folded ranks have blocks of two sizes, so no path through all steps need have the largest each
  // time: the prediction, a sum of maxima, is then an upper bound.
  const bool folded = candidate.routed->algorithm().name.starts_with("recursive_doubling") &&
                      !shortcut::topology::is_power_of_two(n);
  const double gap_ns = predicted_ns - measured_ns;
  expect(folded ? gap_ns >= -1.0 : std::abs(gap_ns) <= 1.0,
         what + ": measured " + std::to_string(measured_ns) + " ns, predicted " +
             std::to_string(predicted_ns) + " ns");
  bool right = true;
  for (std::size_t i = 0; i < elements; ++i) {
    const double value = static_cast<double>((i * 3 + 5) % 17);
    const double want = gathers ? value : value * n + n * (n - 1) / 2.0;
    const bool mine = collective != Collective::reduce_scatter || owner_of(i) == comm.rank();
    if (mine && data[i] != want) right = false;
  }
  expect(right, what + ": data");
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
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (comm->rank() == 0)
    std::printf("%d checks on rank 0, %d failures on all ranks\n", checks, all);
  MPI_Finalize();
  return all == 0 && checks > 0 ? 0 : 1;
}
