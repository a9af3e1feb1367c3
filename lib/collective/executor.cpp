#include "collective/executor.hpp"

#include <algorithm>
#include <cassert>
#include <span>

#include "planner/torus_plan.hpp"

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

/// What a step wants of the circuits, if it is not so already.
void want(Communicator& comm, int dimension, int lane, topology::CircuitState to, bool charged,
          std::vector<fabric::Change>& changes) {
  const topology::CircuitState held = comm.held()[static_cast<std::size_t>(dimension)];
  if (!charged && to == held) return;
  const double delta_ns = charged ? comm.parameters().delta_ns : 0.0;
  changes.push_back({&comm.channel(dimension), held, to, delta_ns, lane, dimension});
}

int rewire(Communicator& comm, const std::vector<fabric::Change>& changes) {
  if (changes.empty()) return MPI_SUCCESS;
  if (!comm.backend().reconfigure(changes).ok()) return MPI_ERR_OTHER;
  for (const fabric::Change& change : changes) comm.hold(change.dimension, change.to);
  return MPI_SUCCESS;
}

/// One step's exchange under way.
struct Transfer {
  const ProgramStep* step = nullptr;
  bool reduces = false;
  std::vector<Piece> send;
  std::vector<Piece> recv;
  void* landing = nullptr;  // of operands; apart, for elements may overlap their neighbours' gaps
  double departure_ns = 0;
  double their_departure_ns = 0;
};

/// Runs a step, or a group of joined ones, on this rank.
class StepRunner {
 public:
  StepRunner(Communicator& comm, BlockedVector& vector, const Reduction& reduction)
      : comm_(comm), vector_(vector), reduction_(reduction), type_(vector.type) {}

  /// The first step is not joined, the others are: what all send is what the vector holds now, so
  /// nothing is combined before the last has been sent. Steps of one lane follow each other; lanes
  /// run at the same time.
  int run(std::span<const ProgramStep> group) {
    prepare(group);
    lanes_.clear();
    for (std::size_t first = 0; first < group.size();) {
      std::size_t end = first + 1;
      while (end < group.size() && group[end].lane == group[first].lane) ++end;
      lanes_.push_back({first, first, end});
      first = end;
    }
    const bool early = group.size() == 1 && transfers_[0].reduces &&
                       !overlap(transfers_[0].send, transfers_[0].recv);
    while (error_ == MPI_SUCCESS) {
      together_.clear();
      changes_.clear();
      for (Lane& lane : lanes_) {
        if (lane.next == lane.end) continue;
        const ProgramStep& step = group[lane.next];
        want(comm_, step.dimension, step.lane, step.state, step.reconfigured, changes_);
        do {
          together_.push_back(lane.next++);
        } while (lane.next < lane.end && group[lane.next].at_once);
      }
      if (together_.empty()) break;
      keep(rewire(comm_, changes_));
      if (error_ == MPI_SUCCESS) run_at_once(early);
    }
    for (const Lane& lane : lanes_) {
      if (!early) combine({transfers_.data() + lane.first, lane.end - lane.first});
    }
    return error_;
  }

 private:
  /// A lane's steps in the group: indices.
  struct Lane {
    std::size_t first = 0;
    std::size_t next = 0;
    std::size_t end = 0;
  };

