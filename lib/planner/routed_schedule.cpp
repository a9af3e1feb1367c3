#include "planner/routed_schedule.hpp"

#include <algorithm>
#include <cassert>

namespace shortcut::planner {
namespace {

bool only_fixed(const std::vector<int>& send_to) {
  const int n = static_cast<int>(send_to.size());
  for (int u = 0; u < n; ++u) {
    const int v = send_to[static_cast<std::size_t>(u)];
    if (v != topology::kNobody && v != (u ^ 1)) return false;
  }
  return true;
}

}  // namespace

RoutedSchedule::RoutedSchedule(const schedule::Algorithm& algorithm,
                               schedule::Collective collective, int ranks,
                               topology::Antipodal antipodal, bool all_ports)
    : schedule_(schedule::make_schedule(algorithm, collective, ranks)), antipodal_(antipodal) {
  const topology::Router ring(ranks, topology::CircuitState::ring(), antipodal);
  steps_.reserve(schedule_.steps.size());
  for (const schedule::Step& step : schedule_.steps) {
    RoutedStep routed;
    routed.share = step.share;
    routed.repeat = step.repeat;
    routed.cycle = step.cycle;
    routed.joined = step.joined;
    routed.level = step.level;
    routed.gathers = step.action == schedule::Action::gather;
    routed.has_direct = step.has_direct;
    routed.direct = step.direct;
    routed.on_fixed = only_fixed(step.send_to);
    const auto route = ring.route(step.send_to, step.period);
    assert(route && "every flow can be routed on the ring");
    routed.on_ring = *route;
    levels_ = std::max(levels_, step.level + 1);
    steps_.push_back(routed);
  }
  if (all_ports && ranks > 2) join(ring);
}

void RoutedSchedule::join(const topology::Router& ring) {
  for (std::size_t first = 0; first < steps_.size();) {
    std::size_t end = first + 1;
    while (end < steps_.size() && steps_[end].joined) ++end;
    if (end - first > 1) {
      std::vector<std::span<const int>> patterns;
      for (std::size_t i = first; i < end; ++i) patterns.push_back(schedule_.steps[i].send_to);
      const topology::Route together = ring.route_together(patterns);
      for (std::size_t i = first; i < end; ++i) {
        assert(steps_[i].share == steps_[first].share && steps_[i].level < 0);
        steps_[i].on_ring = together;
        steps_[i].on_fixed = false;
        steps_[i].at_once = i > first;
      }
    }
    first = end;
  }
}

std::optional<topology::Route> RoutedSchedule::route(std::size_t index,
                                                     topology::CircuitState state) const {
  const RoutedStep& step = steps_[index];
  if (state.kind == topology::CircuitState::Kind::ring) return step.on_ring;
  if (step.on_fixed || (step.has_direct && state == step.direct)) return topology::Route{1, 1};
  const topology::Router router(schedule_.ranks, state, antipodal_);
  return router.route(schedule_.steps[index].send_to);
}

}  // namespace shortcut::planner
