#include "collective/executor.hpp"

#include <algorithm>
#include <cassert>

namespace shortcut::collective {
namespace {

using schedule::Action;
using schedule::BlockRange;

constexpr int kDataTag = 2;
constexpr int kClockTag = 3;

struct Elements {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// One step's exchange on this rank.
class StepRunner {
 public:
  StepRunner(Communicator& comm, BlockedVector& vector, const Reduction& reduction)
      : comm_(comm), vector_(vector), reduction_(reduction), type_(vector.type) {}

  int run(const ProgramStep& step) {
    const schedule::RankStep& rank = step.rank;
    const Elements send = elements(rank.send_to >= 0 ? rank.send : BlockRange{});
    const Elements recv = elements(rank.recv_from >= 0 ? rank.recv : BlockRange{});
    const bool reduces = rank.action == Action::reduce;
    const bool overlap =
        send.first < recv.first + recv.count && recv.first < send.first + send.count;
    void* landing =
        reduces ? comm_.incoming.reserve(type_, recv.count) : type_.at(vector_.base, recv.first);
    comm_.requests.clear();
    // Gathers may pair different datatypes of one signature: their pieces would not match.
    const std::size_t piece = reduces ? piece_elements() : kMostElements;
    // Receives first, so that nothing arrives unexpected.
    const int receives = post(recv.count, piece, [&](std::size_t from, int count, MPI_Request* r) {
      return PMPI_Irecv(type_.at(landing, from), count, type_.type, rank.recv_from, kDataTag,
                        comm_.traffic(), r);
    });
    const bool timed = comm_.backend().capabilities().virtual_time;
    double departure_ns = comm_.backend().now_ns();
    double their_departure_ns = departure_ns;
    if (timed && rank.recv_from >= 0) {
      add([&](MPI_Request* r) {
        return PMPI_Irecv(&their_departure_ns, 1, MPI_DOUBLE, rank.recv_from, kClockTag,
                          comm_.traffic(), r);
      });
    }
    post(send.count, piece, [&](std::size_t from, int count, MPI_Request* r) {
      return PMPI_Isend(type_.at(vector_.base, send.first + from), count, type_.type, rank.send_to,
                        kDataTag, comm_.traffic(), r);
    });
    if (timed && rank.send_to >= 0) {
      add([&](MPI_Request* r) {
        return PMPI_Isend(&departure_ns, 1, MPI_DOUBLE, rank.send_to, kClockTag, comm_.traffic(),
                          r);
      });
    }
    // Pieces are reduced as they arrive, while later ones are under way, unless that would change
    // what is still being sent.
    if (reduces && !overlap && error_ == MPI_SUCCESS) {
      for (int i = 0; i < receives; ++i) {
        keep(PMPI_Wait(&comm_.requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE));
        const std::size_t from = static_cast<std::size_t>(i) * piece;
        reduce(rank, landing, recv.first, from, std::min(piece, recv.count - from));
      }
    }
    keep(PMPI_Waitall(static_cast<int>(comm_.requests.size()), comm_.requests.data(),
                      MPI_STATUSES_IGNORE));
    if (reduces && overlap) {
      for (std::size_t from = 0; from < recv.count; from += piece) {
        reduce(rank, landing, recv.first, from, std::min(piece, recv.count - from));
      }
    }
    finish(step, send.count, recv.count, departure_ns, their_departure_ns);
    return error_;
  }

 private:
  Elements elements(BlockRange range) const {
    if (range.count == 0) return {};
    const std::size_t first = static_cast<std::size_t>(range.first);
    const std::size_t last = first + static_cast<std::size_t>(range.count) - 1;
    assert(last < vector_.first_element.size());
    return {vector_.first_element[first], vector_.end_element[last] - vector_.first_element[first]};
  }

  std::size_t piece_elements() const {
    const std::size_t segment = comm_.settings().segment_bytes;
    if (segment == 0 || type_.size == 0) return kMostElements;
    return std::clamp<std::size_t>(segment / type_.size, 1, kMostElements);
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

  /// Starts one transfer per piece; returns how many.
  template <class Start>
  int post(std::size_t count, std::size_t piece, const Start& start) {
    int pieces = 0;
    for (std::size_t from = 0; from < count; from += piece, ++pieces) {
      const int part = static_cast<int>(std::min(piece, count - from));
      add([&](MPI_Request* r) { return start(from, part, r); });
    }
    return pieces;
  }

  void reduce(const schedule::RankStep& rank, void* landing, std::size_t first, std::size_t from,
              std::size_t count) {
    if (count == 0 || error_ != MPI_SUCCESS) return;
    void* theirs = type_.at(landing, from);
    void* own = type_.at(vector_.base, first + from);
    const int elements = static_cast<int>(count);
    if (!reduction_.ordered || rank.received_is_left) {
      keep(PMPI_Reduce_local(theirs, own, elements, type_.type, reduction_.op));
      return;
    }
    keep(PMPI_Reduce_local(own, theirs, elements, type_.type, reduction_.op));
    keep(copy_elements(type_, theirs, own, count, comm_.traffic()));
  }

  void finish(const ProgramStep& step, std::size_t sent, std::size_t received, double departure_ns,
              double their_departure_ns) {
    const auto price = [&](std::size_t count) {
      return model::step_cost(comm_.parameters(), step.route,
                              static_cast<double>(count * type_.size), false)
          .total_ns();
    };
    double end_ns = departure_ns;
    double duration_ns = 0;
    if (step.rank.send_to >= 0) {
      duration_ns = price(sent);
      end_ns = departure_ns + duration_ns;
    }
    if (step.rank.recv_from >= 0) {
      end_ns = std::max(end_ns, their_departure_ns + price(received));
      duration_ns = std::max(duration_ns, price(received));
    }
    comm_.backend().finish_step(comm_.channel(), end_ns, duration_ns);
  }

  Communicator& comm_;
  BlockedVector& vector_;
  const Reduction& reduction_;
  const TypeInfo& type_;
  int error_ = MPI_SUCCESS;
};

int rewire(Communicator& comm, topology::CircuitState to, bool charged) {
  const double delta_ns = charged ? comm.parameters().delta_ns : 0.0;
  const Status done = comm.backend().reconfigure(comm.channel(), comm.held(), to, delta_ns);
  if (!done.ok()) return MPI_ERR_OTHER;
  comm.hold(to);
  return MPI_SUCCESS;
}

}  // namespace

void cut_evenly(std::size_t elements, int blocks, BlockedVector& vector) {
  const std::size_t count = static_cast<std::size_t>(blocks);
  vector.first_element.resize(count);
  vector.end_element.resize(count);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    vector.first_element[i] = next;
    next += elements / count + (i < elements % count ? 1 : 0);
    vector.end_element[i] = next;
  }
}

int execute(Communicator& comm, const planner::Plan& plan, BlockedVector& vector,
            const Reduction& reduction) {
  StepRunner runner(comm, vector, reduction);
  for (const ProgramStep& step : comm.program(plan)) {
    if (step.reconfigured || step.state != comm.held()) {
      const int code = rewire(comm, step.state, step.reconfigured);
      if (code != MPI_SUCCESS) return code;
    }
    const int code = runner.run(step);
    if (code != MPI_SUCCESS) return code;
  }
  if (plan.restores) return rewire(comm, topology::CircuitState::ring(), true);
  if (comm.selector().options().restore != planner::Restore::lazy) {
    // Priced from the ring every time: getting back to it is free by definition.
    return rewire(comm, topology::CircuitState::ring(), false);
  }
  return MPI_SUCCESS;
}

}  // namespace shortcut::collective