  void prepare(std::span<const ProgramStep> group) {
    transfers_.resize(group.size());
    while (comm_.incoming.size() < group.size()) comm_.incoming.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i) {
      Transfer& transfer = transfers_[i];
      transfer.step = &group[i];
      const schedule::RankStep& rank = group[i].rank;
      transfer.reduces = rank.action == Action::reduce;
      cut(rank.send_to >= 0 ? rank.send : BlockRange{}, transfer.reduces, transfer.send);
      cut(rank.recv_from >= 0 ? rank.recv : BlockRange{}, transfer.reduces, transfer.recv);
      transfer.landing =
          transfer.reduces ? comm_.incoming[i].reserve(type_, count_of(transfer.recv)) : nullptr;
      transfer.their_departure_ns = 0;
    }
  }

  /// Runs the steps together_.
  void run_at_once(bool reduce_early) {
    comm_.requests.clear();
    const bool timed = comm_.backend().capabilities().virtual_time;
    // Receives first, so that nothing arrives unexpected.
    for (const std::size_t i : together_) post_receives(transfers_[i]);
    for (const std::size_t i : together_) {
      Transfer& transfer = transfers_[i];
      transfer.departure_ns = comm_.backend().now_ns(transfer.step->lane);
      const int from = transfer.step->rank.recv_from;
      if (!timed || from < 0) continue;
      add([&](MPI_Request* r) {
        return PMPI_Irecv(&transfer.their_departure_ns, 1, MPI_DOUBLE, from, kClockTag,
                          comm_.traffic(), r);
      });
    }
    for (const std::size_t i : together_) post_sends(transfers_[i]);
    for (const std::size_t i : together_) {
      const int to = transfers_[i].step->rank.send_to;
      if (!timed || to < 0) continue;
      add([&](MPI_Request* r) {
        return PMPI_Isend(&transfers_[i].departure_ns, 1, MPI_DOUBLE, to, kClockTag,
                          comm_.traffic(), r);
      });
    }
    // Pieces are reduced as they arrive, while later ones are under way, unless that would change
    // what is still being sent.
    if (reduce_early && error_ == MPI_SUCCESS) {
      const Transfer& transfer = transfers_[0];
      for (std::size_t i = 0; i < transfer.recv.size(); ++i) {
        keep(PMPI_Wait(&comm_.requests[i], MPI_STATUS_IGNORE));
        reduce(transfer, transfer.recv[i]);
      }
    }
    wait_for_all();
    finish();
  }

  void post_receives(const Transfer& transfer) {
    for (const Piece& piece : transfer.recv) {
      void* to = transfer.reduces ? type_.at(transfer.landing, piece.landed)
                                  : type_.at(vector_.base, piece.first);
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

  /// Cuts a step's run, which may wrap around from its window's last block to the first, into
  /// messages. Both ends must cut alike.
  void cut(BlockRange range, bool reduces, std::vector<Piece>& pieces) const {
    pieces.clear();
    const int window = range.window_count > 0 ? range.window_count
                                              : static_cast<int>(vector_.first_element.size());
    const int straight = std::min(range.count, range.window_first + window - range.first);
    cut_straight({range.first, straight}, reduces, pieces);
    cut_straight({range.window_first, range.count - straight}, reduces, pieces);
  }

  void cut_straight(BlockRange range, bool reduces, std::vector<Piece>& pieces) const {
    if (range.count == 0) return;
    const std::size_t begin = static_cast<std::size_t>(range.first);
    const std::size_t last = begin + static_cast<std::size_t>(range.count) - 1;
    assert(last < vector_.first_element.size());
    const std::size_t first = vector_.first_element[begin];
    const std::size_t count = vector_.end_element[last] - first;
    if (count == 0) return;
    if (reduces) {  // one datatype on all ranks
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

  /// Combines what one lane of a group brought. Where the order shows, all ranks of a group that
  /// reduces among itself take its operands in rank order, so that all have the same bits.
  void combine(std::span<const Transfer> transfers) {
    if (error_ != MPI_SUCCESS || !transfers[0].reduces) return;
    const auto same_run = [&](const Transfer& transfer) {
      const std::vector<Piece>& first = transfers[0].recv;
      return transfer.recv.size() == first.size() &&
             std::equal(first.begin(), first.end(), transfer.recv.begin(),
                        [](const Piece& a, const Piece& b) {
                          return a.first == b.first && a.count == b.count;
                        });
    };
    const bool among_itself = std::all_of(transfers.begin(), transfers.end(), same_run);
    if (!reduction_.ordered || transfers.size() == 1 || !among_itself) {
      for (const Transfer& transfer : transfers) {
        for (const Piece& piece : transfer.recv) reduce(transfer, piece);
      }
      return;
    }
    std::vector<const Transfer*> left;
    std::vector<const Transfer*> right;
    for (const Transfer& transfer : transfers) {
      (transfer.step->rank.recv_from < comm_.rank() ? left : right).push_back(&transfer);
    }
    const auto by_rank = [](const Transfer* a, const Transfer* b) {
      return a->step->rank.recv_from < b->step->rank.recv_from;
    };
    std::sort(left.begin(), left.end(), by_rank);
    std::sort(right.begin(), right.end(), by_rank);
    // All bring the same run of the vector, cut alike.
    for (std::size_t i = 0; i < transfers[0].recv.size() && error_ == MPI_SUCCESS; ++i) {
      const Piece& piece = transfers[0].recv[i];
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

  /// Ends the steps together_, lane by lane.
  void finish() {
    for (auto first = together_.begin(); first != together_.end();) {
      const ProgramStep& step = *transfers_[*first].step;
      double end_ns = transfers_[*first].departure_ns;
      double duration_ns = 0;
      for (; first != together_.end() && transfers_[*first].step->lane == step.lane; ++first) {
        const Transfer& transfer = transfers_[*first];
        const auto price = [&](std::size_t count) {
          return model::step_cost(comm_.parameters(), transfer.step->route,
                                  static_cast<double>(count * type_.size), false)
              .total_ns();
        };
        if (transfer.step->rank.send_to >= 0) {
          const double sending_ns = price(count_of(transfer.send));
          end_ns = std::max(end_ns, transfer.departure_ns + sending_ns);
          duration_ns = std::max(duration_ns, sending_ns);
        }
        if (transfer.step->rank.recv_from >= 0) {
          const double receiving_ns = price(count_of(transfer.recv));
          end_ns = std::max(end_ns, transfer.their_departure_ns + receiving_ns);
          duration_ns = std::max(duration_ns, receiving_ns);
        }
      }
      comm_.backend().finish_step(comm_.channel(step.dimension), end_ns, duration_ns, step.lane);
    }
  }

  Communicator& comm_;
  BlockedVector& vector_;
  const Reduction& reduction_;
  const TypeInfo& type_;
  std::vector<Transfer> transfers_;      // one per step of the group
  std::vector<Lane> lanes_;              // the group's
  std::vector<std::size_t> together_;    // steps of the group that run at the same time
  std::vector<fabric::Change> changes_;  // that they want
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
  const int lanes = plan.torus ? plan.torus->lanes : 1;
  fabric::Backend& backend = comm.backend();
  int code = MPI_SUCCESS;
  for (std::size_t first = 0; first < program.size() && code == MPI_SUCCESS;) {
    const bool new_phase = first == 0 || program[first].phase != program[first - 1].phase;
    if (lanes > 1 && new_phase) {  // all lanes end a phase before the next begins
      backend.end_lanes();
      backend.begin_lanes(lanes);
    }
    std::size_t end = first + 1;
    while (end < program.size() && program[end].rank.joined) ++end;
    code = runner.run({program.data() + first, end - first});
    first = end;
  }
  if (lanes > 1) backend.end_lanes();
  if (code != MPI_SUCCESS) return code;
  // Priced from the ring every time, getting back to it is free by definition.
  if (!plan.restores && comm.options().restore == planner::Restore::lazy) return MPI_SUCCESS;
  std::vector<fabric::Change> changes;
  for (std::size_t k = 0; k < comm.held().size(); ++k) {
    const bool charged = plan.restores && comm.held()[k] != topology::CircuitState::ring();
    want(comm, static_cast<int>(k), 0, topology::CircuitState::ring(), charged, changes);
  }
  return rewire(comm, changes);
}

}  // namespace shortcut::collective
