/* Three MPI_Iallreduce, two MPI_Iallgather and, where the MPI has it, a persistent AllReduce
 * started twice; checks the results and prints OK. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, right = 1, persistent = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Request request;
  for (int i = 0; i < 3; ++i) {
    int value = rank + i, sum = -1;
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum != ranks * (ranks - 1) / 2 + ranks * i) right = 0;
  }
  for (int i = 0; i < 2; ++i) {
    int all[64];
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; ++r) right = right && all[r] == r;
  }
#if MPI_VERSION >= 4
  int value = 0, sum = 0;
  MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 1; i <= 2; ++i) {
    value = i;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right = right && sum == ranks * i;
  }
  MPI_Request_free(&request);
  persistent = 1;
#endif
  if (rank == 0) printf("%s persistent %d\n", right ? "OK" : "WRONG", persistent);
  MPI_Finalize();
  return !right;
}
