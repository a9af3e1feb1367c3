/* Reduces, leaves in FILE whether the sums were right, and ends without MPI_Finalize.
   ending exit|abort FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, wrong = 0, wrong_anywhere = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 10; ++i) {
    int value = rank + i, sum = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * i;
  }
  PMPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    /* Not on standard output: a launcher may drop what it had not passed on yet. */
    FILE* file = fopen(argv[2], "w");
    if (!file || fprintf(file, "%d wrong\n", wrong_anywhere) < 0 || fclose(file) != 0) return 3;
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  exit(0);
}
