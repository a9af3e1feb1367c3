/* Another PMPI tool: counts MPI_Allreduce and says so at MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++calls;
  return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("tool saw %d\n", calls);
  fflush(stdout);
  return PMPI_Finalize();
}
