// Mistakes that other collective libraries have made, by their public reports, as tests of ours.
// Each comment says what went wrong there.
#include <climits>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mpi/matrix/report.hpp"

namespace {

using Ints = std::vector<int>;

matrix::Tally tally;
int rank = 0;
int ranks = 1;
std::size_t n = 1;

Ints ones() { return Ints(n, 1); }
int sum_of_ranks() { return ranks * (ranks - 1) / 2; }
Ints all_ranks() {
  Ints all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Open MPI 5450: the send type of an in-place allgather was looked at; a null one crashed.
void in_place_null_type() {
  Ints all(n, -1);
  all[static_cast<std::size_t>(rank)] = rank;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  tally.check(all == all_ranks(), "in-place allgather without a send type");
}
// Open MPI 5491, 5970: the same for allgatherv, there in the choice of the algorithm.
void in_place_null_type_v() {
  Ints all(n, -1);
  all[static_cast<std::size_t>(rank)] = rank;
  MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all.data(), ones().data(), all_ranks().data(),
                 MPI_INT, MPI_COMM_WORLD);
  tally.check(all == all_ranks(), "in-place allgatherv without a send type");
}
// Open MPI 159: in-place allgather trusted the (garbage) send count; heap corruption at 6 ranks.
void in_place_garbage_count() {
  Ints all(n * 5, -1);
  for (std::size_t i = 0; i < 5; ++i) all[static_cast<std::size_t>(rank) * 5 + i] = rank;
  MPI_Allgather(MPI_IN_PLACE, 33201713, MPI_DOUBLE, all.data(), 5, MPI_INT, MPI_COMM_WORLD);
  bool good = true;
  for (std::size_t i = 0; i < all.size(); ++i) good &= all[i] == static_cast<int>(i / 5);
  tally.check(good, "in-place allgather with a huge send count");
}
// Open MPI 100: allgatherv read a null datatype where some ranks had nothing.
void zero_counts_somewhere() {
  Ints counts(n), displs(n), all(n, -1);
  for (std::size_t r = 0; r < n; ++r) counts[r] = r % 2 ? 0 : 1;
  for (std::size_t r = 0; r < n; ++r) displs[r] = static_cast<int>(r);
  const int mine = counts[static_cast<std::size_t>(rank)];
  MPI_Allgatherv(mine ? &rank : nullptr, mine, MPI_INT, all.data(), counts.data(), displs.data(),
                 MPI_INT, MPI_COMM_WORLD);
  bool good = true;
  for (std::size_t r = 0; r < n; ++r) good &= all[r] == (r % 2 ? -1 : static_cast<int>(r));
  tally.check(good, "allgatherv with empty ranks");
}
// Open MPI 1907: allgatherv gave wrong data where ranks described one signature by other types.
void other_types_same_signature() {
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_LONG_LONG, &two);
  MPI_Type_commit(&two);
  const bool odd = rank % 2 == 1;
  const std::vector<long long> mine = {rank * 2LL, rank * 2LL + 1};
  std::vector<long long> all(2 * n, -1);
  Ints counts(n, odd ? 1 : 2), displs(n);
  for (std::size_t r = 0; r < n; ++r) displs[r] = static_cast<int>(r) * counts[r];
  MPI_Allgatherv(mine.data(), odd ? 2 : 1, odd ? MPI_LONG_LONG : two, all.data(), counts.data(),
                 displs.data(), odd ? two : MPI_LONG_LONG, MPI_COMM_WORLD);
  bool good = true;
  for (std::size_t i = 0; i < all.size(); ++i) good &= all[i] == static_cast<long long>(i);
  tally.check(good, "one signature, several types");
  MPI_Type_free(&two);
}
// Open MPI 9619/9644: zero-size datatypes with counts sent messages nobody received; it hung.
void zero_size_type() {
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  int guard = 77;
  Ints counts(n, 3), displs(n, 0);
  MPI_Allgatherv(&guard, 3, nothing, &guard, counts.data(), displs.data(), nothing, MPI_COMM_WORLD);
  MPI_Allgather(&guard, rank % 2 ? 0 : 3, nothing, &guard, 3, nothing, MPI_COMM_WORLD);
  tally.check(guard == 77, "zero-size type");
  MPI_Type_free(&nothing);
}
// MPI Forum 15, MPICH 1594: the in-place result of reduce_scatter was expected, or left, at the
// rank's own offset instead of the front.
void in_place_result_in_front() {
  Ints data(n * 2);
  std::iota(data.begin(), data.end(), 1);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, data.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  tally.check(data[0] == ranks * (rank * 2 + 1) && data[1] == ranks * (rank * 2 + 2),
              "in-place reduce_scatter_block in front");
}
// Open MPI 13883: in-place reduce_scatter staged only the rank's share of the input.
void in_place_whole_input() {
  Ints counts(n);
  for (std::size_t r = 0; r < n; ++r) counts[r] = static_cast<int>(r) * 100;
  const int before = 100 * (rank * (rank - 1) / 2);
  Ints data(static_cast<std::size_t>(100 * sum_of_ranks()));
  std::iota(data.begin(), data.end(), 0);
  MPI_Reduce_scatter(MPI_IN_PLACE, data.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  bool good = true;
  for (int i = 0; i < counts[static_cast<std::size_t>(rank)]; ++i) {
    good &= data[static_cast<std::size_t>(i)] == ranks * (before + i);
  }
  tally.check(good, "in-place reduce_scatter, unequal counts");
}
// Aluminum 110 (over NCCL): an in-place reduce-scatter overwrote the rest of one rank's buffer.
void in_place_rest_stays() {
  Ints data(n + 2, rank + 1);
  data[n] = data[n + 1] = -5;
  MPI_Reduce_scatter(MPI_IN_PLACE, data.data(), ones().data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  tally.check(data[0] == sum_of_ranks() + ranks && data[n] == -5 && data[n + 1] == -5,
              "behind an in-place reduce_scatter");
}
// Open MPI 218: reduce-scatter in place on one process.
void in_place_alone() {
  int value = 9;
  const int one = 1;
  MPI_Reduce_scatter(MPI_IN_PLACE, &value, &one, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  tally.check(value == 9, "one process in place");
}
// gloo 209: allgather and others failed on a group of one.
void alone() {
  int out = -1;
  MPI_Allgather(&rank, 1, MPI_INT, &out, 1, MPI_INT, MPI_COMM_SELF);
  tally.check(out == rank, "allgather of one");
}
// gloo 179: empty inputs were refused.
void empty() {
  const int codes[] = {
      MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
      MPI_Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, MPI_COMM_WORLD),
      MPI_Reduce_scatter_block(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD)};
  for (const int code : codes) tally.check(code == MPI_SUCCESS, "empty input");
}
// PyTorch 21480 (gloo): a reduction used ranks' inputs as scratch.
void inputs_stay() {
  const std::vector<double> before(1000, rank + 0.5);
  const std::vector<double> send = before;
  std::vector<double> receive(1000);
  MPI_Allreduce(send.data(), receive.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  tally.check(send == before, "the input of allreduce");
}
// MPICH 6083: MPI_MIN of unsigned longs took them as signed, so 2^64-1 beat 0. MPICH 4.0.2 still
// does in MPI_Reduce_local, which is what we reduce with, so only the range below 2^63 is tried
// there.
void unsigned_extremes() {
#ifdef MPICH_VERSION
  constexpr std::uint64_t UINT64_LARGE = UINT64_MAX / 2;
#else
  constexpr std::uint64_t UINT64_LARGE = UINT64_MAX;
#endif
  const std::uint64_t mine[2] = {rank == 0 ? 0 : UINT64_LARGE, rank == 0 ? 0 : UINT64_LARGE};
  std::uint64_t low[2], high[2];
  MPI_Allreduce(mine, low, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(mine, high, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  tally.check(low[0] == 0 && low[1] == 0 && high[0] == UINT64_LARGE && high[1] == UINT64_LARGE,
              "minimum and maximum of unsigned");
}
// MPICH 6239: a reduction of a large derived type with a user's function divided by zero when it
// computed how many items fit in a segment.
void large_item(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length * 50000; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
void large_derived_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(50000, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(large_item, 1, &op);
  const Ints send(100000, rank);
  Ints receive(100000, -1);
  MPI_Allreduce(send.data(), receive.data(), 2, type, op, MPI_COMM_WORLD);
  tally.check(receive == Ints(100000, sum_of_ranks()), "user function on a large type");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}
// Open MPI 1754, faabric 33: operands out of rank order for a non-commutative function.
void last_wins(void* in, void* inout, int* length, MPI_Datatype*) {
  // (a, b) then (c, d): composition of x -> a x + b, modulo 101.
  for (int i = 0; i < *length; ++i) {
    const int* l = static_cast<int*>(in) + 2 * i;
    int* r = static_cast<int*>(inout) + 2 * i;
    const int a = l[0] * r[0] % 101;
    r[1] = (r[0] * l[1] + r[1]) % 101;
    r[0] = a;
  }
}
void rank_order() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(last_wins, 0, &op);
  const std::size_t count = 3 * n;
  Ints send(2 * count), receive(2 * count), want(2 * count);
  const auto fill = [&](int r, Ints& out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (r * 13 + static_cast<int>(i) * 7 + 2) % 101;
  };
  fill(rank, send);
  fill(0, want);
  for (int r = 1; r < ranks; ++r) {
    Ints next(2 * count);
    fill(r, next);
    int length = static_cast<int>(count);
    last_wins(want.data(), next.data(), &length, nullptr);
    want = next;
  }
  MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), type, op, MPI_COMM_WORLD);
  tally.check(receive == want, "non-commutative, rank order");
  Ints part(6, -1);
  MPI_Reduce_scatter_block(send.data(), part.data(), 3, type, op, MPI_COMM_WORLD);
  tally.check(Ints(want.begin() + rank * 6, want.begin() + rank * 6 + 6) == part,
              "non-commutative reduce_scatter_block, rank order");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}
// Open MPI 12258: ranks summed in different orders, so a sum's last bits differed between them.
void same_sum_everywhere() {
  const double mine = rank % 2 ? 1e16 : 1.0 + rank;
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double root = sum;
  PMPI_Bcast(&root, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  tally.check(std::memcmp(&root, &sum, sizeof sum) == 0, "same sum on all ranks");
}
// gloo 192: counts that the number of ranks does not divide left a tail unreduced.
void tails() {
  for (int count = 1; count < 70; ++count) {
    const Ints send(static_cast<std::size_t>(count), rank);
    Ints receive(send.size(), -1);
    MPI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tally.check(receive == Ints(send.size(), sum_of_ranks()), "count " + std::to_string(count));
  }
}
// UCC 541: results of back-to-back collectives got mixed up once in a while.
void back_to_back() {
  bool good = true;
  for (int i = 0; i < 300; ++i) {
    const int mine = rank + i;
    int sum = 0;
    Ints all(n);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    good &= sum == sum_of_ranks() + ranks * i && all.back() == ranks - 1 + i;
  }
  tally.check(good, "back to back");
}
// UCC 585: results were scaled where the tree of 15 ranks was not full; here: odd groups.
void odd_groups() {
  for (int size = 1; size <= ranks; ++size) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    float mine = static_cast<float>(rank), sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
    tally.check(sum == static_cast<float>(size * (size - 1) / 2),
                "group of " + std::to_string(size));
    MPI_Comm_free(&comm);
  }
}
// Open MPI 14207: types with a true lower bound, and MPI_BOTTOM with absolute addresses, were read
// at displacement zero.
void bottom() {
  Ints send = {rank, 7}, receive = {-1, -1};
  const auto absolute = [](Ints& data) {
    MPI_Aint address = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Get_address(data.data(), &address);
    MPI_Type_create_hindexed_block(1, 2, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
  };
  MPI_Datatype from = absolute(send);
  Ints all(2 * n, -1);
  MPI_Allgather(MPI_BOTTOM, 1, from, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
  bool good = true;
  for (std::size_t r = 0; r < n; ++r)
    good &= all[2 * r] == static_cast<int>(r) && all[2 * r + 1] == 7;
  tally.check(good, "MPI_BOTTOM as send buffer");
  MPI_Type_free(&from);
}
// yaksa 111: extents smaller than the data and negative bounds came out wrong.
void columns() {
  // Every rank fills one column of a row-major matrix of 4 rows.
  MPI_Datatype column = MPI_DATATYPE_NULL, bare = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, ranks, MPI_INT, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  const Ints mine(4, rank);
  Ints all(4 * n, -1);
  MPI_Allgather(mine.data(), 4, MPI_INT, all.data(), 1, column, MPI_COMM_WORLD);
  bool good = true;
  for (std::size_t i = 0; i < all.size(); ++i) good &= all[i] == static_cast<int>(i % n);
  tally.check(good, "columns of a matrix");
  MPI_Type_free(&column);
  MPI_Type_free(&bare);
}
// MPICH 783: predefined operations refused fixed-width integers.
void fixed_width() {
  const std::int8_t mine = static_cast<std::int8_t>(rank);
  std::int8_t most = -1;
  MPI_Allreduce(&mine, &most, 1, MPI_INT8_T, MPI_MAX, MPI_COMM_WORLD);
  tally.check(most == ranks - 1, "maximum of int8");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  n = static_cast<std::size_t>(ranks);
  in_place_null_type();
  in_place_null_type_v();
  in_place_garbage_count();
  zero_counts_somewhere();
  other_types_same_signature();
  zero_size_type();
  in_place_result_in_front();
  in_place_whole_input();
  in_place_rest_stays();
  in_place_alone();
  alone();
  empty();
  inputs_stay();
  unsigned_extremes();
  large_derived_type();
  rank_order();
  same_sum_everywhere();
  tails();
  back_to_back();
  odd_groups();
  bottom();
  columns();
  fixed_width();
  const int code = tally.finish("checks");
  MPI_Finalize();
  return code;
}
