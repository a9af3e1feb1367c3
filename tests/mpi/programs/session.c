/* A communicator from a session, used while the ranks are at different places of MPI_Init and
   MPI_Finalize; prints OK.
   session init: rank 0 is past MPI_Init | finalize: rank 0 is past MPI_Finalize | alone: only rank
   0 ever calls MPI_Init */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank = 0, ranks = 0, sum = -1, right = 1;
  const int initial = strcmp(argv[1], "init") == 0, final = strcmp(argv[1], "finalize") == 0;
  (void)argc;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "shortcut", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank == 0 || final) MPI_Init(NULL, NULL);
  if (rank == 0 && final) MPI_Finalize();
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    right &= sum == ranks * (ranks - 1) / 2;
  }
  if (rank != 0 && initial) MPI_Init(NULL, NULL);
  if (rank == 0 ? !final : initial || final) MPI_Finalize();
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  if (rank == 0) printf(right ? "OK\n" : "WRONG\n");
  return !right;
}
