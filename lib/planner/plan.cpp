#include "planner/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "planner/torus_plan.hpp"

namespace shortcut::planner {
namespace {

using topology::CircuitState;

/// The one place that decides which state serves a step; calls visit(step index, state, charged).
template <class Visit>
CircuitState walk(model::Accounting accounting, const RoutedSchedule& routed, int threshold,
                  int threshold_gather, CircuitState start, const Visit& visit) {
  const bool paper = accounting == model::Accounting::paper;
  const bool joint = routed.collective() == schedule::Collective::allreduce;
  CircuitState held = start;
  for (std::size_t i = 0; i < routed.steps().size(); ++i) {
    const RoutedStep& step = routed.steps()[i];
    const int limit = joint && step.gathers ? threshold_gather : threshold;
    const bool switched = step.level >= limit && step.level >= 0 && step.has_direct;
    CircuitState wanted = switched ? step.direct : CircuitState::ring();
    bool charged = paper && switched;
    if (!paper) {
      if (step.on_fixed) wanted = held;  // the fixed links serve it whatever the switch holds
      charged = wanted != held;
    }
    visit(i, wanted, charged);
    held = wanted;
  }
  return held;
}

/// The same for states that are given.
template <class Visit>
CircuitState walk(const std::vector<CircuitState>& states, CircuitState start, const Visit& visit) {
  CircuitState held = start;
  for (std::size_t i = 0; i < states.size(); ++i) {
    visit(i, states[i], states[i] != held);
    held = states[i];
  }
  return held;
}

void restore(const Options& options, Candidate& candidate) {
  if (options.restore != Restore::eager || candidate.end == CircuitState::ring()) return;
  candidate.line.fixed_ns += options.fabric.delta_ns;
  ++candidate.reconfigurations;
  candidate.end = CircuitState::ring();
}

}  // namespace

const schedule::Schedule& Plan::schedule() const {
  return torus ? torus->schedule : routed->schedule();
}

const schedule::Schedule& Plan::schedule_head() const {
  return torus ? torus->schedule : routed->outline();
}

double Plan::predicted_ns(double bytes) const {
  return torus ? torus->predicted_ns(bytes) : line.at(bytes);
}

Candidate price(const Options& options, const RoutedSchedule& routed, int threshold,
                int threshold_gather, CircuitState start) {
  Candidate candidate;
  candidate.routed = &routed;
  candidate.threshold = threshold;
  candidate.threshold_gather = threshold_gather;
  candidate.end =
      walk(options.accounting, routed, threshold, threshold_gather, start,
           [&](std::size_t i, CircuitState state, bool charged) {
             const RoutedStep& step = routed.steps()[i];
             // Every planned state is the ring, the step's own, or one beside links
             // that are fixed: the last two are direct.
             const bool on_ring = state.kind == CircuitState::Kind::ring && !step.on_fixed;
             const topology::Route route = on_ring ? step.on_ring : topology::Route{1, 1};
             if (!step.at_once) {
               candidate.line +=
                   model::step_line(options.fabric, route, step.share, false).scaled(step.repeat);
             }
             if (charged) candidate.line.fixed_ns += options.fabric.delta_ns;
             candidate.reconfigurations += charged ? 1 : 0;
           });
  restore(options, candidate);
  return candidate;
}

std::optional<Candidate> price(const Options& options, const RoutedSchedule& routed,
                               std::vector<CircuitState> states, CircuitState start) {
  Candidate candidate;
  candidate.routed = &routed;
  bool reachable = true;
  candidate.end = walk(states, start, [&](std::size_t i, CircuitState state, bool charged) {
    const RoutedStep& step = routed.steps()[i];
    const auto route = routed.route(i, state);
    reachable &= route.has_value();
    if (!route) return;
    if (!step.at_once) {
      candidate.line +=
          model::step_line(options.fabric, *route, step.share, false).scaled(step.repeat);
    }
    if (charged) candidate.line.fixed_ns += options.fabric.delta_ns;
    candidate.reconfigurations += charged ? 1 : 0;
  });
  if (!reachable) return std::nullopt;
  restore(options, candidate);
  candidate.states = std::move(states);
  set_threshold(candidate, start);
  return candidate;
}

void set_threshold(Candidate& candidate, CircuitState start) {
  const RoutedSchedule& routed = *candidate.routed;
  const bool joint = routed.collective() == schedule::Collective::allreduce;
  // The lowest level that is not on the ring says which thresholds it could be.
  int lowest[2] = {routed.levels(), routed.levels()};
  bool halves[2] = {false, false};
  for (std::size_t i = 0; i < candidate.states.size(); ++i) {
    const RoutedStep& step = routed.steps()[i];
    if (step.level < 0) continue;
    const int half = joint && step.gathers ? 1 : 0;
    halves[half] = true;
    if (step.on_fixed || candidate.states[i] == CircuitState::ring()) continue;
    lowest[half] = std::min(lowest[half], step.level);
  }
  if (!halves[1]) lowest[1] = lowest[0];
  if (!halves[0]) lowest[0] = lowest[1];
  bool same = true;
  walk(model::Accounting::exact, routed, lowest[0], lowest[1], start,
       [&](std::size_t i, CircuitState state, bool) { same &= candidate.states[i] == state; });
  candidate.threshold = same ? lowest[0] : -1;
  candidate.threshold_gather = same ? lowest[1] : -1;
}

std::vector<Candidate> candidates(const Options& options, const RoutedSchedule& routed,
                                  CircuitState start) {
  const int levels = routed.levels();
  std::vector<Candidate> result;
  const auto add = [&](int threshold, int threshold_gather) {
    result.push_back(price(options, routed, threshold, threshold_gather, start));
  };
  const bool static_only = !options.reconfigurable || !routed.algorithm().reconfigures;
  if (static_only || levels == 0) {
    add(levels, levels);
    return result;
  }
  if (options.threshold >= 0) {
    const int threshold = std::min(options.threshold, levels);
    add(threshold, threshold);
    return result;
  }
  // Two halves only where there is a gathering half with levels (not the full-vector form).
  bool joint = false;
  for (const RoutedStep& step : routed.steps()) joint |= step.gathers && step.level >= 0;
  joint &= routed.collective() == schedule::Collective::allreduce;
  result.reserve(static_cast<std::size_t>(joint ? (levels + 1) * (levels + 1) : levels + 1));
  for (int threshold = levels; threshold >= 0; --threshold) {
    if (!joint || options.rule == Rule::first_feasible) {
      add(threshold, threshold);
      continue;
    }
    for (int gather = levels; gather >= 0; --gather) add(threshold, gather);
  }
  return result;
}

Plan expand(const Options& options, const Candidate& candidate, CircuitState start) {
  Plan plan;
  plan.routed = candidate.routed;
  plan.threshold = candidate.threshold;
  plan.threshold_gather = candidate.threshold_gather;
  plan.line = candidate.line;
  plan.reconfigurations = candidate.reconfigurations;
  plan.start = start;
  plan.end = candidate.end;
  plan.steps.reserve(candidate.routed->steps().size());
  const auto add = [&](std::size_t i, CircuitState state, bool charged) {
    const RoutedStep& step = candidate.routed->steps()[i];
    PlannedStep& planned = plan.steps.emplace_back();
    planned.state = state;
    planned.route = candidate.routed->route(i, state).value();
    planned.reconfigured = charged;
    planned.share = step.share;
    planned.repeat = step.repeat;
    planned.cycle = step.cycle;
    planned.at_once = step.at_once;
    planned.on_fixed = step.on_fixed;
  };
  const CircuitState last = candidate.states.empty()
                                ? walk(options.accounting, *candidate.routed, candidate.threshold,
                                       candidate.threshold_gather, start, add)
                                : walk(candidate.states, start, add);
  plan.restores = last != candidate.end;
  return plan;
}

std::vector<std::string> state_list(const Plan& plan) {
  if (plan.torus) return state_list(*plan.torus, plan.steps);
  std::vector<std::string> states;
  for (std::size_t i = 0; i < plan.steps.size();) {
    const CircuitState state = plan.steps[i].state;
    int run = 0;
    for (; i < plan.steps.size() && plan.steps[i].state == state; ++i) {
      run += plan.steps[i].at_once ? 0 : plan.steps[i].repeat;
    }
    states.push_back(run == 1 ? to_string(state) : fmt::format("{} x{}", to_string(state), run));
  }
  return states;
}

std::string describe(const Plan& plan) {
  if (plan.torus) return describe(*plan.torus);
  if (plan.native() || !plan.algorithm().reconfigures) {
    return std::string(plan.algorithm_name());
  }
  if (plan.threshold < 0) {
    return fmt::format("{} optimal ({})", plan.algorithm_name(), fmt::join(state_list(plan), ", "));
  }
  if (plan.reconfigurations == 0) return fmt::format("{} static", plan.algorithm_name());
  if (plan.threshold == plan.threshold_gather) {
    return fmt::format("{} T={}", plan.algorithm_name(), plan.threshold);
  }
  return fmt::format("{} T={} T'={}", plan.algorithm_name(), plan.threshold, plan.threshold_gather);
}

}  // namespace shortcut::planner
