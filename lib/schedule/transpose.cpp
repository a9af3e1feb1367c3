#include "schedule/transpose.hpp"

#include <algorithm>
#include <utility>

namespace shortcut::schedule {
namespace {

/// Backwards a step is joined to the one that used to be behind it.
template <class Steps>
void turn_round(Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].joined = i + 1 < steps.size() && steps[i + 1].joined;
    steps[i].action = Action::reduce;
  }
  std::reverse(steps.begin(), steps.end());
}

template <class Steps>
Steps both(Collective collective, Steps reduce, Steps gather) {
  if (collective == Collective::reduce_scatter) return reduce;
  if (collective == Collective::allgather) return gather;
  reduce.insert(reduce.end(), std::make_move_iterator(gather.begin()),
                std::make_move_iterator(gather.end()));
  return reduce;
}

}  // namespace

std::vector<Step> transposed(const std::vector<Step>& gather) {
  std::vector<Step> reduce = gather;
  for (std::size_t i = 0; i < gather.size(); ++i) {
    const std::vector<int>& there = gather[i].send_to;
    std::vector<int>& back = reduce[i].send_to;
    std::fill(back.begin(), back.end(), -1);
    for (std::size_t u = 0; u < there.size(); ++u) {
      if (there[u] >= 0) back[static_cast<std::size_t>(there[u])] = static_cast<int>(u);
    }
  }
  turn_round(reduce);
  return reduce;
}

std::vector<Step> with_transpose(Collective collective, std::vector<Step> gather) {
  if (collective == Collective::allgather) return gather;
  std::vector<Step> reduce = transposed(gather);
  return both(collective, std::move(reduce), std::move(gather));
}

RankSchedule with_transpose(Collective collective, RankSchedule gather) {
  if (collective == Collective::allgather) return gather;
  RankSchedule reduce = gather;
  for (RankStep& step : reduce) {
    std::swap(step.send_to, step.recv_from);
    std::swap(step.send, step.recv);
  }
  turn_round(reduce);
  return both(collective, std::move(reduce), std::move(gather));
}

}  // namespace shortcut::schedule
