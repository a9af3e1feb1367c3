// Open MPI's Fortran bindings do not pass through the C symbols, so they are caught by their own
// names: mpi_X_ and its spellings for mpif.h and `use mpi`, mpi_X_f08_ and ompi_X_f for
// `use mpi_f08`. Handles are translated, and so are the addresses that mean MPI_IN_PLACE and
// MPI_BOTTOM in Fortran. MPICH's Fortran calls arrive through C, but for the start of MPI in
// `use mpi_f08`.
#include <mpi.h>

#include "collective/census.hpp"
#include "interpose/next_tool.hpp"

#define SHORTCUT_EXPORT extern "C" __attribute__((visibility("default")))

#ifdef OPEN_MPI

#include "collective/collectives.hpp"
#include "collective/identity.hpp"

// Open MPI's sentinels, in each spelling that its Fortran objects may carry.
extern "C" {
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_in_place __attribute__((weak));
extern int mpi_fortran_in_place__ __attribute__((weak));
extern int MPI_FORTRAN_IN_PLACE __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_bottom __attribute__((weak));
extern int mpi_fortran_bottom__ __attribute__((weak));
extern int MPI_FORTRAN_BOTTOM __attribute__((weak));
}

namespace {

namespace collective = shortcut::collective;
namespace census = shortcut::collective::census;
using shortcut::interpose::next_of;

/// A Fortran choice buffer as the C bindings want it.
void* buffer(void* address) {
  if (address == nullptr) return address;
  const void* const in_place[] = {&mpi_fortran_in_place_, &mpi_fortran_in_place,
                                  &mpi_fortran_in_place__, &MPI_FORTRAN_IN_PLACE};
  for (const void* sentinel : in_place) {
    if (address == sentinel) return MPI_IN_PLACE;
  }
  const void* const bottom[] = {&mpi_fortran_bottom_, &mpi_fortran_bottom, &mpi_fortran_bottom__,
                                &MPI_FORTRAN_BOTTOM};
  for (const void* sentinel : bottom) {
    if (address == sentinel) return MPI_BOTTOM;
  }
  return address;
}

void answer(MPI_Fint* ierr, int code) {
  if (ierr != nullptr) *ierr = static_cast<MPI_Fint>(code);  // optional in mpi_f08
}

}  // namespace

// Under another MPI than Open MPI the call goes on as it came, to that MPI's own PMPI function.
//
// MPI_Fint is int in every build of Open MPI that we accept, so arrays of counts pass as they are.
static_assert(sizeof(MPI_Fint) == sizeof(int));

extern "C" void pmpi_allreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* type,
                                MPI_Fint* op, MPI_Fint* comm, MPI_Fint* ierr) __attribute__((weak));
