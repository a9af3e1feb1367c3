// Collectives on a whole torus, composed of ring algorithms: one dimension after the other.
//
// A lane visits the dimensions in some order, each by a ring algorithm on the rings parallel to it.
// AllReduce goes in and comes out again: a dimension that scatters runs its reducing half on the
// way in, so that the dimensions behind it work on 1/d_k of the message, and its gathering half on
// the way out; one that does not runs its whole AllReduce where it stands. ReduceScatter is the way
// in, AllGather the way out, all dimensions scattering.
//
// 4 x 2 ranks, AllReduce, dimension 0 scatters (quarters), dimension 1 does not:
//
//   phase 0   along 0: ReduceScatter of m       rank (x, y) ends with quarter x of its row's sum
//   phase 1   along 1: AllReduce of m/4         quarter x of the sum of all
//   phase 2   along 0: AllGather                all quarters
//
// With several lanes (all ports in use; with twins both directions of each dimension) each has an
// equal part of the message and, in every phase, a dimension of its own, so that no two lanes ever
// use the same port. A phase ends when all lanes are through with it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "schedule/registry.hpp"
#include "topology/torus.hpp"

namespace shortcut::schedule {

/// A dimension's place in a lane.
struct TorusPart {
  int dimension = 0;
  const Algorithm* algorithm = nullptr;  ///< a registry row that serves rings of d_k ranks
  bool scatters = true;                  ///< false: its whole AllReduce, the message stays as it is
};

/// Dimensions in the order of the way in; each once.
using TorusLane = std::vector<TorusPart>;

struct TorusRequest {
  Collective collective = Collective::allreduce;
  std::vector<int> dims;  ///< every size >= 2
  topology::BaseRing base = topology::BaseRing::plain;
  std::vector<TorusLane> lanes = {};  ///< in every phase in different dimensions
  /// Every lane twice, the second time mirrored: coordinate x as -x, so that what the one sends to
  /// the right, the other sends to the left. The two share the lane's number and run joined.
  bool twins = false;
  bool outline = false;  ///< no patterns (Step::send_to)
};

/// Can a dimension of AllReduce scatter by this algorithm: has it two halves, with equally many
/// blocks of every rank between them?
bool can_scatter(const Algorithm& algorithm, int ranks);

/// The schedule, and what it is made of: for plans, which price the parts.
struct TorusSchedule {
  Schedule schedule;
  /// Per step of the schedule: which lane and part it belongs to, and which step of that part's own
  /// schedule it is, repetitions expanded.
  struct Origin {
    int lane = 0;  ///< with twins 2 * lane, and one more for the mirrored
    int part = 0;
    int step = 0;
  };
  std::vector<Origin> origins;
};

/// Ranks are endpoints of topology::Torus. No step repeats. The lanes must be as described
/// (asserted).
TorusSchedule make_torus_schedule(const TorusRequest& request);

}  // namespace shortcut::schedule
