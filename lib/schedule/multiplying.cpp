#include "schedule/multiplying.hpp"

#include <algorithm>

namespace shortcut::schedule {
namespace {

/// One exchange: the rank `shift` digits on, in groups of `factor` ranks at distance `stride`.
struct Exchange {
  int stride;
  int factor;
  int shift;
  int peer(int rank, int way) const {
    const int digit = rank / stride % factor;
    const int other = (digit + way * shift + factor) % factor;
    return rank + (other - digit) * stride;
  }
};

std::vector<Exchange> exchanges(int ranks, int radix) {
  std::vector<int> factors;
  for (int factor = radix; factor >= 2; --factor) {
    for (; ranks % factor == 0; ranks /= factor) factors.push_back(factor);
  }
  std::reverse(factors.begin(), factors.end());
  std::vector<Exchange> all;
  int stride = 1;
  for (const int factor : factors) {
    for (int shift = 1; shift < factor; ++shift) all.push_back({stride, factor, shift});
    stride *= factor;
  }
  return all;
}

}  // namespace

Schedule make_multiplying(Collective collective, int ranks, int radix) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.ranks = ranks;
  schedule.blocks = 1;
  for (const Exchange& exchange : exchanges(ranks, radix)) {
    Step step;
    const int group = exchange.stride * exchange.factor;
    step.send_to.reserve(static_cast<std::size_t>(ranks));
    while (static_cast<int>(step.send_to.size()) < ranks) {
      const int first = static_cast<int>(step.send_to.size());
      for (int u = 0; u < group; ++u) {  // the digit goes up by shift, modulo the factor
        const int there = u + exchange.shift * exchange.stride;
        step.send_to.push_back(first + (there < group ? there : there - group));
      }
    }
    step.period = group == ranks ? 1 : group;
    step.share = 1.0;
    step.joined = exchange.shift > 1;
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

RankSchedule multiplying_for_rank(int ranks, int rank, int radix) {
  const BlockRange all{0, 1};
  RankSchedule program;
  for (const Exchange& exchange : exchanges(ranks, radix)) {
    const int from = exchange.peer(rank, -1);
    const bool from_left = from < rank;
    program.push_back({.send_to = exchange.peer(rank, 1),
                       .recv_from = from,
                       .send = all,
                       .recv = all,
                       .received_is_left = from_left,
                       .joined = exchange.shift > 1});
  }
  return program;
}

}  // namespace shortcut::schedule
