// The headline case of docs/model.md, run: AllReduce of 32 kB on 128 ranks, 500 ns a step and a
// hop, 10 us to rewire. Virtual time must be the 34.0 us that the optimal planner predicts, against
// 254.6 for Ring; and the sums must be right.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "shortcut/shortcut.h"

int main(int argc, char** argv) {
  setenv("SHORTCUT_FABRIC", "virtual", 1);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int kElements = 4000;
  std::vector<double> in(kElements);
  std::vector<double> out(kElements, -1);
  for (int i = 0; i < kElements; ++i) in[static_cast<std::size_t>(i)] = rank + i % 17;

  shortcut_choice choice;
  shortcut_query("allreduce", kElements * sizeof(double), MPI_COMM_WORLD, &choice);
  shortcut_barrier(MPI_COMM_WORLD);
  const double start_ns = shortcut_time_ns(MPI_COMM_WORLD);
  const int code =
      shortcut_allreduce(in.data(), out.data(), kElements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double own_ns = shortcut_time_ns(MPI_COMM_WORLD) - start_ns;

  int wrong = code == MPI_SUCCESS ? 0 : 1;
  for (int i = 0; i < kElements; ++i) {
    const double want = ranks * (ranks - 1) / 2.0 + ranks * (i % 17);
    if (out[static_cast<std::size_t>(i)] != want) wrong = 1;
  }
  double measured_ns = 0;
  int any_wrong = 0;
  PMPI_Allreduce(&own_ns, &measured_ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  PMPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const bool as_planned = std::abs(measured_ns - 34'000) <= 1 &&
                          std::abs(choice.predicted_ns - 34'000) <= 1 &&
                          choice.reconfigurations == 1;
  if (rank == 0) {
    std::printf("%d ranks: %s\nmeasured %.1f ns, predicted %.1f ns, sums %s\n", ranks,
                choice.reason, measured_ns, choice.predicted_ns, any_wrong ? "wrong" : "right");
  }
  MPI_Finalize();
  return as_planned && !any_wrong ? 0 : 1;
}
