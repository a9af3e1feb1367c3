#include "schedule/pairwise.hpp"

#include <algorithm>
#include <cassert>

#include "topology/matching.hpp"

namespace shortcut::schedule {
namespace {

using topology::Folding;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The pattern of one pairwise step, in ranks.
std::vector<int> exchange(const Folding& folding, std::vector<int> peer) {
  if (folding.extras() == 0) return peer;
  std::vector<int> send_to(at(folding.ranks), -1);
  for (int c = 0; c < folding.cores; ++c) {
    send_to[at(folding.rank_of(c))] = folding.rank_of(peer[at(c)]);
  }
  return send_to;
}

/// Extras send to their partners (towards_core) or have their results from them.
Step fold_step(const Folding& folding, bool towards_core, double share, Action action) {
  Step step;
  step.send_to.assign(at(folding.ranks), -1);
  for (int c = 0; c < folding.extras(); ++c) {
    const int core_rank = folding.rank_of(c);
    const int extra = core_rank + 1;
    step.send_to[at(towards_core ? extra : core_rank)] = towards_core ? core_rank : extra;
  }
  step.period = folding.ranks;
  step.share = share;
  step.action = action;
  return step;
}

/// The blocks that the core at `position` still owns before step `step`.
BlockRange owned(const Schedule& schedule, int position, int step) {
  const int cores = static_cast<int>(schedule.core_position.size());
  const int size = cores >> step;
  const int first = position / size * size;
  const int begin = schedule.first_block[at(first)];
  return {begin, schedule.first_block[at(first + size)] - begin};
}

double largest_share(const Schedule& schedule, int cores, int step) {
  if (schedule.blocks == cores) return 1.0 / (1 << step);  // equal blocks, equal halves
  int most = 0;
  for (int first = 0; first < cores; first += cores >> step) {
    most = std::max(most, owned(schedule, first, step).count);
  }
  return static_cast<double>(most) / schedule.blocks;
}

}  // namespace

std::vector<int> halving_order(const Peers& peers) {
  const std::size_t levels = peers.size();
  const std::size_t cores = std::size_t{1} << levels;
  // position[c] grows from its low bits: the last step decides between neighbours in the order.
  std::vector<int> position(cores, 0);
  std::vector<int> leader(cores);  // smallest core of the component so far
  for (std::size_t c = 0; c < cores; ++c) leader[c] = static_cast<int>(c);
  std::vector<int> merged(cores);
  for (std::size_t step = levels; step-- > 0;) {
    for (std::size_t c = 0; c < cores; ++c) {
      const int other = leader[at(peers[step][c])];
      if (other < leader[c]) position[c] += 1 << (levels - 1 - step);
      merged[c] = std::min(other, leader[c]);
    }
    leader.swap(merged);
  }
  return position;
}

namespace {

/// Sets the order of cores, and whose the blocks are that stand in it.
void lay_out_blocks(Schedule& schedule, const Folding& folding, std::vector<int> position) {
  const bool per_rank = schedule.collective != Collective::allreduce;
  schedule.core_position = std::move(position);
  schedule.first_block.resize(at(folding.cores) + 1);
  std::vector<int> core_at(at(folding.cores));
  for (int c = 0; c < folding.cores; ++c) core_at[at(schedule.core_position[at(c)])] = c;
  if (per_rank) schedule.block_owner.reserve(at(folding.ranks));
  for (int p = 0; p < folding.cores; ++p) {
    const int core = core_at[at(p)];
    const bool two = per_rank && folding.has_extra(core);
    schedule.first_block[at(p) + 1] = schedule.first_block[at(p)] + (two ? 2 : 1);
    if (per_rank) {
      schedule.block_owner.push_back(folding.rank_of(core));
      if (two) schedule.block_owner.push_back(folding.rank_of(core) + 1);
    }
  }
}

}  // namespace

Schedule make_pairwise(const Request& request, Peers peers, std::vector<int> position,
                       DirectState direct, StepPeriod period) {
  const Collective collective = request.collective;
  const int ranks = request.ranks;
  const Folding folding(ranks);
  const int levels = topology::floor_log2(folding.cores);
  const bool outline = position.empty();
  assert(!outline || folding.extras() == 0);

  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = collective != Collective::allreduce ? ranks : folding.cores;
  if (!outline) lay_out_blocks(schedule, folding, std::move(position));
  schedule.steps.reserve(2 * at(levels) + 2);

  const bool folds = folding.extras() > 0;
  const auto add_exchange = [&](int level, Action action) {
    Step step;
    const bool last_use = action == Action::gather || collective == Collective::reduce_scatter;
    if (!outline) {
      step.send_to = last_use ? exchange(folding, std::move(peers[at(level)]))
                              : exchange(folding, peers[at(level)]);
    }
    step.period = folds ? ranks : period(level);
    step.share = largest_share(schedule, folding.cores, level + 1);
    step.action = action;
    step.direct = direct(level);
    step.has_direct = topology::can_hold(ranks, step.direct);
    step.level = level;
    schedule.steps.push_back(std::move(step));
  };
  const double one_block = 1.0 / schedule.blocks;
  if (collective != Collective::allgather) {
    if (folds) schedule.steps.push_back(fold_step(folding, true, 1.0, Action::reduce));
    for (int level = 0; level < levels; ++level) add_exchange(level, Action::reduce);
    if (folds && collective == Collective::reduce_scatter) {
      schedule.steps.push_back(fold_step(folding, false, one_block, Action::gather));
    }
  }
  if (collective != Collective::reduce_scatter) {
    if (folds && collective == Collective::allgather) {
      schedule.steps.push_back(fold_step(folding, true, one_block, Action::gather));
    }
    for (int level = levels - 1; level >= 0; --level) add_exchange(level, Action::gather);
    if (folds) schedule.steps.push_back(fold_step(folding, false, 1.0, Action::gather));
  }
  return schedule;
}

RankSchedule pairwise_for_rank(const Schedule& schedule, int rank, CorePeer peer) {
  const Folding folding(schedule.ranks);
  const bool extra = folding.is_extra(rank);
  const int core = folding.core_of(rank);
  const int position = schedule.core_position[at(core)];
  const BlockRange all{0, schedule.blocks};

  RankSchedule program;
  program.reserve(schedule.steps.size());
  bool reduced = schedule.collective == Collective::allgather;  // the reducing half is over
  for (const Step& step : schedule.steps) {
    RankStep mine;
    mine.action = step.action;
    if (step.level < 0) {
      // Fold or unfold: which of the two shows in who sends.
      const bool towards_core = step.send_to[at(folding.rank_of(0) + 1)] == folding.rank_of(0);
      // An extra's own block stands right behind its partner's.
      BlockRange blocks = all;
      if (step.share < 1.0) blocks = {schedule.first_block[at(position)] + 1, 1};
      if (extra || folding.has_extra(core)) {
        const int partner = extra ? rank - 1 : rank + 1;
        if (extra == towards_core) {
          mine.send_to = partner;
          mine.send = blocks;
        } else {
          mine.recv_from = partner;
          mine.recv = blocks;
        }
      }
      program.push_back(mine);
      continue;
    }
    if (step.action == Action::gather) reduced = true;
    if (!extra) {
      const int other = peer(folding.cores, step.level, core);
      const int other_position = schedule.core_position[at(other)];
      mine.send_to = mine.recv_from = folding.rank_of(other);
      const BlockRange own_half = owned(schedule, position, step.level + 1);
      const BlockRange other_half = owned(schedule, other_position, step.level + 1);
      mine.send = reduced ? own_half : other_half;
      mine.recv = reduced ? other_half : own_half;
      mine.received_is_left = other < core;
    }
    program.push_back(mine);
  }
  return program;
}

}  // namespace shortcut::schedule
