// What recursive doubling and Swing share: ReduceScatter by halving and AllGather by doubling
// between pairs of ranks, given who meets whom in each step.
//
// Core ranks are laid out in the order that makes every half one run of blocks: after the steps
// 0..i-1 a core owns the aligned run of cores/2^i positions around its own, and step i splits it
// between the pair. The order follows from the matchings: the components of the steps i..L-1.
//
// Ranks beyond a power of two are folded: an extra gives its vector to its partner before, and has
// its result from it after. Seven ranks (r = 3 extras: 1, 3, 5), ReduceScatter:
//
//    rank      0     1    2     3    4     5    6
//    fold      +<----o    +<----o    +<----o    |
//    core      0          1          2          3
//    step 0    +<-------->+          +<-------->+     half the vector
//    step 1    +<-------------------->+                a quarter  (and 1 with 3)
//    unfold    o---->+    o---->+    o---->+
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace shortcut::schedule {

/// Core that `core` meets in `step`, of `cores` (a power of two).
using CorePeer = int (*)(int cores, int step, int core);
/// The circuit state in which step's pairs are direct.
using DirectState = topology::CircuitState (*)(int step);
/// Step::period of a step, where no rank is folded.
using StepPeriod = int (*)(int step);

/// Who meets whom, for all cores at once: peers[step][core].
using Peers = std::vector<std::vector<int>>;

/// Written as a template so that `peer` is inlined: planning for 1,024 ranks calls it 10,000 times.
template <CorePeer peer>
Peers all_peers(int cores) {
  Peers peers;
  for (int step = 0; (1 << step) < cores; ++step) {
    std::vector<int>& row = peers.emplace_back(static_cast<std::size_t>(cores));
    for (int c = 0; c < cores; ++c) row[static_cast<std::size_t>(c)] = peer(cores, step, c);
  }
  return peers;
}

/// The order of cores in which every half is one run, from the components of the remaining
/// matchings.
std::vector<int> halving_order(const Peers& peers);

/// `position[c]`: the place of core c in that order (halving_order, or a closed form). Without
/// peers (and position): an outline, for a power of two of ranks.
Schedule make_pairwise(const Request& request, Peers peers, std::vector<int> position,
                       DirectState direct, StepPeriod period);
RankSchedule pairwise_for_rank(const Schedule& schedule, int rank, CorePeer peer);

}  // namespace shortcut::schedule
