// The matrix: collectives x types x operations x counts x in-place on one communicator and a few
// derived ones, against a serial reference. The algorithm comes from SHORTCUT_ALGORITHM.
//   matrix [STRIDE]: runs every STRIDE-th combination (default 1), chosen alike on all ranks
#include <cstdlib>

#include "mpi/matrix/collectives.hpp"
#include "mpi/matrix/report.hpp"

namespace {

using namespace matrix;

class Matrix {
 public:
  explicit Matrix(long stride) : stride_(stride) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  int run() {
    const std::vector<Kind> kinds = make_kinds();
    whole_world(kinds);
    communicators(kinds);
    const int code = tally_.finish("combinations");
    free_kinds();
    return code;
  }

 private:
  /// Takes its turn? A cheap hash spreads the chosen ones over all dimensions.
  bool turn() {
    const unsigned long i = next_++;
    return (i * 2654435761UL >> 7) % static_cast<unsigned long>(stride_) == 0;
  }

  void judge(const Outcome& outcome, const std::string& what) {
    if (outcome.ran) tally_.check(outcome.error.empty(), what + ": " + outcome.error);
  }

  static const char* text(InPlace in_place) {
    return in_place == InPlace::no ? "" : in_place == InPlace::yes ? " in place" : " garbage";
  }

  /// 0, 1, ranks - 1, an odd count, more.
  std::vector<int> counts(bool large) const {
    std::vector<int> all = {0, 1, 5, 37};
    if (ranks_ > 2) all.push_back(ranks_ - 1);
    if (large) all.push_back(1001);
    return all;
  }

  void reductions(MPI_Comm comm, const Item& item, const Kind::Operation& op, bool large) {
    if (item.extent < 0) return;  // Open MPI's own reductions refuse these
    int size = 0;
    PMPI_Comm_size(comm, &size);
    const std::string name = item.name + " " + op.name;
    for (const InPlace in_place : {InPlace::no, InPlace::yes}) {
      for (const int count : counts(large)) {
        const std::string what = name + text(in_place) + " " + std::to_string(count);
        if (turn()) judge(allreduce(comm, item, op, count, in_place), "allreduce " + what);
        const std::vector<int> equal(static_cast<std::size_t>(size), count % 64);
        if (turn()) {
          judge(reduce_scatter(comm, item, op, equal, in_place, true),
                "reduce_scatter_block " + what);
        }
        std::vector<int> unequal = equal;
        for (std::size_t r = 0; r < unequal.size(); ++r) {
          if (count > 0) unequal[r] = static_cast<int>((r * 5 + static_cast<unsigned>(count)) % 4);
        }
        if (turn()) {
          judge(reduce_scatter(comm, item, op, unequal, in_place, false), "reduce_scatter " + what);
        }
      }
    }
  }

  void gathers(MPI_Comm comm, const Item& send, const Item& receive, bool large) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    const std::string name = send.name + " to " + receive.name;
    for (const InPlace in_place : {InPlace::no, InPlace::yes, InPlace::garbage}) {
      for (int count : counts(large)) {
        if (count > 100) count = 101;
        const std::string what = name + text(in_place) + " " + std::to_string(count);
        // Counts that both types can express.
        const int unit = static_cast<int>(std::max<std::size_t>(1, send.offsets.size()));
        const std::vector<int> equal(static_cast<std::size_t>(size), count * unit);
        if (turn()) judge(allgather(comm, send, receive, equal, {}, in_place), "allgather " + what);
        // Unequal counts, some zero; displacements fall with the rank and leave gaps.
        std::vector<int> unequal(equal.size());
        std::vector<int> displs(equal.size());
        int at = 3;
        for (std::size_t r = equal.size(); r-- > 0;) {
          unequal[r] = static_cast<int>((r * 3 + static_cast<unsigned>(count)) % 5) * unit;
          displs[r] = at;
          at += unequal[r] + static_cast<int>(r % 3);
        }
        if (turn()) {
          judge(allgather(comm, send, receive, unequal, displs, in_place), "allgatherv " + what);
        }
      }
    }
  }

