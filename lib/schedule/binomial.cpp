// Binomial tree: reduce to rank 0, then broadcast from it, the full vector each time. Flows of one
// step never share a link of the ring, and a rank other than 0 does nothing in most steps.
//
// Steps: 2 ceil(log2 n), any n. Bytes per rank: at most m ceil(log2 n) (rank 0 in the broadcast).
// Keeps rank order: rank r, a multiple of 2^k, has the sum of ranks r..r+2^k-1 after k steps and
// takes the next run from its right.
//
// Six ranks:
//
//   rank     0     1     2     3     4     5
//   step 0   +<----o     +<----o     +<----o     m
//   step 1   +<----------o                       m (4 has nobody)
//   step 2   +<----------------------o           m; on the ring that is two links the other way
//   steps 3, 4, 5: the same arrows backwards, last one first
#include "schedule/binomial.hpp"

#include "schedule/transpose.hpp"

namespace shortcut::schedule::binomial {
namespace {

/// Does `rank` hand the vector down to rank - distance, of the broadcast's?
bool is_child(int rank, int distance) { return rank % (2 * distance) == distance; }
bool is_parent(int rank, int distance, int ranks) {
  return rank % (2 * distance) == 0 && rank + distance < ranks;
}

/// Of the broadcast's first step; 0: a single rank.
int first_distance(int ranks) {
  int distance = ranks > 1 ? 1 : 0;
  while (ranks > 2 && 2 * distance < ranks) distance *= 2;
  return distance;
}

}  // namespace

Schedule make(Collective collective, int ranks) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = 1;
  std::vector<Step> broadcast;
  for (int distance = first_distance(ranks); distance >= 1; distance /= 2) {
    Step step;
    for (int r = 0; r < ranks; ++r) {
      step.send_to.push_back(is_parent(r, distance, ranks) ? r + distance : -1);
    }
    step.period = ranks % (2 * distance) == 0 ? 2 * distance : ranks;
    step.share = 1.0;
    step.action = Action::gather;
    broadcast.push_back(std::move(step));
  }
  schedule.steps = with_transpose(collective, std::move(broadcast));
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  const BlockRange all{0, 1};
  RankSchedule broadcast;
  for (int distance = first_distance(schedule.ranks); distance >= 1; distance /= 2) {
    RankStep mine{.action = Action::gather};
    if (is_parent(rank, distance, schedule.ranks)) {
      mine.send_to = rank + distance;
      mine.send = all;
    } else if (is_child(rank, distance)) {
      mine.recv_from = rank - distance;
      mine.recv = all;
    }
    broadcast.push_back(mine);
  }
  // Backwards a parent takes from its right: received_is_left stays false.
  return with_transpose(schedule.collective, std::move(broadcast));
}

}  // namespace shortcut::schedule::binomial
