#include "mpi/matrix/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace matrix {
namespace {

struct Place {
  int rank = 0;
  int ranks = 1;
};

Place place_in(MPI_Comm comm) {
  Place place;
  MPI_Comm_rank(comm, &place.rank);
  MPI_Comm_size(comm, &place.ranks);
  return place;
}

/// The value of (rank, e), without the padding of its C type.
void put(const Kind& kind, int rank, std::size_t e, void* to) {
  alignas(32) unsigned char item[64];
  kind.fill(rank, e, item);
  for (const auto& [first, count] : kind.fields) {
    std::memcpy(static_cast<unsigned char*>(to) + first, item + first, count);
  }
}

void fill(const Kind& kind, Buffer& buffer, int rank) {
  for (std::size_t e = 0; e < buffer.elements(); ++e) put(kind, rank, e, buffer.element(e));
}

/// Element e of the reduction over all ranks, in rank order.
void reference(const Kind& kind, const Kind::Operation& op, int ranks, std::size_t e, void* out) {
  alignas(32) unsigned char next[64];
  kind.fill(0, e, out);
  for (int r = 1; r < ranks; ++r) {
    kind.fill(r, e, next);
    op.combine(out, next, out);
  }
}

void set_layout(const Item& item, const Kind::Operation& op) {
  current_layout = {item.offsets, item.extent, op.combine};
  user_items = 0;
  user_length_wrong = false;
}

Outcome verdict(int code, const std::string& wrong, const Buffer& send, const Buffer& receive) {
  if (code != MPI_SUCCESS) return {true, "returned code " + std::to_string(code)};
  if (!wrong.empty()) return {true, wrong};
  if (!send.unchanged()) return {true, "send buffer was written"};
  if (!receive.pattern_intact()) return {true, "guards or gaps were written"};
  if (user_length_wrong) return {true, "user function called with a length below 1"};
  return {true, {}};
}

/// receive's elements [0, count) against the reduction's elements from `first` on.
std::string compare(const Kind& kind, const Kind::Operation& op, int ranks, Buffer& receive,
                    std::size_t count, std::size_t first) {
  alignas(32) unsigned char want[64];
  for (std::size_t e = 0; e < count; ++e) {
    reference(kind, op, ranks, first + e, want);
    if (!kind.equal(want, receive.element(e))) return "wrong element " + std::to_string(e);
  }
  return {};
}

}  // namespace

Outcome allreduce(MPI_Comm comm, const Item& item, const Kind::Operation& op, int count,
                  InPlace in_place) {
  const auto items = static_cast<std::size_t>(count);
  if (item.most != 0 && items > item.most) return {};
  const Place me = place_in(comm);
  Buffer send(item, items, false);
  Buffer receive(item, items, op.whole_struct);
  fill(*item.kind, in_place == InPlace::no ? send : receive, me.rank);
  send.seal();
  set_layout(item, op);
  const bool empty = count == 0 && in_place == InPlace::no;
  const int code =
      MPI_Allreduce(in_place != InPlace::no ? MPI_IN_PLACE : (empty ? nullptr : send.origin()),
                    empty ? nullptr : receive.origin(), count, item.type, op.op, comm);
  return verdict(code, compare(*item.kind, op, me.ranks, receive, receive.elements(), 0), send,
                 receive);
}

Outcome reduce_scatter(MPI_Comm comm, const Item& item, const Kind::Operation& op,
                       const std::vector<int>& counts, InPlace in_place, bool block) {
  const Place me = place_in(comm);
  const auto upto = [&](int r) {
    return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.begin() + r, 0));
  };
  const std::size_t all = upto(me.ranks);
  if (item.most != 0 && all > item.most) return {};
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(me.rank)]);
  const bool inside = in_place != InPlace::no;
  Buffer send(item, all, false);
  Buffer receive(item, inside ? all : own, op.whole_struct);
  fill(*item.kind, inside ? receive : send, me.rank);
  send.seal();
  set_layout(item, op);
  const void* from = inside ? MPI_IN_PLACE : send.origin();
  void* to = !inside && own == 0 ? nullptr : receive.origin();
  const int code = block ? MPI_Reduce_scatter_block(from, to, counts[0], item.type, op.op, comm)
                         : MPI_Reduce_scatter(from, to, counts.data(), item.type, op.op, comm);
  const std::size_t per = item.offsets.size();
  return verdict(code, compare(*item.kind, op, me.ranks, receive, own * per, upto(me.rank) * per),
                 send, receive);
}

