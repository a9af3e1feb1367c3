/* Starts two children of the given program, or none and is one of them, and reduces over parents
   and children together, then over the parents alone.  spawn PROGRAM [ARGUMENT...] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "sum_is_right.h"

int main(int argc, char** argv) {
  MPI_Comm parents = MPI_COMM_NULL, children = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  int rank = 0, right = 1, spawned;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parents);
  spawned = parents != MPI_COMM_NULL;
  if (!spawned) {
    right &= sum_is_right(MPI_COMM_WORLD);
    MPI_Comm_spawn(argv[1], argv + 2, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  } else {
    children = parents;
  }
  MPI_Intercomm_merge(children, spawned, &merged);
  right &= sum_is_right(merged);
  right &= sum_is_right(MPI_COMM_WORLD);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&children);
  if (rank == 0) printf("%s %s\n", spawned ? "children" : "parents", right ? "OK" : "WRONG");
  MPI_Finalize();
  return !right;
}
