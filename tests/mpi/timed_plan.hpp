// Runs one plan on real data under virtual time and checks both: shared by the exact-time tests.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "collective/communicator.hpp"
#include "collective/executor.hpp"

namespace shortcut::tests {

inline int failures = 0;
inline int checks = 0;

inline void expect(bool ok, const std::string& what) {
  ++checks;
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

/// Runs `plan` from the circuits that it starts from (the caller has set them) on a vector of
/// `elements` doubles, and checks data and time: to 1 ns, or where `bound`, that it takes no longer
/// than predicted.
inline void run_plan(collective::Communicator& comm, const planner::Plan& plan,
                     std::size_t elements, bool bound, const std::string& what) {
  using schedule::Collective;
  const Collective kind = plan.schedule().collective;
  const auto& owners = plan.schedule().block_owner;
  const std::size_t bytes = elements * sizeof(double);
  const int n = comm.ranks();

  std::vector<double> data(elements);
  collective::BlockedVector vector;
  collective::TypeInfo::query(MPI_DOUBLE, vector.type);
  vector.base = data.data();
  cut_evenly(elements, plan.schedule().blocks, vector);
  std::vector<int> owner_of(elements, -1);
  for (std::size_t block = 0; block < owners.size(); ++block) {
    for (std::size_t i = vector.first_element[block]; i < vector.end_element[block]; ++i) {
      owner_of[i] = owners[block];
    }
  }
  const auto value = [](std::size_t i) { return static_cast<double>((i * 3 + 5) % 17); };
  const bool gathers = kind == Collective::allgather;
  for (std::size_t i = 0; i < elements; ++i) {
    data[i] = gathers ? (owner_of[i] == comm.rank() ? value(i) : -1) : value(i) + comm.rank();
  }
  // Start together.
  comm.backend().finish_step(comm.everyone(), comm.everyone().synchronise(comm.backend().now_ns()),
                             0);
  const double start_ns = comm.backend().now_ns();
  const int code = execute(comm, plan, vector, {MPI_SUM, false});
  const double own_ns = comm.backend().now_ns() - start_ns;
  double measured_ns = 0;
  PMPI_Allreduce(&own_ns, &measured_ns, 1, MPI_DOUBLE, MPI_MAX, comm.traffic());
  comm.forget(plan);

  const std::string name = describe(plan) + " " + std::string(to_string(kind)) +
                           " n=" + std::to_string(n) + " bytes=" + std::to_string(bytes) + what;
  expect(code == MPI_SUCCESS, name + ": runs");
  const double predicted_ns = plan.predicted_ns(static_cast<double>(bytes));
  const double gap_ns = predicted_ns - measured_ns;
  expect(bound ? gap_ns >= -1.0 : std::abs(gap_ns) <= 1.0,
         name + ": measured " + std::to_string(measured_ns) + " ns, predicted " +
             std::to_string(predicted_ns) + " ns");
  bool right = true;
  for (std::size_t i = 0; i < elements; ++i) {
    const double want = gathers ? value(i) : value(i) * n + n * (n - 1) / 2.0;
    const bool mine = kind != Collective::reduce_scatter || owner_of[i] == comm.rank();
    if (mine && data[i] != want) right = false;
  }
  expect(right, name + ": data");
}

/// Folded ranks have blocks of two sizes, so no path through all steps need have the largest each
/// time: the prediction, a sum of maxima, is then an upper bound.
inline bool folds(std::string_view algorithm, int ranks) {
  return algorithm.starts_with("recursive_doubling") && !topology::is_power_of_two(ranks);
}

/// Prints the counts; the exit code of the test.
inline int finish(const collective::Communicator& comm) {
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (comm.rank() == 0) std::printf("%d checks on rank 0, %d failures on all ranks\n", checks, all);
  MPI_Finalize();
  return all == 0 && checks > 0 ? 0 : 1;
}

}  // namespace shortcut::tests
