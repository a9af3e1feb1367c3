/* Sums 1e16 and 1 in turn over ranks, where the order of additions shows in the bits, and prints a
 * hash of each collective's bits on every rank's behalf (all ranks' hashes combined on rank 0). */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT 4800 /* divides by every rank count used */

static uint64_t hash(const double* values, int count) {
  uint64_t sum = 1469598103934665603u;
  for (int i = 0; i < count; ++i) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}

static double in[COUNT], out[COUNT];

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  uint64_t mine[3], all[3][64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < COUNT; ++i) {
    in[i] = (i + rank) % 3 == 0 ? 1e16 : (i * 7 + rank) % 5 == 0 ? -1e16 : 1.0 + rank;
  }
  MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  mine[0] = hash(out, COUNT);
  MPI_Allreduce(in, out, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  mine[1] = hash(out, 3);
  MPI_Reduce_scatter_block(in, out, COUNT / ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  mine[2] = hash(out, COUNT / ranks);
  for (int i = 0; i < 3; ++i) {
    PMPI_Gather(&mine[i], 1, MPI_UINT64_T, all[i], 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    int same = 1;
    uint64_t blocks = 0;
    for (int r = 0; r < ranks; ++r) {
      if (all[0][r] != all[0][0] || all[1][r] != all[1][0]) same = 0;
      blocks = blocks * 31 + all[2][r];
    }
    printf("same on all ranks: %s\n", same ? "yes" : "NO");
    printf("bits %016llx %016llx %016llx\n", (unsigned long long)all[0][0],
           (unsigned long long)all[1][0], (unsigned long long)blocks);
  }
  MPI_Finalize();
  return 0;
}
