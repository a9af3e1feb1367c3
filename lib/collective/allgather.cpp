#include <algorithm>

#include "collective/call.hpp"
#include "collective/collectives.hpp"
#include "collective/next.hpp"
#include "schedule/registry.hpp"

namespace shortcut::collective {
namespace {

/// For schedules that cut a rank's block: the ranks must cut it alike, but may describe it by other
/// datatypes, of which the bytes alone are the same. So bytes it is. `code`: of what went before.
template <class Places, class Counts>
int gather_cut_blocks(Call& call, BlockedVector& vector, const Places& user_place,
                      const Counts& count_of, int code) {
  Communicator& comm = call.comm();
  const TypeInfo user = vector.type;
  const int me = comm.rank();
  const auto count = [&](int endpoint) {
    return static_cast<std::size_t>(count_of(comm.user_rank(endpoint)));
  };
  const auto bytes = [&](int endpoint) { return count(endpoint) * user.size; };
  TypeInfo::query(MPI_BYTE, vector.type);
  std::vector<OwnedRun> runs =
      lay_out(call.plan().schedule().block_owner, comm.ranks(), bytes, vector);
  std::stable_sort(runs.begin(), runs.end(),
                   [](const OwnedRun& a, const OwnedRun& b) { return a.endpoint < b.endpoint; });
  std::size_t largest = 0;
  for (int e = 0; e < comm.ranks(); ++e) largest = std::max(largest, bytes(e));
  char* work = static_cast<char*>(comm.work.reserve(vector.type, vector.end_element.back()));
  char* block = static_cast<char*>(comm.staging.reserve(vector.type, largest));
  vector.base = work;
  if (code == MPI_SUCCESS) {
    code = pack_elements(user, user_place(comm.user_rank(me)), count(me), block, comm.traffic());
  }
  for (const OwnedRun& run : runs) {
    if (run.endpoint == me) std::copy_n(block + run.offset, run.count, work + run.place);
  }
  if (code == MPI_SUCCESS) code = call.run(vector);
  for (auto run = runs.begin(); run != runs.end() && code == MPI_SUCCESS;) {
    const int e = run->endpoint;
    for (; run != runs.end() && run->endpoint == e; ++run) {
      std::copy_n(work + run->place, run->count, block + run->offset);
    }
    if (e == me) continue;
    code = unpack_elements(user, block, user_place(comm.user_rank(e)), count(e), comm.traffic());
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
  // In rank order steps run straight from and to the caller's buffer, if each carries one rank's
  // block or the blocks there have no gaps; otherwise blocks are gathered in schedule order and put
  // in place at the end.
  bool gaps = false;
  for (int r = 0; r + 1 < ranks; ++r) gaps |= place_of(r) + count_of(r) != place_of(r + 1);
  const int each = schedule.blocks / ranks;
  const bool direct = each == 1 && call.comm().in_rank_order() && schedule.in_rank_order() &&
                      (schedule.algorithm->single_blocks || !gaps);
  if (direct) {
    MPI_Aint lowest = 0;
    for (int r = 0; r < ranks; ++r) lowest = std::min<MPI_Aint>(lowest, place_of(r));
    vector.base = static_cast<char*>(recvbuf) + lowest * info.extent;
    for (int r = 0; r < ranks; ++r) {
      add_blocks(vector, static_cast<std::size_t>(place_of(r) - lowest),
                 static_cast<std::size_t>(count_of(r)), each);
    }
    if (code == MPI_SUCCESS) code = call.run(vector);
    return true;
  }
  if (each > 1) {
    code = gather_cut_blocks(call, vector, user_place, count_of, code);
    return true;
  }
  const auto elements_of = [&](int endpoint) {
    return static_cast<std::size_t>(count_of(call.comm().user_rank(endpoint)));
  };
  vector.base = call.comm().work.reserve(info, elements);
  const std::vector<OwnedRun> runs = lay_out(schedule.block_owner, ranks, elements_of, vector);
  for (const OwnedRun& run : runs) {
    const int r = call.comm().user_rank(run.endpoint);
    if (r != me || code != MPI_SUCCESS) continue;
    code = copy_elements(info, user_place(r), info.at(vector.base, run.place), run.count, self);
  }
  if (code == MPI_SUCCESS) code = call.run(vector);
  for (const OwnedRun& run : runs) {
    const int r = call.comm().user_rank(run.endpoint);
    if (r == me || code != MPI_SUCCESS) continue;
    code = copy_elements(info, info.at(vector.base, run.place), user_place(r), run.count, self);
  }
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
