#include "planner/torus_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "support/units.hpp"

namespace shortcut::planner {
namespace {

using schedule::Collective;
using topology::CircuitState;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// One step of a part, repetitions expanded.
struct PartStep {
  std::size_t planned = 0;  // index into the ring plan's steps
  bool gathers = false;
};

std::vector<PartStep> expanded(const Plan& ring) {
  std::vector<PartStep> steps;
  schedule::in_order(ring.steps, [&](std::size_t i, int) {
    steps.push_back({i, ring.routed->steps()[i].gathers});
  });
  return steps;
}

/// The steps of a part on the way in: as schedule/torus.cpp splits them.
std::size_t steps_in(const std::vector<PartStep>& steps, Collective collective, bool scatters) {
  if (!scatters || collective == Collective::reduce_scatter) return steps.size();
  std::size_t reducing = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].gathers) reducing = i + 1;
  }
  return reducing;
}

/// visit(lane, part, expanded step, phase, state, charged) in an order in which each dimension's
/// states follow each other; returns what is held at the end.
template <class Visit>
DimensionStates walk(Collective collective, const TorusComposition& composition,
                     DimensionStates held, const Visit& visit) {
  const auto& lanes = composition.lanes;
  const std::size_t parts = lanes.front().size();
  std::vector<std::vector<std::vector<PartStep>>> steps;
  for (const auto& lane : lanes) {
    auto& own = steps.emplace_back();
    for (const TorusChoice& choice : lane) own.push_back(expanded(*choice.ring));
  }
  for (std::size_t phase = 0; phase < 2 * parts; ++phase) {
    const bool way_in = phase < parts;
    const std::size_t part = way_in ? phase : 2 * parts - 1 - phase;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const TorusChoice& choice = lanes[lane][part];
      const std::vector<PartStep>& own = steps[lane][part];
      const std::size_t middle = steps_in(own, collective, choice.scatters);
      for (std::size_t i = way_in ? 0 : middle; i < (way_in ? middle : own.size()); ++i) {
        CircuitState& now = held[at(choice.dimension)];
        const PlannedStep& planned = choice.ring->steps[own[i].planned];
        const CircuitState wanted = planned.on_fixed ? now : planned.state;
        visit(lane, part, i, phase, planned, wanted, wanted != now);
        now = wanted;
      }
    }
  }
  return held;
}

/// Of the message that a part works on.
std::vector<std::vector<double>> shares_of(const std::vector<int>& dims,
                                           const TorusComposition& composition) {
  std::vector<std::vector<double>> shares;
  const std::size_t parts = composition.lanes.size() * (composition.twins ? 2 : 1);
  for (const auto& lane : composition.lanes) {
    auto& own = shares.emplace_back();
    double share = 1.0 / static_cast<double>(parts);
    for (const TorusChoice& choice : lane) {
      own.push_back(share);
      if (choice.scatters) share /= dims[at(choice.dimension)];
    }
  }
  return shares;
}

}  // namespace

double TorusPlan::predicted_ns(double bytes) const { return tangent(*this, bytes).at(bytes); }

model::Line tangent(const TorusPlan& plan, double bytes) {
  model::Line sum{plan.restore_ns, 0};
  for (const auto& lanes : plan.phases) {
    sum += *std::max_element(lanes.begin(), lanes.end(), [bytes](const auto& a, const auto& b) {
      return a.at(bytes) < b.at(bytes);
    });
  }
  return sum;
}

TorusPlan price_torus(const Options& options, const std::vector<int>& dims, Collective collective,
                      const TorusComposition& composition, const DimensionStates& start) {
  TorusPlan plan;
  plan.dims = dims;
  const auto& lanes = composition.lanes;
  plan.lanes = static_cast<int>(lanes.size());
  plan.twins = composition.twins;
  plan.start = start;
  plan.phases.assign(2 * lanes.front().size(), std::vector<model::Line>(lanes.size()));
  const auto shares = shares_of(dims, composition);
  plan.end = walk(collective, composition, start,
                  [&](std::size_t lane, std::size_t part, std::size_t, std::size_t phase,
                      const PlannedStep& step, CircuitState, bool charged) {
                    model::Line& sum = plan.phases[phase][lane];
                    if (charged) sum.fixed_ns += options.fabric.delta_ns;
                    if (step.at_once) return;
                    sum += model::step_line(options.fabric, step.route,
                                            step.share * shares[lane][part], false);
                  });
  if (options.restore == Restore::eager) {
    for (CircuitState& state : plan.end) {
      if (state == CircuitState::ring()) continue;
      ++plan.restored;
      plan.restore_ns = options.fabric.delta_ns;  // all at the same time
      state = CircuitState::ring();
    }
  }
  return plan;
}

