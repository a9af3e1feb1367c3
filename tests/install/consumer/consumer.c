/* Calls the API by name. */
#include <mpi.h>
#include <shortcut/shortcut.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, sum = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  shortcut_allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(sum == ranks * (ranks - 1) / 2 ? "OK\n" : "WRONG\n");
  MPI_Finalize();
  return 0;
}
