// Neighbour exchange (Chen et al., 2005): pairs of neighbours swap their blocks, then every rank
// turns to its left and right neighbour by turns and swaps the two blocks that came last. As local
// as Ring with half its steps. ReduceScatter is the same backwards (transpose.hpp), AllReduce both.
//
// Steps: n/2 per half. Bytes per rank and half: (n-1)/n m. n even; commutative only where it
// reduces. Blocks stand in rank order; a step's two belong to one pair of ranks.
//
// Six ranks, AllGather, pairs A = 01, B = 23, C = 45; what comes in each step:
//
//   rank     0     1     2     3     4     5
//   step 0   <---->      <---->      <---->        one block: the pair is whole
//   step 1 C ->    <---->      <---->      <- A    1 gets B, 2 gets A, 3 gets C, 4 gets B
//   step 2   <---->      <---->      <---->        0 gets B, 1 gets C, ...: what the other got
#include "schedule/neighbor_exchange.hpp"

#include "schedule/along_ring.hpp"
#include "schedule/transpose.hpp"

namespace shortcut::schedule::neighbor_exchange {
namespace {

int modulo(int value, int n) { return (value % n + n) % n; }

/// Even steps stay within the pairs 2j, 2j+1; odd ones cross to the next pair.
int peer(int ranks, int step, int rank) {
  const bool up = (rank % 2 == 0) == (step % 2 == 0);
  return modulo(rank + (up ? 1 : -1), ranks);
}

/// The first block of the two that come to `rank` in `step` >= 1: the pairs -1, +1, -2, +2, ... of
/// an even rank, mirrored for an odd one. Step 0: the rank's own pair.
int arrives(int ranks, int step, int rank) {
  const int away = step % 2 == 1 ? -(step + 1) / 2 : step / 2;
  return modulo(rank / 2 * 2 + 2 * (rank % 2 == 0 ? away : -away), ranks);
}

Step one_step(int ranks, int step, Action action) {
  Step made;
  made.send_to.resize(static_cast<std::size_t>(ranks));
  for (int r = step % 2; r < ranks; r += 2) {  // the lower of each pair, but for one that wraps
    const int other = r + 1 < ranks ? r + 1 : 0;
    made.send_to[static_cast<std::size_t>(r)] = other;
    made.send_to[static_cast<std::size_t>(other)] = r;
  }
  made.period = 2;
  made.share = (step == 0 ? 1.0 : 2.0) / ranks;
  made.action = action;
  return made;
}

/// Steps first..last (of AllGather, or backwards): a cycle of two, which never begins within the
/// pairs: their fixed links serve whatever the switch holds, and only a step across says what that
/// must be.
void add_steps(std::vector<Step>& steps, int ranks, int first, int last, Action action) {
  const int way = first <= last ? 1 : -1;
  int left = (last - first) * way + 1;
  int step = first;
  const auto add = [&](int cycle, int repeat) {
    for (int i = 0; i < cycle; ++i, step += way) {
      steps.push_back(one_step(ranks, step, action));
      steps.back().cycle = cycle;
      steps.back().repeat = repeat;
    }
    step += way * cycle * (repeat - 1);
    left -= cycle * repeat;
  };
  if (left > 0 && step % 2 == 0) add(1, 1);
  if (left >= 2) add(2, left / 2);
  if (left > 0) add(1, 1);
}

}  // namespace

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
  if (ranks == 1) return schedule;
  const int last = ranks / 2 - 1;
  if (collective != Collective::allgather) {
    if (last > 0) add_steps(schedule.steps, ranks, last, 1, Action::reduce);
    schedule.steps.push_back(one_step(ranks, 0, Action::reduce));
  }
  if (collective != Collective::reduce_scatter) {
    schedule.steps.push_back(one_step(ranks, 0, Action::gather));
    if (last > 0) add_steps(schedule.steps, ranks, 1, last, Action::gather);
  }
  lay_along_ring(schedule, request.base);
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int own_rank) {
  const int rank = place_on_ring(schedule, own_rank);
  const int n = schedule.ranks;
  RankSchedule gather;
  for (int step = 0; step < n / 2; ++step) {
    const int other = peer(n, step, rank);
    RankStep mine{.send_to = other, .recv_from = other, .action = Action::gather};
    mine.send = step == 0 ? BlockRange{rank, 1} : BlockRange{arrives(n, step - 1, rank), 2};
    mine.recv = step == 0 ? BlockRange{other, 1} : BlockRange{arrives(n, step, rank), 2};
    gather.push_back(mine);
  }
  return named_by_rank(schedule, with_transpose(schedule.collective, std::move(gather)));
}

}  // namespace shortcut::schedule::neighbor_exchange