Outcome allgather(MPI_Comm comm, const Item& send_item, const Item& item,
                  const std::vector<int>& counts, const std::vector<int>& displs,
                  InPlace in_place) {
  const Place me = place_in(comm);
  const std::size_t per = item.offsets.size();
  const std::size_t send_per = send_item.offsets.size();
  const auto count_of = [&](int r) {
    return static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]);
  };
  const auto place_of = [&](int r) {
    return displs.empty() ? static_cast<std::size_t>(r) * count_of(0)
                          : static_cast<std::size_t>(displs[static_cast<std::size_t>(r)]);
  };
  const bool inside = in_place != InPlace::no;
  const std::size_t elements = count_of(me.rank) * per;
  if (send_per == 0 ? elements != 0 : elements % send_per != 0) return {};
  std::size_t send_count = send_per == 0 ? count_of(me.rank) : elements / send_per;
  if (send_item.most != 0 && send_count > send_item.most) return {};
  std::size_t room = 0;
  for (int r = 0; r < me.ranks; ++r) room = std::max(room, place_of(r) + count_of(r));
  if (item.most != 0 && room > item.most) return {};

  Buffer send(send_item, inside ? 0 : send_count, false);
  Buffer receive(item, room, false);
  if (!inside) fill(*item.kind, send, me.rank);
  if (inside) {
    for (std::size_t e = 0; e < elements; ++e) {
      put(*item.kind, me.rank, e, receive.element(place_of(me.rank) * per + e));
    }
  }
  send.seal();
  user_length_wrong = false;
  const bool nonsense = in_place == InPlace::garbage;
  const void* from = inside ? MPI_IN_PLACE : (send_count == 0 ? nullptr : send.origin());
  const int from_count = nonsense ? -7 : static_cast<int>(send_count);
  const MPI_Datatype from_type = nonsense ? MPI_DATATYPE_NULL : send_item.type;
  const int code = displs.empty() ? MPI_Allgather(from, from_count, from_type, receive.origin(),
                                                  counts[0], item.type, comm)
                                  : MPI_Allgatherv(from, from_count, from_type, receive.origin(),
                                                   counts.data(), displs.data(), item.type, comm);
  std::string wrong;
  alignas(32) unsigned char want[64];
  for (int r = 0; r < me.ranks && wrong.empty(); ++r) {
    for (std::size_t e = 0; e < count_of(r) * per; ++e) {
      item.kind->fill(r, e, want);
      if (item.kind->equal(want, receive.element(place_of(r) * per + e))) continue;
      wrong = "wrong element " + std::to_string(e) + " of rank " + std::to_string(r);
      break;
    }
  }
  // Items of receive that nobody fills keep the pattern too, but they count as data here: look.
  for (std::size_t i = 0; i < room && wrong.empty(); ++i) {
    bool filled = false;
    for (int r = 0; r < me.ranks; ++r) filled |= i >= place_of(r) && i < place_of(r) + count_of(r);
    if (filled) continue;
    Buffer fresh(item, room, false);
    for (std::size_t e = i * per; e < (i + 1) * per; ++e) {
      if (std::memcmp(fresh.element(e), receive.element(e), item.kind->size) != 0) {
        wrong = "a place between the blocks was written";
      }
    }
  }
  return verdict(code, wrong, send, receive);
}

}  // namespace matrix
