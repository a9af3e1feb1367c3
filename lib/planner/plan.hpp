// Plans: an algorithm with a circuit state for each of its steps, priced.
//
// The threshold rule (Shortcut paper, section IV-B): steps whose level is below T run on the ring,
// the others each on the state made for them. AllReduce is planned jointly: T for the reducing
// half, T' for the gathering half, and whatever state the one leaves the other starts from.
//
// The optimal plan takes any state for any step: state_search.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cost.hpp"
#include "planner/routed_schedule.hpp"

namespace shortcut::planner {

enum class Planner {
  threshold,  ///< one switch from the ring to the steps' own states, as published
  optimal,    ///< the cheapest sequence of states, sub-rings among them
};

enum class Rule {
  best,            ///< the cheapest threshold
  first_feasible,  ///< the smallest threshold that is no dearer than Ring (Eq. 6 as printed)
};

/// What happens to the circuits at the end of a plan.
enum class Restore {
  none,   ///< every plan is priced from the ring; nothing is charged for getting back to it
  eager,  ///< going back to the ring is charged to this plan
  lazy,   ///< the next plan starts from the state that this one leaves
};

struct Options {
  model::FabricParameters fabric;
  model::Accounting accounting = model::Accounting::exact;
  Restore restore = Restore::lazy;
  Rule rule = Rule::best;
  Planner planner = Planner::optimal;  ///< see searches_states
  bool subrings = true;                ///< whether the optimal planner may use them
  double min_gain = 1.0;               ///< Ring unless ring / predicted exceeds it; > 0
  bool reconfigurable = true;          ///< false: an ordinary cluster, static choices only
  std::string algorithm = "auto";      ///< or a registry name
  int threshold = -1;                  ///< -1: free; else T = T' = threshold
  bool all_ports = false;              ///< ranks use both of their ports at once
  bool two_halves = false;             ///< AllReduce only by schedule::can_scatter (torus parts)
};

/// One candidate: a line, and what it takes to expand it into a plan.
struct Candidate {
  const RoutedSchedule* routed = nullptr;
  int threshold = 0;         ///< T; levels(): static; -1: no threshold describes it
  int threshold_gather = 0;  ///< T' of AllReduce's second half; else equal to `threshold`
  model::Line line;
  /// Per step, from the state search; empty: what the thresholds say.
  std::vector<topology::CircuitState> states;
  int reconfigurations = 0;
  topology::CircuitState end;
};

/// A step of an expanded plan, repetitions folded as in the schedule.
struct PlannedStep {
  topology::CircuitState state;
  topology::Route route;
  bool reconfigured = false;
  double share = 0;
  int repeat = 1;
  int cycle = 1;          ///< schedule::Step::cycle
  bool at_once = false;   ///< costs nothing of its own: runs with the step in front
  bool on_fixed = false;  ///< runs over fixed links alone, whatever the circuits are
  int dimension = 0;      ///< of a torus; so lane and phase: see schedule::Step
  int lane = 0;
  int phase = 0;
};

struct TorusPlan;  // torus_plan.hpp

struct Plan {
  /// Null: the MPI library's own (fallback), or a plan for a torus.
  const RoutedSchedule* routed = nullptr;
  std::shared_ptr<const TorusPlan> torus;  ///< what a plan for a torus is made of, else null
  int threshold = 0;  ///< -1: no threshold describes the states; then threshold_gather too
  int threshold_gather = 0;
  model::Line line;
  int reconfigurations = 0;
  topology::CircuitState start;
  topology::CircuitState end;
  bool restores = false;  ///< goes back to the ring at its end (Restore::eager)
  std::vector<PlannedStep> steps;

  bool native() const { return routed == nullptr && torus == nullptr; }
  std::string_view algorithm_name() const { return native() ? "native" : algorithm().name; }
  /// Not of a native plan.
  const schedule::Algorithm& algorithm() const { return *schedule_head().algorithm; }
  /// In full, made on first use (on a torus without patterns); not of a native plan.
  const schedule::Schedule& schedule() const;
  double predicted_ns(double bytes) const;

 private:
  const schedule::Schedule& schedule_head() const;
};

/// Prices the thresholds (T, T') of one algorithm, starting from `start`.
Candidate price(const Options& options, const RoutedSchedule& routed, int threshold,
                int threshold_gather, topology::CircuitState start);

/// Every threshold that the options allow, T falling from static to 0, so that of equals the one
/// that rewires least comes first.
std::vector<Candidate> candidates(const Options& options, const RoutedSchedule& routed,
                                  topology::CircuitState start);

/// Prices any sequence of states, one per step; nullopt when a step is unreachable on its state.
std::optional<Candidate> price(const Options& options, const RoutedSchedule& routed,
                               std::vector<topology::CircuitState> states,
                               topology::CircuitState start);

/// Sets the thresholds of a candidate with states to those that give the same states, or to -1.
void set_threshold(Candidate& candidate, topology::CircuitState start);

/// The steps of a candidate, in full.
Plan expand(const Options& options, const Candidate& candidate, topology::CircuitState start);

/// The states step by step, neighbouring equal ones once: "ring x4", "subring:4-6 x3".
std::vector<std::string> state_list(const Plan& plan);

/// "ring", "recursive_doubling T=3", "recursive_doubling T=3 T'=2", "recursive_doubling_full
/// optimal (ring x4, subring:4-6 x3)".
std::string describe(const Plan& plan);

}  // namespace shortcut::planner
