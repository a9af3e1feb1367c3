#include "collective/executor.hpp"

#include <algorithm>
#include <cassert>
#include <span>

namespace shortcut::collective {
namespace {

using schedule::Action;
using schedule::BlockRange;

constexpr int kDataTag = 2;
constexpr int kClockTag = 3;
/// Gathered blocks share a message up to this size.
constexpr std::size_t kMostGatheredBytes = std::size_t{1} << 30;

struct Elements {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What one message carries: a run of the vector's elements, and where they land.
struct Piece {
  std::size_t first = 0;   // element of the vector
  std::size_t landed = 0;  // element of the landing
  std::size_t count = 0;
};

std::size_t count_of(const std::vector<Piece>& pieces) {
  return pieces.empty() ? 0 : pieces.back().landed + pieces.back().count;
}

bool overlap(const std::vector<Piece>& one, const std::vector<Piece>& other) {
  for (const Piece& a : one) {
    for (const Piece& b : other) {
      if (a.first < b.first + b.count && b.first < a.first + a.count) return true;
    }
  }
  return false;
}

int rewire(Communicator& comm, topology::CircuitState to, bool charged) {
  const double delta_ns = charged ? comm.parameters().delta_ns : 0.0;
  const Status done = comm.backend().reconfigure(comm.channel(), comm.held(), to, delta_ns);
  if (!done.ok()) return MPI_ERR_OTHER;
  comm.hold(to);
  return MPI_SUCCESS;
}

/// One step's exchange under way.
struct Transfer {
  const ProgramStep* step = nullptr;
  std::vector<Piece> send;
  std::vector<Piece> recv;
  void* landing = nullptr;  // of operands; apart, for elements may overlap their neighbours' gaps
  double their_departure_ns = 0;
};

/// Runs a step, or a group of joined ones, on this rank.
class StepRunner {
 public:
  StepRunner(Communicator& comm, BlockedVector& vector, const Reduction& reduction)
      : comm_(comm), vector_(vector), reduction_(reduction), type_(vector.type) {}

  /// The first step is not joined, the others are: what all send is what the vector holds now, so
  /// nothing is combined before the last has been sent.
  int run(std::span<const ProgramStep> group) {
    reduces_ = group.front().rank.action == Action::reduce;
    transfers_.resize(group.size());
    while (reduces_ && comm_.incoming.size() < group.size()) comm_.incoming.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i) {
      Transfer& transfer = transfers_[i];
      transfer.step = &group[i];
      const schedule::RankStep& rank = group[i].rank;
      cut(rank.send_to >= 0 ? rank.send : BlockRange{}, transfer.send);
      cut(rank.recv_from >= 0 ? rank.recv : BlockRange{}, transfer.recv);
      transfer.landing =
          reduces_ ? comm_.incoming[i].reserve(type_, count_of(transfer.recv)) : nullptr;
      transfer.their_departure_ns = 0;
    }
    const bool early = group.size() == 1 && !overlap(transfers_[0].send, transfers_[0].recv);
    for (std::size_t first = 0; first < group.size() && error_ == MPI_SUCCESS;) {
      std::size_t end = first + 1;
      while (end < group.size() && group[end].at_once) ++end;
      const ProgramStep& step = group[first];
      if (step.reconfigured || step.state != comm_.held()) {
        keep(rewire(comm_, step.state, step.reconfigured));
        if (error_ != MPI_SUCCESS) break;
      }
      run_at_once(first, end, reduces_ && early);
      first = end;
    }
    if (reduces_ && !early) combine();
    return error_;
  }

 private:
  void run_at_once(std::size_t first, std::size_t end, bool reduce_early) {
    comm_.requests.clear();
    const double departure_ns = comm_.backend().now_ns();
    // Receives first, so that nothing arrives unexpected.
    for (std::size_t i = first; i < end; ++i) post_receives(transfers_[i]);
    const bool timed = comm_.backend().capabilities().virtual_time;
    for (std::size_t i = first; timed && i < end; ++i) {
      Transfer& transfer = transfers_[i];
      const int from = transfer.step->rank.recv_from;
      if (from < 0) continue;
      add([&](MPI_Request* r) {
        return PMPI_Irecv(&transfer.their_departure_ns, 1, MPI_DOUBLE, from, kClockTag,
                          comm_.traffic(), r);
      });
    }
    for (std::size_t i = first; i < end; ++i) post_sends(transfers_[i]);
    for (std::size_t i = first; timed && i < end; ++i) {
      const int to = transfers_[i].step->rank.send_to;
      if (to < 0) continue;
      add([&](MPI_Request* r) {
        return PMPI_Isend(&departure_ns, 1, MPI_DOUBLE, to, kClockTag, comm_.traffic(), r);
      });
    }
    // Pieces are reduced as they arrive, while later ones are under way, unless that would change
    // what is still being sent.
    if (reduce_early && error_ == MPI_SUCCESS) {
      const Transfer& transfer = transfers_[first];
      for (std::size_t i = 0; i < transfer.recv.size(); ++i) {
        keep(PMPI_Wait(&comm_.requests[i], MPI_STATUS_IGNORE));
        reduce(transfer, transfer.recv[i]);
      }
    }
    wait_for_all();
    finish(first, end, departure_ns);
  }

