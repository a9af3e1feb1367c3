// Under `modeled` a call takes at least reconfigurations x delta x scale of wall time.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "shortcut/shortcut.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr double kDelta = 5e6;  // 5 ms: SHORTCUT_DELTA of this test
  constexpr double kScale = 2;    // SHORTCUT_TIME_SCALE
  std::vector<int> data(1024, 1);
  int failures = 0;
  int reconfigurations = 0;
  for (int call = 0; call < 3; ++call) {
    shortcut_choice choice;
    shortcut_query("allreduce", 4096, MPI_COMM_WORLD, &choice);
    std::vector<int> sum(1024, -1);
    const double start_s = MPI_Wtime();
    shortcut_allreduce(data.data(), sum.data(), 1024, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const double took_ns = (MPI_Wtime() - start_s) * 1e9;
    reconfigurations += choice.reconfigurations;
    const double least_ns = choice.reconfigurations * kDelta * kScale;
    if (took_ns < least_ns) {
      ++failures;
      std::fprintf(stderr, "FAILED: call %d took %.0f ns, at least %.0f expected (%s)\n", call,
                   took_ns, least_ns, choice.plan);
    }
    for (const int value : sum) {
      if (value != ranks) ++failures;
    }
  }
  if (reconfigurations == 0) ++failures;  // the test must rewire to mean anything
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d reconfigurations, %d failures\n", reconfigurations, all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