Plan expand_torus(const Options& options, const std::vector<int>& dims, Collective collective,
                  const TorusComposition& composition, const DimensionStates& start, double bytes) {
  auto torus =
      std::make_shared<TorusPlan>(price_torus(options, dims, collective, composition, start));
  const auto& lanes = composition.lanes;
  const auto shares = shares_of(dims, composition);
  schedule::TorusRequest request{.collective = collective,
                                 .dims = dims,
                                 .base = options.fabric.base_ring,
                                 .lanes = {},
                                 .twins = composition.twins,
                                 .outline = true};
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    schedule::TorusLane& own = request.lanes.emplace_back();
    for (std::size_t part = 0; part < lanes[lane].size(); ++part) {
      const TorusChoice& choice = lanes[lane][part];
      own.push_back({choice.dimension, &choice.ring->algorithm(), choice.scatters});
      torus->parts.push_back({static_cast<int>(lane), choice.dimension, choice.scatters,
                              shares[lane][part], *choice.ring});
    }
  }
  schedule::TorusSchedule made = schedule::make_torus_schedule(request);

  Plan plan;
  plan.threshold = plan.threshold_gather = -1;
  plan.line = tangent(*torus, bytes);
  plan.restores = torus->restored > 0;
  // What the walk says of each step of each part, to be put in the schedule's order.
  std::vector<std::vector<std::vector<PlannedStep>>> of(
      lanes.size(), std::vector<std::vector<PlannedStep>>(lanes.front().size()));
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::size_t part = 0; part < lanes[lane].size(); ++part) {
      of[lane][part].resize(expanded(*lanes[lane][part].ring).size());
    }
  }
  walk(collective, composition, start,
       [&](std::size_t lane, std::size_t part, std::size_t i, std::size_t phase,
           const PlannedStep& step, CircuitState state, bool charged) {
         PlannedStep& planned = of[lane][part][i];
         planned = step;
         planned.state = state;
         planned.reconfigured = charged;
         planned.share *= shares[lane][part];
         planned.repeat = planned.cycle = 1;
         planned.dimension = lanes[lane][part].dimension;
         planned.lane = static_cast<int>(lane);
         planned.phase = static_cast<int>(phase);
         plan.reconfigurations += charged ? 1 : 0;
       });
  for (const auto& origin : made.origins) {
    const int lane = composition.twins ? origin.lane / 2 : origin.lane;
    plan.steps.push_back(of[at(lane)][at(origin.part)][at(origin.step)]);
    if (composition.twins && origin.lane % 2 == 1) {
      plan.steps.back().at_once = true;
      plan.steps.back().reconfigured = false;
    }
  }
  plan.reconfigurations += torus->restored;
  torus->schedule = std::move(made.schedule);
  plan.torus = std::move(torus);
  return plan;
}

std::string describe(const TorusPlan& plan) {
  std::vector<std::string> lanes(at(plan.lanes));
  for (const PlannedPart& part : plan.parts) {
    std::string& text = lanes[at(part.lane)];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.dimension, describe(part.ring));
  }
  const std::string dims = topology::format_dims(plan.dims);
  if (plan.lanes == 1) return fmt::format("torus {}: {}", dims, lanes.front());
  return fmt::format("torus {}, {} lanes{}: [{}]", dims, plan.lanes, plan.twins ? " both ways" : "",
                     fmt::join(lanes, "] ["));
}

std::vector<std::string> state_list(const TorusPlan& plan, const std::vector<PlannedStep>& steps) {
  std::vector<std::string> list;
  for (int k = 0; k < static_cast<int>(plan.dims.size()); ++k) {
    Plan line;
    for (const PlannedStep& step : steps) {
      if (step.dimension == k) line.steps.push_back(step);
    }
    if (line.steps.empty()) continue;
    list.push_back(fmt::format("{}: {}", k, fmt::join(state_list(line), ", ")));
  }
  return list;
}

std::string torus_reason(const SelectionTable& table, const Plan& plan, double bytes) {
  const double own = plan.predicted_ns(bytes);
  std::string text = describe(plan) + ": " + format_time_ns(own);
  if (table.has_ring()) {
    const double ring = table.ring().at(bytes);
    text += fmt::format(" against {} with ring in each dimension ({:.2f}x)", format_time_ns(ring),
                        ring / own);
  } else {
    text += "; ring cannot serve this operation";
  }
  text += fmt::format(", {} reconfiguration{}", plan.reconfigurations,
                      plan.reconfigurations == 1 ? "" : "s");
  const auto& asked = table.asked();
  if (!asked.algorithm.empty()) {
    std::vector<int> other;
    for (const PlannedPart& part : plan.torus->parts) {
      const bool known = std::find(other.begin(), other.end(), part.dimension) != other.end();
      if (part.ring.algorithm_name() != asked.algorithm && !known) other.push_back(part.dimension);
    }
    text += fmt::format("; {} was asked for", asked.algorithm);
    if (!other.empty()) {
      text += fmt::format(" but cannot serve dimension{} {}", other.size() > 1 ? "s" : "",
                          fmt::join(other, ", "));
    }
  }
  return text;
}

}  // namespace shortcut::planner