  void post_receives(const Transfer& transfer) {
    for (const Piece& piece : transfer.recv) {
      void* to =
          reduces_ ? type_.at(transfer.landing, piece.landed) : type_.at(vector_.base, piece.first);
      add([&](MPI_Request* r) {
        return PMPI_Irecv(to, static_cast<int>(piece.count), type_.type,
                          transfer.step->rank.recv_from, kDataTag, comm_.traffic(), r);
      });
    }
  }

  void post_sends(const Transfer& transfer) {
    for (const Piece& piece : transfer.send) {
      add([&](MPI_Request* r) {
        return PMPI_Isend(type_.at(vector_.base, piece.first), static_cast<int>(piece.count),
                          type_.type, transfer.step->rank.send_to, kDataTag, comm_.traffic(), r);
      });
    }
  }

  /// Cuts a step's run, which may wrap around from the last block to the first, into messages. Both
  /// ends must cut alike.
  void cut(BlockRange range, std::vector<Piece>& pieces) const {
    pieces.clear();
    assert(range.window_count == 0 && "schedules of tori are not run yet");
    const int straight =
        std::min(range.count, static_cast<int>(vector_.first_element.size()) - range.first);
    cut_straight({range.first, straight}, pieces);
    cut_straight({0, range.count - straight}, pieces);
  }

  void cut_straight(BlockRange range, std::vector<Piece>& pieces) const {
    if (range.count == 0) return;
    const std::size_t begin = static_cast<std::size_t>(range.first);
    const std::size_t last = begin + static_cast<std::size_t>(range.count) - 1;
    assert(last < vector_.first_element.size());
    const std::size_t first = vector_.first_element[begin];
    const std::size_t count = vector_.end_element[last] - first;
    if (count == 0) return;
    if (reduces_) {  // one datatype on all ranks
      add_pieces(first, count, piece_elements(), pieces);
      return;
    }
    // What gathers may have other datatypes on the other side: only the ends of blocks and sizes
    // in bytes mean the same there.
    if (count <= kMostElements && count * type_.size <= kMostGatheredBytes) {
      add_pieces(first, count, count, pieces);
      return;
    }
    Elements gathered;
    const auto flush = [&] { add_pieces(gathered.first, gathered.count, kMostElements, pieces); };
    for (std::size_t block = begin; block <= last; ++block) {
      const std::size_t start = vector_.first_element[block];
      const std::size_t more = vector_.end_element[block] - start;
      if (gathered.count > 0 && (gathered.count + more) * type_.size > kMostGatheredBytes) {
        flush();
        gathered.count = 0;
      }
      if (gathered.count == 0) gathered.first = start;
      gathered.count += more;
    }
    flush();
  }

  std::size_t piece_elements() const {
    const std::size_t segment = comm_.settings().segment_bytes;
    if (segment == 0 || type_.size == 0) return kMostElements;
    return std::clamp<std::size_t>(segment / type_.size, 1, kMostElements);
  }

  static void add_pieces(std::size_t first, std::size_t count, std::size_t most,
                         std::vector<Piece>& pieces) {
    for (std::size_t from = 0; from < count; from += most) {
      pieces.push_back({first + from, count_of(pieces), std::min(most, count - from)});
    }
  }

