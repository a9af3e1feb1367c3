/* Ten AllReduce that Shortcut serves and five that it passes on (one rank); prints OK. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 10; ++i) {
    int value = rank + i, sum = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks - 1) / 2 + ranks * i) right = 0;
  }
  for (int i = 0; i < 5; ++i) {
    int alone = 7;
    MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  }
  if (rank == 0) printf(right ? "OK\n" : "WRONG\n");
  MPI_Finalize();
  return !right;
}