  /// Equal signature, other (count, type) on every rank: receive types differ by rank.
  void mixed(MPI_Comm comm, const std::vector<Item>& items) {
    const std::size_t size = items.size();
    for (std::size_t shift = 0; shift < size; ++shift) {
      const Item& send = items[(static_cast<std::size_t>(rank_) + shift) % size];
      const Item& receive = items[(static_cast<std::size_t>(rank_) * 3 + shift + 1) % size];
      if (!turn()) continue;
      // 12 elements a rank: divisible by 1, 2 and 3.
      const int count = static_cast<int>(12 / receive.offsets.size());
      const std::vector<int> counts(static_cast<std::size_t>(ranks_), count);
      judge(allgather(comm, send, receive, counts, {}, InPlace::no), "mixed " + receive.name);
      std::vector<int> displs;
      for (int r = 0; r < ranks_; ++r) displs.push_back((ranks_ - 1 - r) * (count + 1));
      judge(allgather(comm, send, receive, counts, displs, InPlace::no), "mixed v " + receive.name);
    }
  }

  void whole_world(const std::vector<Kind>& kinds) {
    for (const Kind& kind : kinds) {
      const Item item = plain(kind);
      const bool large = kind.name == "int" || kind.name == "double" || kind.name == "matrix";
      for (const auto& op : kind.operations) reductions(MPI_COMM_WORLD, item, op, large);
      gathers(MPI_COMM_WORLD, item, item, large);
    }
    for (const Kind& kind : kinds) {
      const bool chosen = kind.name == "int" || kind.name == "double" || kind.name == "matrix" ||
                          kind.name == "record" || kind.name == "short" ||
                          kind.name == "long_double" || kind.name == "double_int";
      if (!chosen) continue;
      std::vector<Item> items = derived(kind);
      for (const Item& item : items) {
        for (const auto& op : kind.operations) {
          if (op.any_layout) reductions(MPI_COMM_WORLD, item, op, true);
        }
        gathers(MPI_COMM_WORLD, item, item, false);
        gathers(MPI_COMM_WORLD, plain(kind), item, false);
        if (!item.offsets.empty()) gathers(MPI_COMM_WORLD, item, plain(kind), false);
      }
      std::vector<Item> full;
      for (const Item& item : items) {
        if (!item.offsets.empty()) full.push_back(item);
      }
      mixed(MPI_COMM_WORLD, full);
      for (Item& item : items) free_item(item);
    }
  }

  void some(MPI_Comm comm, const std::vector<Kind>& kinds) {
    for (const Kind& kind : kinds) {
      if (kind.name != "int" && kind.name != "matrix") continue;
      const Item item = plain(kind);
      for (const auto& op : kind.operations) reductions(comm, item, op, false);
      gathers(comm, item, item, false);
    }
  }

  void communicators(const std::vector<Kind>& kinds) {
    const long stride = stride_;
    stride_ = std::max(1L, stride / 4);
    some(MPI_COMM_SELF, kinds);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    some(comm, kinds);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank_ * 5 + 3) % 17, &comm);  // another order
    some(comm, kinds);
    MPI_Comm_free(&comm);
    // Halves of unequal size; then every half's own choice of combinations must not matter.
    const unsigned long next = next_;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % 3 == 0, -rank_, &comm);
    some(comm, kinds);
    next_ = next;
    if (ranks_ >= 4) intercommunicator(comm);
    MPI_Comm_free(&comm);
    stride_ = stride;
  }

  /// Each side gets the reduction of the other.
  void intercommunicator(MPI_Comm half) {
    MPI_Comm inter = MPI_COMM_NULL;
    int leader = 0;  // in its half the highest world rank leads: keys were -rank
    for (int r = 0; r < ranks_; ++r) {
      if ((r % 3 == 0) != (rank_ % 3 == 0)) leader = r;
    }
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 7, &inter);
    long want = 0;
    for (int r = 0; r < ranks_; ++r) {
      if ((r % 3 == 0) != (rank_ % 3 == 0)) want += r + 1;
    }
    const long mine = rank_ + 1;
    long sum = 0;
    const int code = MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, inter);
    tally_.check(code == MPI_SUCCESS && sum == want, "allreduce on an intercommunicator");
    int others = 0;
    MPI_Comm_remote_size(inter, &others);
    std::vector<long> all(static_cast<std::size_t>(others), -1);
    MPI_Allgather(&mine, 1, MPI_LONG, all.data(), 1, MPI_LONG, inter);
    long seen = 0;
    for (const long one : all) seen += one;
    tally_.check(seen == want, "allgather on an intercommunicator");
    MPI_Comm_free(&inter);
  }

  long stride_;
  int rank_ = 0;
  int ranks_ = 1;
  unsigned long next_ = 1;
  matrix::Tally tally_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const long stride = argc > 1 ? std::atol(argv[1]) : 1;
  const int code = Matrix(std::max(1L, stride)).run();
  MPI_Finalize();
  return code;
}
