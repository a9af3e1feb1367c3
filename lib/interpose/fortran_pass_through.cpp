// Open MPI's Fortran nonblocking collectives: counted, then handed to its own PMPI functions with
// the arguments as they are (all are addresses).
#include <mpi.h>

#ifdef OPEN_MPI

#include "collective/runtime.hpp"
#include "report/report.hpp"

#define SHORTCUT_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void count(const char* name) {
  if (shortcut::collective::Runtime::get() != nullptr) {
    shortcut::report::record_native(name, "nonblocking");
  }
}

}  // namespace

// The PMPI functions live in libmpi_mpifh, which is there whenever a Fortran program calls these.
#define SHORTCUT_FORTRAN_PASS(lower, UPPER, parameters, arguments)                           \
  extern "C" void pmpi_##lower##_ parameters __attribute__((weak));                          \
  SHORTCUT_EXPORT void mpi_##lower##_ parameters {                                           \
    count(#lower);                                                                           \
    pmpi_##lower##_ arguments;                                                               \
  }                                                                                          \
  SHORTCUT_EXPORT void mpi_##lower parameters __attribute__((alias("mpi_" #lower "_")));     \
  SHORTCUT_EXPORT void mpi_##lower##__ parameters __attribute__((alias("mpi_" #lower "_"))); \
  SHORTCUT_EXPORT void MPI_##UPPER parameters __attribute__((alias("mpi_" #lower "_")));     \
  SHORTCUT_EXPORT void ompi_##lower##_f parameters __attribute__((alias("mpi_" #lower "_")));

#define SHORTCUT_EIGHT (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h)
SHORTCUT_FORTRAN_PASS(iallreduce, IALLREDUCE, SHORTCUT_EIGHT, (a, b, c, d, e, f, g, h))
SHORTCUT_FORTRAN_PASS(ireduce_scatter, IREDUCE_SCATTER, SHORTCUT_EIGHT, (a, b, c, d, e, f, g, h))
SHORTCUT_FORTRAN_PASS(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, SHORTCUT_EIGHT,
                      (a, b, c, d, e, f, g, h))
SHORTCUT_FORTRAN_PASS(iallgather, IALLGATHER,
                      (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h,
                       void* i),
                      (a, b, c, d, e, f, g, h, i))
SHORTCUT_FORTRAN_PASS(iallgatherv, IALLGATHERV,
                      (void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h,
                       void* i, void* j),
                      (a, b, c, d, e, f, g, h, i, j))

#endif  // OPEN_MPI
