#include "collective/call.hpp"
#include "collective/collectives.hpp"
#include "collective/next.hpp"
#include "collective/two_level.hpp"

namespace shortcut::collective {
namespace {

/// The call, or its code when it is done; nothing when PMPI must run it.
bool try_allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, int& code) {
  Call call("allreduce", schedule::Collective::allreduce, comm);
  if (!call.ours()) return false;
  if (count < 0 || type == MPI_DATATYPE_NULL) return call.pass("invalid argument");
  if (!call.set_operation(op, type)) return false;
  BlockedVector vector;
  if (TypeInfo::query(type, vector.type) != MPI_SUCCESS) return call.pass("invalid datatype");
  const std::size_t elements = static_cast<std::size_t>(count);
  if (elements == 0 || vector.type.size == 0) return call.nothing(code);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (Call::bad_buffer(recvbuf, elements, vector.type) ||
      (!in_place && Call::bad_buffer(sendbuf, elements, vector.type))) {
    return call.pass("invalid argument");
  }
  if (!call.select(elements * vector.type.size)) return false;

  if (call.two_level()) {
    code = call.run([&] {
      return TwoLevel(call.comm(), call.plan(), call.reduction(), call.bytes())
          .allreduce(vector.type, in_place ? recvbuf : sendbuf, recvbuf, elements);
    });
    return true;
  }
  vector.base = recvbuf;
  cut_evenly(elements, call.plan().schedule().blocks, vector);
  code = MPI_SUCCESS;
  // A send buffer that is the receive buffer (erroneous, but common) is the same as in place. One
  // rank may do it and another not, so it must not decide who runs the call.
  if (!in_place) {
    code = copy_elements(vector.type, sendbuf, recvbuf, elements, call.comm().traffic());
  }
  if (code == MPI_SUCCESS) {
    code = call.run([&] { return call.execute_plan(vector); });
  }
  return true;
}

}  // namespace

int allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_allreduce(sendbuf, recvbuf, count, type, op, comm, code)) return answer(code, comm);
  return SHORTCUT_NEXT(Allreduce)(sendbuf, recvbuf, count, type, op, comm);
}

#if MPI_VERSION >= 4
int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_allreduce(sendbuf, recvbuf, count, type, op, comm, code)) return answer(code, comm);
  return SHORTCUT_NEXT(Allreduce_c)(sendbuf, recvbuf, count, type, op, comm);
}
#endif

}  // namespace shortcut::collective
