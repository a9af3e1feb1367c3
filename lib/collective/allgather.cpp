#include <algorithm>

#include "collective/blocks.hpp"
#include "collective/call.hpp"
#include "collective/collectives.hpp"
#include "collective/next.hpp"
#include "collective/two_level.hpp"
#include "schedule/registry.hpp"

namespace shortcut::collective {
namespace {

/// By bytes: for schedules that cut a rank's block, and between nodes. The ranks must cut alike,
/// but may describe a block by different datatypes, which have the bytes alone in common.
template <class Places, class Counts>
int gather_bytes(Call& call, const TypeInfo& type, const Places& user_place, const Counts& count_of,
                 MPI_Comm self) {
  Communicator& comm = call.comm();
  std::vector<std::size_t> offset{0};
  for (int r = 0; r < comm.ranks(); ++r) {
    offset.push_back(offset.back() + static_cast<std::size_t>(count_of(r)) * type.size);
  }
  TypeInfo bytes;
  TypeInfo::query(MPI_BYTE, bytes);
  char* blocks = static_cast<char*>(comm.staging.reserve(bytes, offset.back()));
  const auto block = [&](int r) { return blocks + offset[static_cast<std::size_t>(r)]; };
  const auto count = [&](int r) { return static_cast<std::size_t>(count_of(r)); };
  const int me = comm.own_user_rank();
  int code = pack_elements(type, user_place(me), count(me), block(me), self);
  if (code != MPI_SUCCESS) return code;
  code = call.two_level()
             ? TwoLevel(comm, call.plan(), call.reduction(), call.bytes()).allgather(blocks, offset)
             : allgather_blocks(comm, call.plan(), blocks, offset,
                                [&](BlockedVector& v) { return call.execute_plan(v); });
  for (int r = 0; r < comm.ranks() && code == MPI_SUCCESS; ++r) {
    if (r != me) code = unpack_elements(type, block(r), user_place(r), count(r), self);
  }
  return code;
}

/// By elements, in a vector in schedule order.
template <class Places, class Counts>
int gather_elements(Call& call, BlockedVector& vector, std::size_t elements,
                    const Places& user_place, const Counts& count_of, MPI_Comm self) {
  Communicator& comm = call.comm();
  const TypeInfo& type = vector.type;
  std::vector<std::size_t> counts;
  for (int e = 0; e < comm.ranks(); ++e) {
    counts.push_back(static_cast<std::size_t>(count_of(comm.user_rank(e))));
  }
  vector.base = comm.work.reserve(type, elements);
  const std::vector<OwnedRun> runs = lay_out(call.plan().schedule().block_owner, counts, vector);
  int code = MPI_SUCCESS;
  for (const OwnedRun& run : runs) {
    if (run.endpoint != comm.rank() || code != MPI_SUCCESS) continue;
    code = copy_elements(type, user_place(comm.own_user_rank()), type.at(vector.base, run.place),
                         run.count, self);
  }
  if (code == MPI_SUCCESS) code = call.execute_plan(vector);
  for (const OwnedRun& run : runs) {
    if (run.endpoint == comm.rank() || code != MPI_SUCCESS) continue;
    code = copy_elements(type, type.at(vector.base, run.place),
                         user_place(comm.user_rank(run.endpoint)), run.count, self);
  }
  return code;
}

/// count_of(r), place_of(r): elements of rank r and where they start, in elements of recvtype.
template <class Counts, class Places>
bool try_allgather(const char* name, const void* sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void* recvbuf, const Counts& count_of,
                   const Places& place_of, MPI_Datatype recvtype, MPI_Comm comm, int& code) {
  Call call(name, schedule::Collective::allgather, comm);
  if (!call.ours()) return false;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (recvtype == MPI_DATATYPE_NULL) return call.pass("invalid argument");
  if (!in_place && (sendcount < 0 || sendtype == MPI_DATATYPE_NULL)) {
    return call.pass("invalid argument");
  }
  const int ranks = call.comm().ranks();
  std::size_t elements = 0;
  for (int r = 0; r < ranks; ++r) {
    if (count_of(r) < 0) return call.pass("invalid argument");
    elements += static_cast<std::size_t>(count_of(r));
  }
  BlockedVector vector;
  if (TypeInfo::query(recvtype, vector.type) != MPI_SUCCESS) return call.pass("invalid datatype");
  const TypeInfo info = vector.type;
  // A zero-size type here may meet a zero count elsewhere.
  if (elements == 0 || info.size == 0) return call.nothing(code);
  const std::size_t own = static_cast<std::size_t>(count_of(call.comm().own_user_rank()));
  if (Call::bad_buffer(recvbuf, elements, info) ||
      (!in_place && sendbuf == nullptr && own > 0 && sendtype == recvtype &&
       info.true_lower_bound == 0)) {
    return call.pass("invalid argument");
  }
  if (!call.select(elements * info.size)) return false;

  const MPI_Comm self = call.comm().traffic();
  const int me = call.comm().own_user_rank();
  const schedule::Schedule& schedule = call.plan().schedule();
  const auto user_place = [&](int r) {
    return static_cast<char*>(recvbuf) + static_cast<MPI_Aint>(place_of(r)) * info.extent;
  };
  code = MPI_SUCCESS;
  if (!in_place && sendtype == recvtype && sendcount == count_of(me)) {
    code = copy_elements(info, sendbuf, user_place(me), own, self);
  } else if (!in_place) {
    code = convert_elements(sendbuf, sendcount, sendtype, user_place(me), count_of(me), recvtype,
                            self);
  }
  if (code != MPI_SUCCESS) return true;
  // In rank order steps run straight from and to the caller's buffer, if each carries one rank's
  // block or the blocks there have no gaps; otherwise blocks are gathered in schedule order and put
  // in place at the end.
  bool gaps = false;
  for (int r = 0; r + 1 < ranks; ++r) gaps |= place_of(r) + count_of(r) != place_of(r + 1);
  const int each = schedule.blocks / schedule.ranks;
  code = call.run([&] {
    if (each > 1 || call.two_level()) return gather_bytes(call, info, user_place, count_of, self);
    const bool direct = call.comm().in_rank_order() && schedule.in_rank_order() &&
                        (schedule.algorithm->single_blocks || !gaps);
    if (direct) {
      MPI_Aint lowest = 0;
      for (int r = 0; r < ranks; ++r) lowest = std::min<MPI_Aint>(lowest, place_of(r));
      vector.base = static_cast<char*>(recvbuf) + lowest * info.extent;
      for (int r = 0; r < ranks; ++r) {
        add_blocks(vector, static_cast<std::size_t>(place_of(r) - lowest),
                   static_cast<std::size_t>(count_of(r)), 1);
      }
      return call.execute_plan(vector);
    }
    return gather_elements(call, vector, elements, user_place, count_of, self);
  });
  return true;
}

struct EqualBlocks {
  MPI_Count count;
  MPI_Count operator()(int) const { return count; }
};

struct EqualPlaces {
  MPI_Count count;
  MPI_Aint operator()(int r) const {
    return static_cast<MPI_Aint>(count) * static_cast<MPI_Aint>(r);
  }
};

/// Arrays that the caller gave; null arrays are an invalid argument.
template <class Count, class Place>
struct GivenBlocks {
  const Count* counts;
  const Place* displs;
  MPI_Count operator()(int r) const {
    return counts == nullptr || displs == nullptr ? -1 : static_cast<MPI_Count>(counts[r]);
  }
};

template <class Place>
struct GivenPlaces {
  const Place* displs;
  MPI_Aint operator()(int r) const { return static_cast<MPI_Aint>(displs[r]); }
};

#ifdef MPICH_VERSION
bool one_rank(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  int inter = 0;
  int ranks = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &ranks);
  return !inter && ranks == 1;
}
#endif

constexpr char kName[] = "allgather";
constexpr char kVectorName[] = "allgatherv";

}  // namespace

int allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
              int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_allgather(kName, sendbuf, sendcount, sendtype, recvbuf, EqualBlocks{recvcount},
                    EqualPlaces{recvcount}, recvtype, comm, code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Allgather)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_allgather(kVectorName, sendbuf, sendcount, sendtype, recvbuf,
                    GivenBlocks<int, int>{recvcounts, displs}, GivenPlaces<int>{displs}, recvtype,
                    comm, code)) {
    return answer(code, comm);
  }
#ifdef MPICH_VERSION
  // MPICH 4.0.2's MPI_Allgatherv ignores the displacement when there is one rank.
  if (displs != nullptr && recvcounts != nullptr && one_rank(comm) &&
      recvtype != MPI_DATATYPE_NULL) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(recvtype, &lower_bound, &extent);
    return SHORTCUT_NEXT(Allgather)(sendbuf, sendcount, sendtype,
                                    static_cast<char*>(recvbuf) + displs[0] * extent, recvcounts[0],
                                    recvtype, comm);
  }
#endif
  return SHORTCUT_NEXT(Allgatherv)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, comm);
}

#if MPI_VERSION >= 4
int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_allgather(kName, sendbuf, sendcount, sendtype, recvbuf, EqualBlocks{recvcount},
                    EqualPlaces{recvcount}, recvtype, comm, code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Allgather_c)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm);
}

int allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
               MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (try_allgather(kVectorName, sendbuf, sendcount, sendtype, recvbuf,
                    GivenBlocks<MPI_Count, MPI_Aint>{recvcounts, displs},
                    GivenPlaces<MPI_Aint>{displs}, recvtype, comm, code)) {
    return answer(code, comm);
  }
  return SHORTCUT_NEXT(Allgatherv_c)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, comm);
}
#endif

}  // namespace shortcut::collective
