// Ring in both directions at once: blocks travel right and left at the same time, each half of the
// way, over both ports of every rank. Half of Ring's steps, and each direction of a link carries
// half of Ring's bytes. ReduceScatter is AllGather backwards (transpose.hpp), AllReduce both.
//
// Steps: floor(n/2) per half. Bytes per rank, half and direction: (n-1)/(2n) m. n >= 3 (two ranks
// have one neighbour). Commutative only where it reduces. Needs ranks that use two ports at once.
// Blocks are halves of a rank's block: with n even the block of the rank opposite comes half from
// either side in the last step.
//
// Five ranks, AllGather, what rank 0 gets (others alike):     Four ranks:
//
//   step 0   4 -4-> 0 <-1- 1                                  3 -3-> 0 <-1- 1
//   step 1   4 -3-> 0 <-2- 1                                  3 -2-> 0 <-2- 1   half of 2 each
#include "schedule/ring_both.hpp"

#include "schedule/along_ring.hpp"
#include "schedule/transpose.hpp"

namespace shortcut::schedule::ring_both {
namespace {

int modulo(int value, int n) { return (value % n + n) % n; }

/// A step rightwards (way 1) or leftwards (way -1).
Step one_way(int ranks, int way, int halves) {
  Step step;
  for (int r = 0; r < ranks; ++r) step.send_to.push_back(modulo(r + way, ranks));
  step.period = 1;
  step.share = halves / (2.0 * ranks);
  step.action = Action::gather;
  step.cycle = 2;
  step.joined = way < 0;
  return step;
}

}  // namespace

Schedule make(const Request& request) {
  const Collective collective = request.collective;
  const int ranks = request.ranks;
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = 2 * ranks;
  if (collective != Collective::allreduce) {
    for (int b = 0; b < 2 * ranks; ++b) schedule.block_owner.push_back(b / 2);
  }
  if (ranks == 1) return schedule;
  std::vector<Step> gather;
  for (const int way : {1, -1}) {
    gather.push_back(one_way(ranks, way, 2));
    gather.back().repeat = (ranks - 1) / 2;
  }
  if (ranks % 2 == 0) {
    for (const int way : {1, -1}) gather.push_back(one_way(ranks, way, 1));
  }
  schedule.steps = with_transpose(collective, std::move(gather));
  lay_along_ring(schedule, request.base);
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int own_rank) {
  const int rank = place_on_ring(schedule, own_rank);
  const int n = schedule.ranks;
  RankSchedule gather;
  for (int s = 0; s < n / 2; ++s) {
    const bool opposite = 2 * (s + 1) == n;
    for (const int way : {1, -1}) {
      // The opposite rank's first half comes from the left, its second from the right.
      const int second = opposite && way < 0 ? 1 : 0;
      const int count = opposite ? 1 : 2;
      gather.push_back({.send_to = modulo(rank + way, n),
                        .recv_from = modulo(rank - way, n),
                        .send = {2 * modulo(rank - way * s, n) + second, count},
                        .recv = {2 * modulo(rank - way * (s + 1), n) + second, count},
                        .action = Action::gather,
                        .joined = way < 0});
    }
  }
  return named_by_rank(schedule, with_transpose(schedule.collective, std::move(gather)));
}

}  // namespace shortcut::schedule::ring_both