  void wait_for_all() {
    const int count = static_cast<int>(comm_.requests.size());
    if (PMPI_Waitall(count, comm_.requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS) return;
    // Which one failed, and how: those that are done are null and wait no longer.
    for (MPI_Request& request : comm_.requests) keep(PMPI_Wait(&request, MPI_STATUS_IGNORE));
    keep(MPI_ERR_OTHER);
  }

  void keep(int code) {
    if (error_ == MPI_SUCCESS) error_ = code;
  }

  template <class Start>
  void add(const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    keep(start(&request));
    comm_.requests.push_back(request);
  }

  /// Combines what a group brought. Where the order shows, all ranks of a group that reduces among
  /// itself take its operands in rank order, so that all have the same bits.
  void combine() {
    const auto same_run = [this](const Transfer& transfer) {
      const std::vector<Piece>& first = transfers_[0].recv;
      return transfer.recv.size() == first.size() &&
             std::equal(first.begin(), first.end(), transfer.recv.begin(),
                        [](const Piece& a, const Piece& b) {
                          return a.first == b.first && a.count == b.count;
                        });
    };
    const bool among_itself = std::all_of(transfers_.begin(), transfers_.end(), same_run);
    if (!reduction_.ordered || transfers_.size() == 1 || !among_itself) {
      for (const Transfer& transfer : transfers_) {
        for (const Piece& piece : transfer.recv) reduce(transfer, piece);
      }
      return;
    }
    std::vector<const Transfer*> left;
    std::vector<const Transfer*> right;
    for (const Transfer& transfer : transfers_) {
      (transfer.step->rank.recv_from < comm_.rank() ? left : right).push_back(&transfer);
    }
    const auto by_rank = [](const Transfer* a, const Transfer* b) {
      return a->step->rank.recv_from < b->step->rank.recv_from;
    };
    std::sort(left.begin(), left.end(), by_rank);
    std::sort(right.begin(), right.end(), by_rank);
    // All bring the same run of the vector, cut alike.
    for (std::size_t i = 0; i < transfers_[0].recv.size() && error_ == MPI_SUCCESS; ++i) {
      const Piece& piece = transfers_[0].recv[i];
      const int elements = static_cast<int>(piece.count);
      void* own = type_.at(vector_.base, piece.first);
      const void* sum = nullptr;
      const auto take = [&](void* operand) {
        if (sum != nullptr) {
          keep(PMPI_Reduce_local(sum, operand, elements, type_.type, reduction_.op));
        }
        sum = operand;
      };
      const auto landed = [&](const Transfer* transfer) {
        return type_.at(transfer->landing, piece.landed);
      };
      for (const Transfer* transfer : left) take(landed(transfer));
      take(own);
      for (const Transfer* transfer : right) take(landed(transfer));
      if (sum != own) keep(copy_elements(type_, sum, own, piece.count, comm_.traffic()));
    }
  }

  /// Combines a received piece with the vector's elements.
  void reduce(const Transfer& transfer, const Piece& piece) {
    if (error_ != MPI_SUCCESS) return;
    void* theirs = type_.at(transfer.landing, piece.landed);
    void* own = type_.at(vector_.base, piece.first);
    const int elements = static_cast<int>(piece.count);
    if (!reduction_.ordered || transfer.step->rank.received_is_left) {
      keep(PMPI_Reduce_local(theirs, own, elements, type_.type, reduction_.op));
      return;
    }
    keep(PMPI_Reduce_local(own, theirs, elements, type_.type, reduction_.op));
    keep(copy_elements(type_, theirs, own, piece.count, comm_.traffic()));
  }

  void finish(std::size_t first, std::size_t end, double departure_ns) {
    double end_ns = departure_ns;
    double duration_ns = 0;
    for (std::size_t i = first; i < end; ++i) {
      const Transfer& transfer = transfers_[i];
      const auto price = [&](std::size_t count) {
        return model::step_cost(comm_.parameters(), transfer.step->route,
                                static_cast<double>(count * type_.size), false)
            .total_ns();
      };
      if (transfer.step->rank.send_to >= 0) {
        const double sending_ns = price(count_of(transfer.send));
        end_ns = std::max(end_ns, departure_ns + sending_ns);
        duration_ns = std::max(duration_ns, sending_ns);
      }
      if (transfer.step->rank.recv_from >= 0) {
        const double receiving_ns = price(count_of(transfer.recv));
        end_ns = std::max(end_ns, transfer.their_departure_ns + receiving_ns);
        duration_ns = std::max(duration_ns, receiving_ns);
      }
    }
    comm_.backend().finish_step(comm_.channel(), end_ns, duration_ns);
  }

  Communicator& comm_;
  BlockedVector& vector_;
  const Reduction& reduction_;
  const TypeInfo& type_;
  bool reduces_ = false;
  std::vector<Transfer> transfers_;
  int error_ = MPI_SUCCESS;
};

}  // namespace

void add_blocks(BlockedVector& vector, std::size_t first, std::size_t elements, int blocks) {
  const std::size_t count = static_cast<std::size_t>(blocks);
  for (std::size_t i = 0; i < count; ++i) {
    vector.first_element.push_back(first);
    first += elements / count + (i < elements % count ? 1 : 0);
    vector.end_element.push_back(first);
  }
}

void cut_evenly(std::size_t elements, int blocks, BlockedVector& vector) {
  vector.first_element.clear();
  vector.end_element.clear();
  add_blocks(vector, 0, elements, blocks);
}

int execute(Communicator& comm, const planner::Plan& plan, BlockedVector& vector,
            const Reduction& reduction) {
  StepRunner runner(comm, vector, reduction);
  const Program& program = comm.program(plan);
  for (std::size_t first = 0; first < program.size();) {
    std::size_t end = first + 1;
    while (end < program.size() && program[end].rank.joined) ++end;
    const int code = runner.run({program.data() + first, end - first});
    if (code != MPI_SUCCESS) return code;
    first = end;
  }
  if (plan.restores) return rewire(comm, topology::CircuitState::ring(), true);
  if (comm.selector().options().restore != planner::Restore::lazy) {
    // Priced from the ring every time: getting back to it is free by definition.
    return rewire(comm, topology::CircuitState::ring(), false);
  }
  return MPI_SUCCESS;
}

}  // namespace shortcut::collective
