// The cheapest circuit states for the steps of one algorithm: a shortest path over (step, state).
//
// An edge costs the step on its state (Eq. 1), and delta when the state changes. Steps on the fixed
// links run whatever the switched ports hold and never change it. The states are, for exchanges
// between ranks that differ in one bit, the ring, every sub-ring a-b and every peer i; for Swing
// the ring and Swing's own matchings, which are rings of all ranks too. Every threshold schedule is
// such a path, so the search is never worse than the threshold rule. AllReduce is one path through
// both of its halves.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan.hpp"

namespace shortcut::planner {

class StateSearch {
 public:
  /// Prices every step on every state that reaches it: O(levels^3) closed forms where n is a power
  /// of two. `routed` must outlive the search.
  StateSearch(const Options& options, const RoutedSchedule& routed);

  /// The cheapest path at this size from any starting state; O(steps * states). Of paths of equal
  /// price one that changes states late. Its threshold is set where a threshold describes it.
  Candidate at(double bytes, topology::CircuitState start) const;

  const RoutedSchedule& routed() const { return *routed_; }
  const std::vector<topology::CircuitState>& states() const { return states_; }

 private:
  struct Choice {
    int state = 0;  // index into states_
    model::Line line;
  };
  struct Stage {
    bool fixed = false;
    model::Line fixed_line;
    std::size_t first = 0, end = 0;  // its choices, shared by steps of equal level and share
  };
  /// The path backwards from the end, for every state that may be held before a step.
  struct Path {
    std::vector<int> best;           // per step: the choice to change to
    std::vector<std::uint8_t> stay;  // per step and state: 1 + offset of the choice to stay on
  };
  void list_states();
  void list_choices();
  Path solve(double bytes) const;

  const RoutedSchedule* routed_;
  model::FabricParameters fabric_;
  Restore restore_;
  bool reconfigurable_;
  bool subrings_;
  std::vector<topology::CircuitState> states_;
  std::vector<Stage> stages_;
  std::vector<Choice> choices_;
};

/// Does the search apply, or does something in the options ask for the threshold rule: the planner
/// itself, a threshold, the rule first-feasible, accounting as printed, or nothing to rewire?
bool searches_states(const Options& options);

}  // namespace shortcut::planner
