// Communicators that come and go, and programs that do odd things around collectives.
//   communicators cycles [N] | leak | callback | threads | outstanding | pmpi | many
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mpi/matrix/report.hpp"

namespace {

matrix::Tally tally;
int rank = 0;
int ranks = 1;

bool sums(MPI_Comm comm, int count = 3) {
  int me = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &me);
  PMPI_Comm_size(comm, &size);
  const std::vector<int> send(static_cast<std::size_t>(count), me + 1);
  std::vector<int> receive(send.size(), -1);
  if (MPI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS) {
    return false;
  }
  for (const int value : receive) {
    if (value != size * (size + 1) / 2) return false;
  }
  return true;
}

long resident_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// Open MPI and MPICH have 2,000 to 65,000 communicators at a time: a leak would run into that.
/// MPICH has 2,048 communicators: a program that wants 1,500 must get them, used or not, and see no
/// error of Shortcut's.
int errors_seen = 0;
void on_error(MPI_Comm*, int*, ...) { ++errors_seen; }

void many() {
  constexpr std::size_t kMany = 1500;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  std::vector<MPI_Comm> comms(kMany, MPI_COMM_NULL);
  for (const bool at_once : {true, false}) {
    for (std::size_t i = 0; i < kMany; ++i) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
      if (at_once) tally.check(sums(comms[i]), "used when made, " + std::to_string(i));
    }
    for (MPI_Comm& comm : comms) {
      tally.check(sums(comm), "used when all are made");
      MPI_Comm_free(&comm);
    }
  }
  tally.check(errors_seen == 0, "errors reported: " + std::to_string(errors_seen));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

void cycles(long count) {
  const auto cycle = [](long i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, static_cast<int>(i % 2) ? rank : -rank, &comm);
    tally.check(sums(comm), "cycle " + std::to_string(i));
    MPI_Comm_free(&comm);
  };
  long i = 0;
  for (; i < count / 5; ++i) cycle(i);
  const long before = resident_kb();
  for (; i < count; ++i) cycle(i);
  const long grown = resident_kb() - before;
  tally.check(grown < 4096, "memory grew by " + std::to_string(grown) + " kB");
}

int callbacks = 0;
int in_callback(MPI_Comm, int, void*, void*) {
  ++callbacks;
  if (!sums(MPI_COMM_WORLD)) std::_Exit(3);
  if (callbacks == 2) {
    if (rank == 0) std::printf("2 callbacks, all right\n");
    std::fflush(stdout);
  }
  return MPI_SUCCESS;
}

void set_callback() {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_callback, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

void threads() {
  constexpr int kThreads = 4;
  std::vector<MPI_Comm> comms(kThreads);
  std::vector<int> bad(kThreads, 0);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // Made ours one after the other: MPI libraries make communicators in parallel badly.
  for (const MPI_Comm comm : comms) tally.check(sums(comm), "before the threads");
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < comms.size(); ++t) {
    running.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        if (!sums(comms[t], 1 + i * 7)) ++bad[t];
        std::vector<int> all(static_cast<std::size_t>(ranks), -1);
        MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, comms[t]);
        for (int r = 0; r < ranks; ++r) bad[t] += all[static_cast<std::size_t>(r)] != r;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const int count : bad) tally.check(count == 0, "a thread's collectives");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void outstanding() {
  int got = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 50; ++i) tally.check(sums(MPI_COMM_WORLD, 1 + i * 20), "beside a receive");
  int done = 1;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  tally.check(!done, "the program's receive met a message that was not its own");
  PMPI_Barrier(MPI_COMM_WORLD);
  const int value = 100 + rank;
  MPI_Send(&value, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD);
  if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  tally.check(got == 100 + (rank + ranks - 1) % ranks, "the program's own message");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, what == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (what == "cycles") {
    cycles(argc > 2 ? std::atol(argv[2]) : 10000);
  } else if (what == "leak") {
    for (int i = 0; i < 20; ++i) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      tally.check(sums(comm), "a communicator that is never freed");
    }
  } else if (what == "callback") {
    set_callback();  // runs after Shortcut's own: attributes go last in, first out
    tally.check(sums(MPI_COMM_WORLD), "before the end");
    set_callback();  // runs before
  } else if (what == "threads") {
    if (level == MPI_THREAD_MULTIPLE) {
      threads();
    } else {
      tally.check(true, "this MPI has no threads");
    }
  } else if (what == "outstanding") {
    outstanding();
  } else if (what == "many") {
    many();
  } else if (what == "pmpi") {
    long mine = rank;
    long sum = -1;
    PMPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    tally.check(sum == ranks * (ranks - 1L) / 2, "PMPI_Allreduce called by the program");
    tally.check(sums(MPI_COMM_WORLD), "and MPI_Allreduce after it");
  }
  const int code = tally.finish("checks");
  MPI_Finalize();
  if (what == "callback" && callbacks != 2) return 4;
  return code;
}
