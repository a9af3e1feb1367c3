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
                               topology::Antipodal antipodal)
    : schedule_(schedule::make_schedule(algorithm, collective, ranks)), antipodal_(antipodal) {
  const topology::Router ring(ranks, topology::CircuitState::ring(), antipodal);
  steps_.reserve(schedule_.steps.size());
  for (const schedule::Step& step : schedule_.steps) {
    RoutedStep routed;
    routed.share = step.share;
    routed.repeat = step.repeat;
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
