// Recursive doubling with the full vector: in step i every rank exchanges all it has with the rank
// whose number differs in bit i, and both reduce. Half the steps of ReduceScatter + AllGather at
// log2(n)/2 times its bytes: for short messages.
//
// Steps: log2 n, and two more when n is no power of two. Bytes per rank: m log2 n. Keeps rank
// order.
//
// Six ranks (r = 2 extras: 1, 3):
//
//   rank    0     1    2     3    4    5
//   fold    +<----o    +<----o    |    |       m
//   step 0  +<-------->+          +<-->+       m, cores 0-1, 2-3
//   step 1  +<------------------->+            m, cores 0-2, 1-3
//   unfold  o---->+    o---->+                 m
#include "schedule/recursive_doubling_full.hpp"

#include "topology/matching.hpp"

namespace shortcut::schedule::recursive_doubling_full {

Schedule make(const Request& request) {
  const int ranks = request.ranks;
  const topology::Folding folding(ranks);
  Schedule schedule;
  schedule.collective = request.collective;
  schedule.ranks = ranks;
  schedule.blocks = 1;
  const std::size_t size = static_cast<std::size_t>(ranks);
  const auto add_fold = [&](bool towards_core) {
    if (folding.extras() == 0) return;
    Step step;
    step.send_to.assign(size, -1);
    for (int c = 0; c < folding.extras(); ++c) {
      const int core_rank = folding.rank_of(c);
      const int from = towards_core ? core_rank + 1 : core_rank;
      step.send_to[static_cast<std::size_t>(from)] = towards_core ? core_rank : core_rank + 1;
    }
    step.period = ranks;
    step.share = 1.0;
    step.action = towards_core ? Action::reduce : Action::gather;
    schedule.steps.push_back(std::move(step));
  };
  add_fold(true);
  for (int level = 0; level < topology::floor_log2(folding.cores); ++level) {
    Step step;
    const bool outline = request.outline && folding.extras() == 0;
    if (!outline) step.send_to.assign(size, -1);
    for (int c = 0; c < folding.cores && !outline; ++c) {
      step.send_to[static_cast<std::size_t>(folding.rank_of(c))] =
          folding.rank_of(c ^ (1 << level));
    }
    step.period = folding.extras() == 0 ? 2 << level : ranks;
    step.share = 1.0;
    step.level = level;
    step.direct = topology::CircuitState::peer(level);
    step.has_direct = topology::can_hold(ranks, step.direct);
    schedule.steps.push_back(std::move(step));
  }
  add_fold(false);
  return schedule;
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  const topology::Folding folding(schedule.ranks);
  const bool extra = folding.is_extra(rank);
  const int core = folding.core_of(rank);
  const BlockRange all{0, 1};
  RankSchedule program;
  for (const Step& step : schedule.steps) {
    RankStep mine;
    mine.action = step.action;
    const int peer = step.level >= 0 ? folding.rank_of(core ^ (1 << step.level))
                     : extra         ? rank - 1
                                     : rank + 1;
    const bool folds_in = step.level < 0 && step.action == Action::reduce;
    const bool takes_part = step.level >= 0 ? !extra : (extra || folding.has_extra(core));
    const bool sends = takes_part && (step.level >= 0 || extra == folds_in);
    const bool receives = takes_part && (step.level >= 0 || extra != folds_in);
    if (sends) mine.send_to = peer;
    if (sends) mine.send = all;
    if (receives) mine.recv_from = peer;
    if (receives) mine.recv = all;
    mine.received_is_left = peer < rank;
    program.push_back(mine);
  }
  return program;
}

}  // namespace shortcut::schedule::recursive_doubling_full
