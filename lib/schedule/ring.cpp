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
#include "schedule/ring.hpp"

namespace shortcut::schedule::ring {
namespace {

int modulo(int value, int n) { return (value % n + n) % n; }

}  // namespace

Schedule make(Collective collective, int ranks) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = ranks;
  if (collective != Collective::allreduce) {
    for (int r = 0; r < ranks; ++r) schedule.block_owner.push_back(r);
  }
  if (ranks == 1) return schedule;
  Step step;
  for (int r = 0; r < ranks; ++r) step.send_to.push_back((r + 1) % ranks);
  step.period = 1;
  step.share = 1.0 / ranks;
  step.repeat = ranks - 1;
  if (collective != Collective::allgather) schedule.steps.push_back(step);
  step.action = Action::gather;
  if (collective != Collective::reduce_scatter) schedule.steps.push_back(step);
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  const int n = schedule.ranks;
  RankSchedule program;
  for (const Step& group : schedule.steps) {
    // After ReduceScatter rank r owns block r; AllGather starts from there.
    const int lag = group.action == Action::reduce ? 1 : 0;
    for (int s = 0; s < group.repeat; ++s) {
      RankStep mine;
      mine.send_to = (rank + 1) % n;
      mine.recv_from = modulo(rank - 1, n);
      mine.send = {modulo(rank - s - lag, n), 1};
      mine.recv = {modulo(rank - s - lag - 1, n), 1};
      mine.action = group.action;
      program.push_back(mine);
    }
  }
  return program;
}

}  // namespace shortcut::schedule::ring
