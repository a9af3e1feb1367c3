// The MPI symbols that a C or C++ program (or MPICH's Fortran bindings) reaches when this library
// is preloaded or linked before MPI. Thin: everything is in collective/.
#include <mpi.h>

#include "collective/census.hpp"
#include "collective/collectives.hpp"
#include "collective/communicator.hpp"
#include "interpose/next_tool.hpp"

#define SHORTCUT_TYPED(function) extern "C" int shortcut_typed_##function

namespace collective = shortcut::collective;
namespace census = shortcut::collective::census;

using shortcut::interpose::next_of;

SHORTCUT_TYPED(Init)(int* argc, char*** argv) {
  census::announce();
  const int code = next_of("MPI_Init", &PMPI_Init)(argc, argv);
  if (code == MPI_SUCCESS) census::take();
  return code;
}

SHORTCUT_TYPED(Init_thread)(int* argc, char*** argv, int required, int* provided) {
  census::announce();
  const int code = next_of("MPI_Init_thread", &PMPI_Init_thread)(argc, argv, required, provided);
  if (code == MPI_SUCCESS) census::take();
  return code;
}

SHORTCUT_TYPED(Allreduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return collective::allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

SHORTCUT_TYPED(Reduce_scatter)
(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return collective::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

SHORTCUT_TYPED(Reduce_scatter_block)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return collective::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

SHORTCUT_TYPED(Allgather)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm) {
  return collective::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

SHORTCUT_TYPED(Allgatherv)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
 const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return collective::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                comm);
}

#if MPI_VERSION >= 4
SHORTCUT_TYPED(Comm_create_from_group)
(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* made) {
  const int code = next_of("MPI_Comm_create_from_group", &PMPI_Comm_create_from_group)(
      group, tag, info, handler, made);
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    collective::Communicator::leave_session(*made);
  }
  return code;
}

SHORTCUT_TYPED(Allreduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return collective::allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

SHORTCUT_TYPED(Reduce_scatter_c)
(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return collective::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

SHORTCUT_TYPED(Reduce_scatter_block_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
 MPI_Comm comm) {
  return collective::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

SHORTCUT_TYPED(Allgather_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return collective::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

SHORTCUT_TYPED(Allgatherv_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return collective::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                comm);
}
#endif