SHORTCUT_EXPORT void mpi_allreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* type,
                                    MPI_Fint* op, MPI_Fint* comm, MPI_Fint* ierr) {
  if (!collective::running_mpi_is_ours())
    return pmpi_allreduce_(sendbuf, recvbuf, count, type, op, comm, ierr);
  answer(ierr, collective::allreduce(buffer(sendbuf), buffer(recvbuf), *count, PMPI_Type_f2c(*type),
                                     PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

extern "C" void pmpi_reduce_scatter_(void* sendbuf, void* recvbuf, MPI_Fint* counts, MPI_Fint* type,
                                     MPI_Fint* op, MPI_Fint* comm, MPI_Fint* ierr)
    __attribute__((weak));
SHORTCUT_EXPORT void mpi_reduce_scatter_(void* sendbuf, void* recvbuf, MPI_Fint* counts,
                                         MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm,
                                         MPI_Fint* ierr) {
  if (!collective::running_mpi_is_ours())
    return pmpi_reduce_scatter_(sendbuf, recvbuf, counts, type, op, comm, ierr);
  answer(ierr,
         collective::reduce_scatter(buffer(sendbuf), buffer(recvbuf), counts, PMPI_Type_f2c(*type),
                                    PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

extern "C" void pmpi_reduce_scatter_block_(void* sendbuf, void* recvbuf, MPI_Fint* count,
                                           MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm,
                                           MPI_Fint* ierr) __attribute__((weak));
SHORTCUT_EXPORT void mpi_reduce_scatter_block_(void* sendbuf, void* recvbuf, MPI_Fint* count,
                                               MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm,
                                               MPI_Fint* ierr) {
  if (!collective::running_mpi_is_ours())
    return pmpi_reduce_scatter_block_(sendbuf, recvbuf, count, type, op, comm, ierr);
  answer(ierr, collective::reduce_scatter_block(buffer(sendbuf), buffer(recvbuf), *count,
                                                PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
                                                PMPI_Comm_f2c(*comm)));
}

extern "C" void pmpi_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                MPI_Fint* comm, MPI_Fint* ierr) __attribute__((weak));
SHORTCUT_EXPORT void mpi_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                    void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                    MPI_Fint* comm, MPI_Fint* ierr) {
  if (!collective::running_mpi_is_ours())
    return pmpi_allgather_(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierr);
  answer(ierr, collective::allgather(buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype),
                                     buffer(recvbuf), *recvcount, PMPI_Type_f2c(*recvtype),
                                     PMPI_Comm_f2c(*comm)));
}

extern "C" void pmpi_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                 void* recvbuf, MPI_Fint* counts, MPI_Fint* displs,
                                 MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierr)
    __attribute__((weak));
SHORTCUT_EXPORT void mpi_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                     void* recvbuf, MPI_Fint* counts, MPI_Fint* displs,
                                     MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierr) {
  if (!collective::running_mpi_is_ours())
    return pmpi_allgatherv_(sendbuf, sendcount, sendtype, recvbuf, counts, displs, recvtype, comm,
                            ierr);
  answer(ierr, collective::allgatherv(buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype),
                                      buffer(recvbuf), counts, displs, PMPI_Type_f2c(*recvtype),
                                      PMPI_Comm_f2c(*comm)));
}

extern "C" void pmpi_init_(MPI_Fint* ierr) __attribute__((weak));
SHORTCUT_EXPORT void mpi_init_(MPI_Fint* ierr) {
  census::announce();
  next_of("mpi_init_", &pmpi_init_)(ierr);
  census::take();
}

extern "C" void pmpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierr)
    __attribute__((weak));
SHORTCUT_EXPORT void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierr) {
  census::announce();
  next_of("mpi_init_thread_", &pmpi_init_thread_)(required, provided, ierr);
  census::take();
}

// The other spellings are the same functions. ompi_X_f is what Open MPI's own mpi_f08 module calls.
#define SHORTCUT_SPELLINGS(lower, UPPER, parameters)                                         \
  SHORTCUT_EXPORT void mpi_##lower parameters __attribute__((alias("mpi_" #lower "_")));     \
  SHORTCUT_EXPORT void mpi_##lower##__ parameters __attribute__((alias("mpi_" #lower "_"))); \
  SHORTCUT_EXPORT void MPI_##UPPER parameters __attribute__((alias("mpi_" #lower "_")));     \
  SHORTCUT_EXPORT void ompi_##lower##_f parameters __attribute__((alias("mpi_" #lower "_")));

SHORTCUT_SPELLINGS(init, INIT, (MPI_Fint*))
SHORTCUT_SPELLINGS(init_thread, INIT_THREAD, (MPI_Fint*, MPI_Fint*, MPI_Fint*))
SHORTCUT_SPELLINGS(allreduce, ALLREDUCE,
                   (void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
SHORTCUT_SPELLINGS(reduce_scatter, REDUCE_SCATTER,
                   (void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
SHORTCUT_SPELLINGS(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                   (void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
SHORTCUT_SPELLINGS(allgather, ALLGATHER,
                   (void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*))
SHORTCUT_SPELLINGS(allgatherv, ALLGATHERV,
                   (void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*))

#else

namespace census = shortcut::collective::census;

SHORTCUT_EXPORT void mpi_init_f08_(int* ierr) {
  census::announce();
  shortcut::interpose::next_of<void (*)(int*)>("mpi_init_f08_", nullptr)(ierr);
  census::take();
}

SHORTCUT_EXPORT void mpi_init_thread_f08_(int* required, int* provided, int* ierr) {
  census::announce();
  shortcut::interpose::next_of<void (*)(int*, int*, int*)>("mpi_init_thread_f08_", nullptr)(
      required, provided, ierr);
  census::take();
}

#endif  // OPEN_MPI
