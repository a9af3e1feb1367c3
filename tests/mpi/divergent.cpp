// What one rank does alone must not decide for it alone who runs a collective: the ranks would wait
// for each other for ever. Each case is legal, or harmless with the MPI libraries as they are.
#include <cstdio>
#include <numeric>
#include <vector>

#include "mpi/matrix/report.hpp"

namespace {

matrix::Tally tally;
int rank = 0;
int ranks = 1;

int sum_of_ranks() { return ranks * (ranks - 1) / 2; }

/// sendbuf == recvbuf without MPI_IN_PLACE, on the ranks for which `here`.
void aliased(bool here, const char* who) {
  constexpr int kCount = 37;
  std::vector<int> in(kCount);
  for (int i = 0; i < kCount; ++i) in[static_cast<std::size_t>(i)] = rank + i;
  std::vector<int> out(kCount, -1);
  int* const recv = here ? in.data() : out.data();
  MPI_Allreduce(in.data(), recv, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  bool good = true;
  for (int i = 0; i < kCount; ++i) good &= recv[i] == sum_of_ranks() + ranks * i;
  tally.check(good, std::string("allreduce, aliased on ") + who);

  std::vector<int> whole(static_cast<std::size_t>(3 * ranks));
  std::iota(whole.begin(), whole.end(), rank);
  std::vector<int> part(3, -1);
  int* const mine = here ? whole.data() : part.data();
  MPI_Reduce_scatter_block(whole.data(), mine, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  good = true;
  for (int i = 0; i < 3; ++i) good &= mine[i] == sum_of_ranks() + ranks * (3 * rank + i);
  tally.check(good, std::string("reduce_scatter_block, aliased on ") + who);

  std::iota(whole.begin(), whole.end(), rank);
  const std::vector<int> counts(static_cast<std::size_t>(ranks), 3);
  MPI_Reduce_scatter(whole.data(), mine, counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  good = true;
  for (int i = 0; i < 3; ++i) good &= mine[i] == sum_of_ranks() + ranks * (3 * rank + i);
  tally.check(good, std::string("reduce_scatter, aliased on ") + who);

  std::vector<int> all(static_cast<std::size_t>(2 * ranks), -1);
  int two[2] = {rank, rank + 100};
  int* const place = &all[static_cast<std::size_t>(2 * rank)];
  place[0] = two[0];
  place[1] = two[1];
  MPI_Allgather(here ? place : two, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
  good = true;
  for (int r = 0; r < ranks; ++r) {
    good &= all[static_cast<std::size_t>(2 * r)] == r;
    good &= all[static_cast<std::size_t>(2 * r) + 1] == r + 100;
  }
  tally.check(good, std::string("allgather, aliased on ") + who);
}

/// No data, said in two ways.
void nothing() {
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  int guard = 77;
  const bool counts_nothing = rank == 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Allgather(&guard, counts_nothing ? 0 : 3, counts_nothing ? MPI_INT : empty, &guard,
                  counts_nothing ? 0 : 3, counts_nothing ? MPI_INT : empty, MPI_COMM_WORLD);
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  tally.check(guard == 77 && sum == sum_of_ranks(), "a count of 0 and a type of size 0");
  MPI_Type_free(&empty);
}

/// MPI_IN_PLACE and separate buffers in one call; other types of one signature.
void mixed() {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  const bool odd = rank % 2 == 1;
  std::vector<int> all(static_cast<std::size_t>(2 * ranks), -1);
  const int two[2] = {rank, -rank};
  int* const place = &all[static_cast<std::size_t>(2 * rank)];
  place[0] = two[0];
  place[1] = two[1];
  MPI_Allgather(rank == 0 ? MPI_IN_PLACE : two, odd ? 1 : 2, odd ? pair : MPI_INT, all.data(),
                odd ? 2 : 1, odd ? MPI_INT : pair, MPI_COMM_WORLD);
  bool good = true;
  for (int r = 0; r < ranks; ++r) {
    good &= all[static_cast<std::size_t>(2 * r)] == r;
    good &= all[static_cast<std::size_t>(2 * r) + 1] == -r;
  }
  tally.check(good, "in place on one rank, and other types");
  MPI_Type_free(&pair);
}

int callbacks = 0;
int in_callback(MPI_Comm, int, void*, void*) {
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum == sum_of_ranks()) ++callbacks;
  return MPI_SUCCESS;
}

void set_callback() {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_callback, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // Attributes go last in, first out: on rank 0 this callback runs after Shortcut's own end, on the
  // others before.
  int one = 1;
  if (rank == 0) {
    set_callback();
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  } else {
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    set_callback();
  }
  aliased(rank == 0, "rank 0");
  aliased(rank != 0, "all but rank 0");
  aliased(true, "all ranks");
  nothing();
  mixed();
  const int code = tally.finish("checks");
  MPI_Finalize();
  return callbacks == 1 ? code : 4;
}
