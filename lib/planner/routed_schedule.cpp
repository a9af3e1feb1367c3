#include "planner/routed_schedule.hpp"

#include <algorithm>
#include <cassert>

namespace shortcut::planner {

using topology::CircuitState;

RoutedSchedule::RoutedSchedule(const schedule::Algorithm& algorithm,
                               schedule::Collective collective, int ranks,
                               topology::Antipodal antipodal, topology::BaseRing base,
                               bool all_ports)
    : shape_{ranks, antipodal, base},
      outline_(schedule::make_schedule(
          algorithm, {.collective = collective, .ranks = ranks, .base = base, .outline = true})) {
  steps_.reserve(outline_.steps.size());
  for (std::size_t i = 0; i < outline_.steps.size(); ++i) {
    const schedule::Step& step = outline_.steps[i];
    RoutedStep routed;
    routed.share = step.share;
    routed.repeat = step.repeat;
    routed.cycle = step.cycle;
    routed.joined = step.joined;
    routed.level = step.level;
    routed.gathers = step.action == schedule::Action::gather;
    routed.has_direct = step.has_direct;
    routed.direct = step.direct;
    routed.on_fixed = only_fixed(i);
    routed.on_ring = route_on_ring(i);
    levels_ = std::max(levels_, step.level + 1);
    steps_.push_back(routed);
  }
  if (all_ports && ranks > 2) join();
}

void RoutedSchedule::join() {
  const topology::Router ring(ranks(), CircuitState::ring(), shape_.antipodal, shape_.base);
  for (std::size_t first = 0; first < steps_.size();) {
    std::size_t end = first + 1;
    while (end < steps_.size() && steps_[end].joined) ++end;
    if (end - first > 1) {
      std::vector<std::span<const int>> patterns;
      for (std::size_t i = first; i < end; ++i) patterns.push_back(schedule().steps[i].send_to);
      const topology::Route together = ring.route_together(patterns).value();
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

const schedule::Schedule& RoutedSchedule::schedule() const {
  std::call_once(made_, [this] {
    full_ = schedule::make_schedule(
        algorithm(), {.collective = collective(), .ranks = ranks(), .base = shape_.base});
  });
  return full_;
}

bool RoutedSchedule::only_fixed(std::size_t index) const {
  const std::vector<int>& send_to = outline_.steps[index].send_to;
  if (send_to.empty()) return ranks() == 2 || outline_.steps[index].level == 0;
  for (int u = 0; u < ranks(); ++u) {
    const int v = send_to[static_cast<std::size_t>(u)];
    if (v != topology::kNobody && v != (u ^ 1)) return false;
  }
  return true;
}

topology::Route RoutedSchedule::route_on_ring(std::size_t index) const {
  const CircuitState ring = CircuitState::ring();
  const schedule::Step& outline = outline_.steps[index];
  if (outline.send_to.empty() && has_closed_form(shape_, algorithm().pattern, ring)) {
    return *closed_form(shape_, algorithm().pattern, outline.level, ring);
  }
  const schedule::Step& step = schedule().steps[index];
  const topology::Router router(ranks(), ring, shape_.antipodal, shape_.base);
  const bool plain = !topology::is_twisted(ranks(), shape_.base);
  const auto route = router.route(step.send_to, plain ? step.period : ranks());
  assert(route && "every flow can be routed on the ring");
  return *route;
}

std::optional<topology::Route> RoutedSchedule::route(std::size_t index, CircuitState state) const {
  const RoutedStep& step = steps_[index];
  if (state.kind == CircuitState::Kind::ring) return step.on_ring;
  if (step.on_fixed || (step.has_direct && state == step.direct)) return topology::Route{1, 1};
  if (!topology::can_hold(ranks(), state)) return std::nullopt;
  const schedule::Step& outline = outline_.steps[index];
  if (outline.send_to.empty() && has_closed_form(shape_, algorithm().pattern, state)) {
    return closed_form(shape_, algorithm().pattern, outline.level, state);
  }
  const topology::Router router(ranks(), state, shape_.antipodal, shape_.base);
  return router.route(schedule().steps[index].send_to);
}

}  // namespace shortcut::planner
