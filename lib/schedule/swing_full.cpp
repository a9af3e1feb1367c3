// Swing with the full vector: the pairs of Swing (swing.cpp), each exchanging all that it has. Half
// the steps of ReduceScatter + AllGather at log2(n)/2 times its bytes: for short messages, and with
// a third of the hops of recursive_doubling_full where the ring stays as it is.
//
// Steps: log2 n. Bytes per rank: m log2 n. n a power of two; commutative only (groups are not runs
// of ranks).
//
// Eight ranks (six or seven would leave ranks without a peer: not accepted):
//
//   rank    0   1   2   3   4   5   6   7
//   step 0  <--->   <--->   <--->   <--->      rho = 1, m (the fixed links)
//   step 1 ->   <--->   <--->   <--->   <-     rho = -1, m (the ring's other links)
//   step 2  <----------->                      rho = 3, m (and 2-5, 4-7, 6-1)
#include "schedule/swing_full.hpp"

#include "schedule/swing.hpp"
#include "topology/matching.hpp"

namespace shortcut::schedule::swing_full {

Schedule make(const Request& request) {
  const Collective collective = request.collective;
  const int ranks = request.ranks;
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = 1;
  const DirectState direct = swing::direct_states(ranks, request.base);
  for (int level = 0; level < topology::floor_log2(ranks); ++level) {
    Step step;
    for (int r = 0; r < ranks && !request.outline; ++r) {
      step.send_to.push_back(topology::swing_peer(ranks, level, r));
    }
    step.period = 2;
    step.share = 1.0;
    step.level = level;
    step.direct = direct(level);
    step.has_direct = topology::can_hold(ranks, step.direct);
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  const BlockRange all{0, 1};
  RankSchedule program;
  for (const Step& step : schedule.steps) {
    const int peer = topology::swing_peer(schedule.ranks, step.level, rank);
    program.push_back({.send_to = peer, .recv_from = peer, .send = all, .recv = all});
  }
  return program;
}

}  // namespace shortcut::schedule::swing_full
