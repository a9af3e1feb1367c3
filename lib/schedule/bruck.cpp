// Bruck (Bruck et al., 1997): in step k of AllGather every rank sends all the blocks that it has,
// at most 2^k, to the rank 2^k below, so the run of blocks that starts at its own doubles. The last
// step sends what is missing. ReduceScatter is the same backwards (transpose.hpp), AllReduce both.
//
// Steps: ceil(log2 n) per half, any n and no folding. Bytes per rank and half: (n-1)/n m. Blocks
// stand in rank order; a run may wrap around from the last block to the first. Commutative only
// where it reduces.
//
// Five ranks, AllGather; the blocks that a rank has after each step:
//
//   rank      0      1      2      3      4
//   start     0      1      2      3      4
//   step 0    01     12     23     34     40       from the rank 1 above: 1 block
//   step 1    0123   1234   2340   3401   4012     from the rank 2 above: 2 blocks
//   step 2    all    all    all    all    all      from the rank 4 above: 1 block
#include "schedule/bruck.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/along_ring.hpp"
#include "schedule/transpose.hpp"

namespace shortcut::schedule::bruck {

Schedule make(const Request& request) {
  const Collective collective = request.collective;
  const int ranks = request.ranks;
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = ranks;
  if (collective != Collective::allreduce) {
    for (int r = 0; r < ranks; ++r) schedule.block_owner.push_back(r);
  }
  std::vector<Step> gather;
  for (int distance = 1; distance < ranks; distance *= 2) {
    Step step;
    step.send_to.resize(static_cast<std::size_t>(ranks));
    std::iota(step.send_to.begin(), step.send_to.begin() + distance, ranks - distance);
    std::iota(step.send_to.begin() + distance, step.send_to.end(), 0);
    step.period = 1;
    step.share = static_cast<double>(std::min(distance, ranks - distance)) / ranks;
    step.action = Action::gather;
    gather.push_back(std::move(step));
  }
  schedule.steps = with_transpose(collective, std::move(gather));
  lay_along_ring(schedule, request.base);
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int own_rank) {
  const int rank = place_on_ring(schedule, own_rank);
  const int n = schedule.ranks;
  RankSchedule gather;
  for (int distance = 1; distance < n; distance *= 2) {
    const int count = std::min(distance, n - distance);
    const int above = (rank + distance) % n;
    gather.push_back({.send_to = (rank - distance + n) % n,
                      .recv_from = above,
                      .send = {rank, count},
                      .recv = {above, count},
                      .action = Action::gather});
  }
  return named_by_rank(schedule, with_transpose(schedule.collective, std::move(gather)));
}

}  // namespace shortcut::schedule::bruck
