/* Does an AllReduce of the ranks give what it must? */
#include <mpi.h>

static int sum_is_right(MPI_Comm comm) {
  int rank = 0, ranks = 0, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum == ranks * (ranks - 1) / 2;
}
