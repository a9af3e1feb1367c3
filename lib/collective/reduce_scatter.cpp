#include "collective/blocks.hpp"
#include "collective/call.hpp"
#include "collective/collectives.hpp"
#include "collective/next.hpp"
#include "collective/two_level.hpp"

namespace shortcut::collective {
namespace {

/// counts(r): elements of rank r.
template <class Counts>
bool try_reduce_scatter(const char* name, const void* sendbuf, void* recvbuf,
                        const Counts& count_of, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        int& code) {
  Call call(name, schedule::Collective::reduce_scatter, comm);
  if (!call.ours()) return false;
  if (type == MPI_DATATYPE_NULL) return call.pass("invalid argument");
  const int ranks = call.comm().ranks();
  std::vector<std::size_t> offset{0};  // of each rank's block in the caller's vector
  for (int r = 0; r < ranks; ++r) {
    const MPI_Count count = count_of(r);
    if (count < 0) return call.pass("invalid argument");
    offset.push_back(offset.back() + static_cast<std::size_t>(count));
  }
  const std::size_t elements = offset.back();
  if (!call.set_operation(op, type)) return false;
  BlockedVector vector;
  const TypeInfo& info = vector.type;
  if (TypeInfo::query(type, vector.type) != MPI_SUCCESS) return call.pass("invalid datatype");
  if (elements == 0 || info.size == 0) return call.nothing(code);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const std::size_t received =
      in_place ? elements : static_cast<std::size_t>(count_of(call.comm().own_user_rank()));
  if (Call::bad_buffer(recvbuf, received, info) ||
      (!in_place && Call::bad_buffer(sendbuf, elements, info))) {
    return call.pass("invalid argument");
  }
  if (!call.select(elements * info.size)) return false;

  const void* input = in_place ? recvbuf : sendbuf;
  code = call.run([&] {
    if (call.two_level()) {
      return TwoLevel(call.comm(), call.plan(), call.reduction(), call.bytes())
          .reduce_scatter(vector.type, input, recvbuf, offset);
    }
    return reduce_scatter_blocks(call.comm(), call.plan(), vector.type, input, recvbuf, offset,
                                 [&](BlockedVector& work) { return call.execute_plan(work); });
  });
  return true;
}

template <class Count>
auto counts_in(const Count* recvcounts) {
  return [recvcounts](int r) -> MPI_Count { return recvcounts == nullptr ? -1 : recvcounts[r]; };
}

auto equal_counts(MPI_Count recvcount) {
  return [recvcount](int) { return recvcount; };
}

constexpr char kName[] = "reduce_scatter";
constexpr char kBlockName[] = "reduce_scatter_block";

}  // namespace

int reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_reduce_scatter(kName, sendbuf, recvbuf, counts_in(recvcounts), type, op, comm, code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Reduce_scatter)(sendbuf, recvbuf, recvcounts, type, op, comm);
}

int reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_reduce_scatter(kBlockName, sendbuf, recvbuf, equal_counts(recvcount), type, op, comm,
                         code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Reduce_scatter_block)(sendbuf, recvbuf, recvcount, type, op, comm);
}

#if MPI_VERSION >= 4
int reduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_reduce_scatter(kName, sendbuf, recvbuf, counts_in(recvcounts), type, op, comm, code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Reduce_scatter_c)(sendbuf, recvbuf, recvcounts, type, op, comm);
}

int reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_reduce_scatter(kBlockName, sendbuf, recvbuf, equal_counts(recvcount), type, op, comm,
                         code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Reduce_scatter_block_c)(sendbuf, recvbuf, recvcount, type, op, comm);
}
#endif

}  // namespace shortcut::collective
