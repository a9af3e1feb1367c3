// Bad arguments: the same error class with Shortcut (MPI_) as without (PMPI_), returned under
// MPI_ERRORS_RETURN and handed to the program's own error handler, on the communicator it used.
// Every rank makes the same mistake, so that nobody waits.
#include <functional>
#include <vector>

#include "mpi/matrix/report.hpp"

namespace {

matrix::Tally tally;
int handled = 0;
int handled_class = MPI_SUCCESS;
MPI_Comm handled_comm = MPI_COMM_NULL;

void on_error(MPI_Comm* comm, int* code, ...) {
  ++handled;
  handled_comm = *comm;
  MPI_Error_class(*code, &handled_class);
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

using Call = std::function<int(bool, MPI_Comm)>;

[[maybe_unused]] void same(const char* what, MPI_Comm returns, MPI_Comm handles, const Call& call) {
  const int want = class_of(call(false, returns));
  const int got = class_of(call(true, returns));
  tally.check(want == got, std::string(what) + ": class " + std::to_string(got) + ", without " +
                               std::to_string(want));
  handled = 0;
  call(false, handles);
  const int want_calls = handled;
  const int want_class = handled_class;
  const bool want_comm = handled_comm == handles;
  handled = 0;
  call(true, handles);
  tally.check(handled == want_calls && (handled == 0 || handled_class == want_class) &&
                  (handled == 0 || (handled_comm == handles) == want_comm),
              std::string(what) + ": the handler saw " + std::to_string(handled) +
                  " calls, class " + std::to_string(handled_class) + "; without " +
                  std::to_string(want_calls) + ", class " + std::to_string(want_class));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm returns = MPI_COMM_NULL;
  MPI_Comm handles = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &returns);
  MPI_Comm_dup(MPI_COMM_WORLD, &handles);
  MPI_Comm_set_errhandler(returns, MPI_ERRORS_RETURN);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(handles, handler);
  // Some errors an MPI library raises on the world; those must not come from elsewhere either.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);

  std::vector<int> in(64, 1);
  std::vector<int> out(64 * static_cast<std::size_t>(ranks), 2);
  std::vector<int> counts(static_cast<std::size_t>(ranks), 1);
  std::vector<int> displs(static_cast<std::size_t>(ranks), 0);
  for (int r = 0; r < ranks; ++r) displs[static_cast<std::size_t>(r)] = r;
  std::vector<int> negative = counts;
  negative.back() = -1;
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Datatype derived = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  int* const i = in.data();
  int* const o = out.data();

  // Warm: the communicators are ours before anything goes wrong.
  MPI_Allreduce(i, o, 1, MPI_INT, MPI_SUM, returns);
  MPI_Allreduce(i, o, 1, MPI_INT, MPI_SUM, handles);

#ifdef MPICH_VERSION
  // Debian builds MPICH without argument checks: PMPI_Allreduce itself crashes on a count of -1, so
  // there is no class to compare with. What is left is that errors of ours reach the handler.
  std::printf("no argument checks in this MPI: classes are not compared\n");
#else
#define SAME(WHAT, FUNCTION, ...)                                                         \
  same(WHAT, returns, handles, [&](bool ours, MPI_Comm comm) {                            \
    return ours ? MPI_##FUNCTION(__VA_ARGS__, comm) : PMPI_##FUNCTION(__VA_ARGS__, comm); \
  })
  SAME("allreduce, negative count", Allreduce, i, o, -1, MPI_INT, MPI_SUM);
  SAME("allreduce, no type", Allreduce, i, o, 1, MPI_DATATYPE_NULL, MPI_SUM);
  SAME("allreduce, uncommitted type", Allreduce, i, o, 1, uncommitted, MPI_SUM);
  SAME("allreduce, no operation", Allreduce, i, o, 1, MPI_INT, MPI_OP_NULL);
  SAME("allreduce, MPI_REPLACE", Allreduce, i, o, 1, MPI_INT, MPI_REPLACE);
  SAME("allreduce, sum of bytes", Allreduce, i, o, 4, MPI_BYTE, MPI_SUM);
  SAME("allreduce, and of doubles", Allreduce, i, o, 4, MPI_DOUBLE, MPI_LAND);
  SAME("allreduce, bits of floats", Allreduce, i, o, 4, MPI_FLOAT, MPI_BXOR);
  SAME("allreduce, maximum of complex", Allreduce, i, o, 2, MPI_C_DOUBLE_COMPLEX, MPI_MAX);
  SAME("allreduce, maxloc of int", Allreduce, i, o, 4, MPI_INT, MPI_MAXLOC);
  SAME("allreduce, sum of pairs", Allreduce, i, o, 4, MPI_2INT, MPI_SUM);
  SAME("allreduce, sum of a derived type", Allreduce, i, o, 4, derived, MPI_SUM);
  SAME("allreduce, in place as receive buffer", Allreduce, i, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM);
  SAME("reduce_scatter, negative count", Reduce_scatter, i, o, negative.data(), MPI_INT, MPI_SUM);
  SAME("reduce_scatter, no type", Reduce_scatter, i, o, counts.data(), MPI_DATATYPE_NULL, MPI_SUM);
  SAME("reduce_scatter, no operation", Reduce_scatter, i, o, counts.data(), MPI_INT, MPI_OP_NULL);
  SAME("reduce_scatter, sum of bytes", Reduce_scatter, i, o, counts.data(), MPI_BYTE, MPI_SUM);
  SAME("reduce_scatter_block, negative count", Reduce_scatter_block, i, o, -1, MPI_INT, MPI_SUM);
  SAME("reduce_scatter_block, sum of a derived type", Reduce_scatter_block, i, o, 1, derived,
       MPI_SUM);
  SAME("allgather, negative send count", Allgather, i, -1, MPI_INT, o, 1, MPI_INT);
  SAME("allgather, negative receive count", Allgather, i, 1, MPI_INT, o, -1, MPI_INT);
  SAME("allgather, no send type", Allgather, i, 1, MPI_DATATYPE_NULL, o, 1, MPI_INT);
  SAME("allgather, no receive type", Allgather, i, 1, MPI_INT, o, 1, MPI_DATATYPE_NULL);
  SAME("allgather, uncommitted send type", Allgather, i, 1, uncommitted, o, 2, MPI_INT);
  // Not an uncommitted receive type: Open MPI overlooks it, Shortcut reports it.
  SAME("allgather, in place as receive buffer", Allgather, i, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT);
  SAME("allgatherv, negative count", Allgatherv, i, 1, MPI_INT, o, negative.data(), displs.data(),
       MPI_INT);
  SAME("allgatherv, no receive type", Allgatherv, i, 1, MPI_INT, o, counts.data(), displs.data(),
       MPI_DATATYPE_NULL);
#undef SAME
#endif

  // The communicators still work.
  for (const MPI_Comm comm : {returns, handles}) {
    int sum = 0;
    const int code = MPI_Allreduce(i, &sum, 1, MPI_INT, MPI_SUM, comm);
    tally.check(code == MPI_SUCCESS && sum == ranks, "after the errors");
  }
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&derived);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&returns);
  MPI_Comm_free(&handles);
  const int code = tally.finish("checks");
  MPI_Finalize();
  return code;
}
