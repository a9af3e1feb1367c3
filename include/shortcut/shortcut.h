/* Shortcut: MPI collectives that choose per call between algorithms and circuit states.
 *
 * C interface. Each function has the arguments, the meaning and the error codes of its MPI namesake
 * (MPI standard 3.1, chapter 5); a call that Shortcut cannot serve better is passed on to the MPI
 * library. MPI must be initialised. Thread-safe as far as MPI is: threads may call at once on
 * different communicators. Configuration: the SHORTCUT_* variables (`shortcut info --variables`).
 */
#ifndef SHORTCUT_SHORTCUT_H
#define SHORTCUT_SHORTCUT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHORTCUT_API __attribute__((visibility("default")))

SHORTCUT_API int shortcut_allreduce(const void* sendbuf, void* recvbuf, int count,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
SHORTCUT_API int shortcut_reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
SHORTCUT_API int shortcut_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
SHORTCUT_API int shortcut_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm);
SHORTCUT_API int shortcut_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, const int recvcounts[], const int displs[],
                                     MPI_Datatype recvtype, MPI_Comm comm);

/* What Shortcut does with a collective of this size on this communicator. */
typedef struct {
  char algorithm[48];   /* registry name, or "native" */
  char plan[512];       /* with thresholds or circuit states, as the report prints it */
  double predicted_ns;  /* by the cost model */
  int reconfigurations; /* of the switched ports */
  int as_asked;         /* 1: by the algorithm that the settings ask for, on a torus in at least one
                           dimension; 0: by another; with "auto" 1 */
  char reason[1024];    /* one line */
} shortcut_choice;

/* `collective`: "allreduce", "reduce_scatter" or "allgather"; `bytes`: size of the whole vector.
 * Collective over `comm` when it is the first use of that communicator. Returns MPI_SUCCESS, or
 * MPI_ERR_ARG for another name or null pointers. */
SHORTCUT_API int shortcut_query(const char* collective, double bytes, MPI_Comm comm,
                                shortcut_choice* choice);

/* This rank's time in ns on the fabric's clock (virtual time under SHORTCUT_FABRIC=virtual, else
 * the wall clock), for `comm`. Collective on first use. */
SHORTCUT_API double shortcut_time_ns(MPI_Comm comm);

/* Waits for all ranks of `comm` off the fabric and, under virtual time, sets their clocks to the
 * latest of them: what is timed next starts together. Collective. */
SHORTCUT_API int shortcut_barrier(MPI_Comm comm);

/* Sets one setting (a name of `shortcut info --variables`, in lower case without SHORTCUT_) for
 * communicators that are used for the first time afterwards; every rank must set the same. Not
 * while another thread is in a collective. Returns MPI_SUCCESS, or MPI_ERR_ARG when there is no
 * such setting or the value is not allowed (rank 0 says why), or MPI is not up. */
SHORTCUT_API int shortcut_set(const char* setting, const char* value);

#ifdef __cplusplus
}
#endif
#endif
