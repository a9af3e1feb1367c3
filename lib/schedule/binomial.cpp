// Binomial tree: reduce to rank 0, then broadcast from it, the full vector each time. Flows of one
// step never share a link of the ring, and a rank other than 0 does nothing in most steps.
//
// A run of ranks longer than 2^k is cut so that its right part has 2^k; in step k the right part's
// first rank hands what it has to the left part's. So one chain is busy in every step, whatever n.
//
// Steps: 2 ceil(log2 n), any n. Bytes per rank: at most m ceil(log2 n). Keeps rank order: every
// first rank holds the sum of its run and takes the next run from its right.
//
// Six ranks, cut 2 | 4:
//
//   rank     0     1     2     3     4     5
//   step 0   +<----o     +<----o     +<----o     m
//   step 1               +<----------o           m (0 and 1 are done)
//   step 2   +<----------o                       m
//   steps 3, 4, 5: the same arrows backwards, last one first
#include "schedule/binomial.hpp"

#include "schedule/transpose.hpp"
#include "topology/matching.hpp"

namespace shortcut::schedule::binomial {
namespace {

/// The right part of all ranks: the largest power of two below n.
int largest_half(int ranks) {
  int half = 1;
  while (2 * half < ranks) half *= 2;
  return half;
}

/// The broadcast as one rank sees it: in step k it is the first of a run's left part, of its right
/// part, or neither. Largest k first.
RankSchedule broadcast(int ranks, int rank) {
  const BlockRange all{0, 1};
  RankSchedule program;
  int first = 0;
  int size = ranks;  // of the run around `rank`
  for (int half = largest_half(ranks); half >= 1 && ranks > 1; half /= 2) {
    RankStep mine{.action = Action::gather};
    if (size > half) {
      const int cut = first + size - half;
      if (rank == first) {
        mine.send_to = cut;
        mine.send = all;
      } else if (rank == cut) {
        mine.recv_from = first;
        mine.recv = all;
      }
      size = rank < cut ? size - half : half;
      first = rank < cut ? first : cut;
    }
    program.push_back(mine);
  }
  return program;
}

}  // namespace

Schedule make(const Request& request) {
  const Collective collective = request.collective;
  const int ranks = request.ranks;
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = 1;
  std::vector<Step> steps;
  struct Run {
    int first, size;
  };
  std::vector<Run> runs{{0, ranks}};
  for (int half = largest_half(ranks); half >= 1 && ranks > 1; half /= 2) {
    Step& step = steps.emplace_back();
    step.send_to.assign(static_cast<std::size_t>(ranks), -1);
    for (std::size_t i = runs.size(); i-- > 0;) {
      if (runs[i].size <= half) continue;
      const int cut = runs[i].first + runs[i].size - half;
      step.send_to[static_cast<std::size_t>(runs[i].first)] = cut;
      runs[i].size -= half;
      runs.push_back({cut, half});
    }
  }
  int period = ranks;
  for (Step& step : steps) {
    step.period = period;
    if (topology::is_power_of_two(ranks)) period /= 2;
    step.share = 1.0;
    step.action = Action::gather;
  }
  schedule.steps = with_transpose(collective, std::move(steps));
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  // Backwards a first rank takes from its right: received_is_left stays false.
  return with_transpose(schedule.collective, broadcast(schedule.ranks, rank));
}

}  // namespace shortcut::schedule::binomial
