// Ring: every rank sends one block to its right neighbour and receives one from its left, n-1 times
// for ReduceScatter and n-1 times for AllGather. Only direct neighbours talk, so it fits a ring
// exactly: one hop, no shared link, never a reconfiguration (Shortcut paper, Eq. 5).
//
// Steps: n-1 per half. Bytes per rank and half: (n-1)/n m. Any n. Commutative only: block r is
// combined in the order r+1, r+2, ..., r.
//
// Three ranks, ReduceScatter (block sent):        AllGather:
//
//   step 0   0 -2-> 1 -0-> 2 -1-> 0                0 -0-> 1 -1-> 2 -2-> 0
//   step 1   0 -1-> 1 -2-> 2 -0-> 0                0 -2-> 1 -0-> 2 -1-> 0
//
// On a twisted base ring "right" and "left" are the ring's, and blocks are numbered by place on it:
// put places for ranks in the drawing.
#include "schedule/ring.hpp"

#include <algorithm>

#include "topology/matching.hpp"

namespace shortcut::schedule::ring {
namespace {

int modulo(int value, int n) { return (value % n + n) % n; }

}  // namespace

Schedule make(const Request& request) {
  const auto& [collective, ranks, base, outline] = request;
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = ranks;
  Step step;
  step.period = 1;
  if (!outline) {
    schedule.ring_order = topology::ring_order(ranks, base);
    const std::vector<int>& order = schedule.ring_order;
    if (collective != Collective::allreduce) schedule.block_owner = order;
    step.send_to.resize(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) {
      step.send_to[static_cast<std::size_t>(order[p])] = order[(p + 1) % order.size()];
    }
    if (topology::is_twisted(ranks, base)) step.period = ranks;
  }
  if (ranks == 1) return schedule;
  step.share = 1.0 / ranks;
  step.repeat = ranks - 1;
  if (collective != Collective::allgather) schedule.steps.push_back(step);
  step.action = Action::gather;
  if (collective != Collective::reduce_scatter) schedule.steps.push_back(step);
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  const int n = schedule.ranks;
  const std::vector<int>& order = schedule.ring_order;
  const int place = static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
  const auto rank_at = [&](int p) { return order[static_cast<std::size_t>(modulo(p, n))]; };
  RankSchedule program;
  for (const Step& group : schedule.steps) {
    // After ReduceScatter the rank at place p owns block p; AllGather starts from there.
    const int lag = group.action == Action::reduce ? 1 : 0;
    for (int s = 0; s < group.repeat; ++s) {
      RankStep mine;
      mine.send_to = rank_at(place + 1);
      mine.recv_from = rank_at(place - 1);
      mine.send = {modulo(place - s - lag, n), 1};
      mine.recv = {modulo(place - s - lag - 1, n), 1};
      mine.action = group.action;
      program.push_back(mine);
    }
  }
  return program;
}

}  // namespace shortcut::schedule::ring
