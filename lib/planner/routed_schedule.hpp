// A schedule with the cost of each step on each circuit state that could serve it, independent of
// times and sizes: in closed form where there is one, else by the router, once per (algorithm,
// collective, ranks).
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "schedule/registry.hpp"
#include "topology/router.hpp"

namespace shortcut::planner {

/// One step (or run of equal steps), routed.
struct RoutedStep {
  double share = 0;
  int repeat = 1;
  int cycle = 1;        ///< schedule::Step::cycle
  bool joined = false;  ///< schedule::Step::joined
  /// Runs at the same time as the step in front, whose price has this one's in it.
  bool at_once = false;
  int level = -1;
  bool gathers = false;
  /// All its flows run over the fixed ports, so any circuit state serves it directly.
  bool on_fixed = false;
  bool has_direct = false;
  topology::CircuitState direct;
  topology::Route on_ring;  ///< with all that runs at once
};

class RoutedSchedule {
 public:
  /// `all_ports`: ranks use both ports at once, so joined steps run at the same time.
  RoutedSchedule(const schedule::Algorithm& algorithm, schedule::Collective collective, int ranks,
                 topology::Antipodal antipodal, topology::BaseRing base = topology::BaseRing::plain,
                 bool all_ports = false);

  const schedule::Algorithm& algorithm() const { return *outline_.algorithm; }
  schedule::Collective collective() const { return outline_.collective; }
  int ranks() const { return outline_.ranks; }
  /// The schedule in full, patterns and all: made on first use, O(n * steps). Thread-safe.
  const schedule::Schedule& schedule() const;
  /// As far as planning needs it.
  const schedule::Schedule& outline() const { return outline_; }
  const std::vector<RoutedStep>& steps() const { return steps_; }
  /// Levels that a threshold counts: T runs from 0 (every step reconfigured) to levels() (static).
  int levels() const { return levels_; }

  /// The route of step `index` on `state`; nullopt: unreachable there, or no state of this fabric.
  std::optional<topology::Route> route(std::size_t index, topology::CircuitState state) const;

 private:
  void join();
  bool only_fixed(std::size_t index) const;
  topology::Route route_on_ring(std::size_t index) const;

  topology::RingShape shape_;
  schedule::Schedule outline_;
  mutable std::once_flag made_;
  mutable schedule::Schedule full_;
  std::vector<RoutedStep> steps_;
  int levels_ = 0;
};

}  // namespace shortcut::planner
