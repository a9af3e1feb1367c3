#include "planner/plan.hpp"

#include <fmt/format.h>

namespace shortcut::planner {
namespace {

using topology::CircuitState;

/// The one place that decides which state serves a step; calls visit(step index, state, charged).
template <class Visit>
CircuitState walk(const Options& options, const RoutedSchedule& routed, int threshold,
                  int threshold_gather, CircuitState start, const Visit& visit) {
  const bool paper = options.accounting == model::Accounting::paper;
  const bool joint = routed.schedule().collective == schedule::Collective::allreduce;
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

}  // namespace

Candidate price(const Options& options, const RoutedSchedule& routed, int threshold,
                int threshold_gather, CircuitState start) {
  Candidate candidate;
  candidate.routed = &routed;
  candidate.threshold = threshold;
  candidate.threshold_gather = threshold_gather;
  candidate.end =
      walk(options, routed, threshold, threshold_gather, start,
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
  if (options.restore == Restore::eager && candidate.end != CircuitState::ring()) {
    candidate.line.fixed_ns += options.fabric.delta_ns;
    ++candidate.reconfigurations;
    candidate.end = CircuitState::ring();
  }
  return candidate;
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
  joint &= routed.schedule().collective == schedule::Collective::allreduce;
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
  plan.schedule = &candidate.routed->schedule();
  plan.threshold = candidate.threshold;
  plan.threshold_gather = candidate.threshold_gather;
  plan.line = candidate.line;
  plan.reconfigurations = candidate.reconfigurations;
  plan.start = start;
  plan.end = candidate.end;
  const CircuitState last =
      walk(options, *candidate.routed, candidate.threshold, candidate.threshold_gather, start,
           [&](std::size_t i, CircuitState state, bool charged) {
             const RoutedStep& step = candidate.routed->steps()[i];
             plan.steps.push_back({state, candidate.routed->route(i, state).value(), charged,
                                   step.share, step.repeat, step.cycle, step.at_once});
           });
  plan.restores = last != candidate.end;
  return plan;
}

std::string describe(const Plan& plan) {
  if (plan.native() || !plan.schedule->algorithm->reconfigures) {
    return std::string(plan.algorithm_name());
  }
  if (plan.reconfigurations == 0) return fmt::format("{} static", plan.algorithm_name());
  if (plan.threshold == plan.threshold_gather) {
    return fmt::format("{} T={}", plan.algorithm_name(), plan.threshold);
  }
  return fmt::format("{} T={} T'={}", plan.algorithm_name(), plan.threshold, plan.threshold_gather);
}

}  // namespace shortcut::planner
