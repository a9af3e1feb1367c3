// Nonblocking and persistent collectives go to the MPI library unchanged; we only count them, so
// that the report shows what a program does that we do not serve.
#include <mpi.h>

#include "collective/next.hpp"
#include "collective/runtime.hpp"
#include "report/report.hpp"

namespace {

using shortcut::collective::next;

void count(const char* name, const char* reason) {
  if (shortcut::collective::Runtime::get() != nullptr)
    shortcut::report::record_native(name, reason);
}

}  // namespace

// SHORTCUT_PASS(name, report name, why, parameters, arguments)
#define SHORTCUT_PASS(function, name, reason, parameters, arguments) \
  extern "C" int shortcut_typed_##function parameters {              \
    count(name, reason);                                             \
    return SHORTCUT_NEXT(function) arguments;                        \
  }

SHORTCUT_PASS(Iallreduce, "iallreduce", "nonblocking",
              (const void* sendbuf, void* recvbuf, int n, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Request* request),
              (sendbuf, recvbuf, n, type, op, comm, request))
SHORTCUT_PASS(Ireduce_scatter, "ireduce_scatter", "nonblocking",
              (const void* sendbuf, void* recvbuf, const int counts[], MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Request* request),
              (sendbuf, recvbuf, counts, type, op, comm, request))
SHORTCUT_PASS(Ireduce_scatter_block, "ireduce_scatter_block", "nonblocking",
              (const void* sendbuf, void* recvbuf, int n, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Request* request),
              (sendbuf, recvbuf, n, type, op, comm, request))
SHORTCUT_PASS(Iallgather, "iallgather", "nonblocking",
              (const void* sendbuf, int n, MPI_Datatype sendtype, void* recvbuf, int m,
               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
              (sendbuf, n, sendtype, recvbuf, m, recvtype, comm, request))
SHORTCUT_PASS(Iallgatherv, "iallgatherv", "nonblocking",
              (const void* sendbuf, int n, MPI_Datatype sendtype, void* recvbuf, const int counts[],
               const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
              (sendbuf, n, sendtype, recvbuf, counts, displs, recvtype, comm, request))

#if MPI_VERSION >= 4
SHORTCUT_PASS(Allreduce_init, "allreduce_init", "persistent",
              (const void* sendbuf, void* recvbuf, int n, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Info info, MPI_Request* request),
              (sendbuf, recvbuf, n, type, op, comm, info, request))
SHORTCUT_PASS(Reduce_scatter_init, "reduce_scatter_init", "persistent",
              (const void* sendbuf, void* recvbuf, const int counts[], MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Info info, MPI_Request* request),
              (sendbuf, recvbuf, counts, type, op, comm, info, request))
SHORTCUT_PASS(Reduce_scatter_block_init, "reduce_scatter_block_init", "persistent",
              (const void* sendbuf, void* recvbuf, int n, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Info info, MPI_Request* request),
              (sendbuf, recvbuf, n, type, op, comm, info, request))
SHORTCUT_PASS(Allgather_init, "allgather_init", "persistent",
              (const void* sendbuf, int n, MPI_Datatype sendtype, void* recvbuf, int m,
               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request),
              (sendbuf, n, sendtype, recvbuf, m, recvtype, comm, info, request))
SHORTCUT_PASS(Allgatherv_init, "allgatherv_init", "persistent",
              (const void* sendbuf, int n, MPI_Datatype sendtype, void* recvbuf, const int counts[],
               const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
               MPI_Request* request),
              (sendbuf, n, sendtype, recvbuf, counts, displs, recvtype, comm, info, request))
#endif
