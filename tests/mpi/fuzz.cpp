// Random calls of all collectives, types, operations, counts and communicators against the serial
// reference. The algorithm comes from SHORTCUT_ALGORITHM.
//   fuzz [CALLS [SEED]]: SEED 0 (default) takes the time; the seed is printed, to repeat a run
#include <cstdlib>
#include <ctime>
#include <random>

#include "mpi/matrix/collectives.hpp"
#include "mpi/matrix/report.hpp"

namespace {

using namespace matrix;

class Fuzz {
 public:
  explicit Fuzz(unsigned long seed) : random_(seed) {
    for (const Kind& kind : kinds_) {
      // Open MPI 4.1.4 itself overflows a buffer of 16 bytes (opal_generic_simple_unpack) where a
      // fragment ends inside a larger predefined type with gaps.
      std::vector<Item> items;
      if (kind.size <= 16) items = derived(kind);
      items.insert(items.begin(), plain(kind));
      items_.push_back(std::move(items));
    }
    make_communicators();
  }
  ~Fuzz() {
    for (auto& items : items_) {
      for (Item& item : items) free_item(item);
    }
    for (MPI_Comm& comm : made_) MPI_Comm_free(&comm);
    free_kinds();
  }

  void call(long number) {
    // Every rank draws the same numbers, whatever its communicator.
    const std::size_t k = draw(kinds_.size());
    const std::size_t i = draw(2) == 0 ? 0 : draw(items_[k].size());
    const std::size_t j = draw(2) == 0 ? 0 : draw(items_[k].size());
    const MPI_Comm comm = communicators_[draw(communicators_.size())];
    const std::size_t what = draw(5);
    const auto in_place = static_cast<InPlace>(draw(3));
    const int count = static_cast<int>(draw(8) == 0 ? draw(3000) : draw(40));
    const std::size_t which_op = draw(1000);
    const std::size_t salt = draw(1000);
    int size = 0;
    PMPI_Comm_size(comm, &size);

    const Kind& kind = kinds_[k];
    const Item& item = items_[k][i];
    std::vector<const Kind::Operation*> fitting;
    for (const auto& op : kind.operations) {
      if (item.extent >= 0 && (i == 0 || op.any_layout)) fitting.push_back(&op);
    }
    const bool reduces = what < 3;
    if (reduces && fitting.empty()) return;
    std::vector<int> counts(static_cast<std::size_t>(size), count % 200);
    if (what == 1 || what == 3) {
      for (std::size_t r = 0; r < counts.size(); ++r) {
        counts[r] = static_cast<int>((r * 7 + salt) % 9 * (salt % 4));
      }
    }
    Outcome outcome;
    if (reduces) {
      const auto& op = *fitting[which_op % fitting.size()];
      outcome = what == 0 ? allreduce(comm, item, op, count, in_place)
                          : reduce_scatter(comm, item, op, counts, in_place, what == 2);
    } else {
      const Item& send = items_[k][j];
      const int unit = static_cast<int>(std::max<std::size_t>(1, send.offsets.size()));
      for (int& one : counts) one *= unit;
      std::vector<int> displs;
      int at = static_cast<int>(salt % 5);
      if (what == 3) {
        displs.resize(counts.size());
        for (std::size_t step = 0; step < counts.size(); ++step) {
          const std::size_t r = (step + salt) % counts.size();  // any order: rotated
          displs[r] = at;
          at += counts[r] + static_cast<int>((r + salt) % 3);
        }
      }
      // A rank without data for its type's signature must not leave the others alone.
      if (item.offsets.empty() != send.offsets.empty()) return;
      outcome = allgather(comm, send, item, counts, displs, in_place);
    }
    if (outcome.ran) {
      tally_.check(outcome.error.empty(), "call " + std::to_string(number) + ", collective " +
                                              std::to_string(what) + ", " + item.name + ", count " +
                                              std::to_string(count) + ", " + std::to_string(size) +
                                              " ranks: " + outcome.error);
    }
  }
  int finish() const { return tally_.finish("calls"); }

 private:
  std::size_t draw(std::size_t below) { return static_cast<std::size_t>(random_() % below); }

  void make_communicators() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm = MPI_COMM_NULL;
    const auto add = [&] {
      made_.push_back(comm);
      communicators_.push_back(comm);
    };
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    add();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    add();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    add();
    MPI_Comm_split(MPI_COMM_WORLD, rank < 3, -rank, &comm);
    add();
  }

  std::mt19937_64 random_;
  std::vector<Kind> kinds_ = make_kinds();
  std::vector<std::vector<Item>> items_;
  std::vector<MPI_Comm> made_;
  std::vector<MPI_Comm> communicators_ = {MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_COMM_SELF};
  Tally tally_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long calls = argc > 1 ? std::atol(argv[1]) : 10000;
  unsigned long seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (seed == 0) seed = static_cast<unsigned long>(std::time(nullptr));
  PMPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("fuzz: %ld calls, seed %lu\n", calls, seed);
  std::fflush(stdout);
  int code = 0;
  {
    Fuzz fuzz(seed);
    for (long i = 0; i < calls; ++i) fuzz.call(i);
    code = fuzz.finish();
  }
  MPI_Finalize();
  return code;
}
