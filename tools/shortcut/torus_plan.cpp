#include "shortcut/torus_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "planner/torus_selector.hpp"
#include "shortcut/commands.hpp"
#include "shortcut/output.hpp"
#include "shortcut/plan_options.hpp"
#include "support/units.hpp"

namespace shortcut::cli {
namespace {

using nlohmann::ordered_json;
using planner::Plan;
using planner::PlannedPart;
using planner::PlannedStep;

/// What a torus is measured against.
struct Comparison {
  std::string what;
  double ns = 0;
};

double cost_of(const TorusArguments& given, const PlannedStep& step, double bytes) {
  if (step.at_once) return step.reconfigured ? given.options.fabric.delta_ns : 0.0;
  return model::step_cost(given.options.fabric, step.route, step.share * bytes, step.reconfigured)
      .total_ns();
}

/// Steps lane by lane: lanes run at the same time.
std::vector<PlannedStep> by_lane(const Plan& plan) {
  std::vector<PlannedStep> steps = plan.steps;
  std::stable_sort(steps.begin(), steps.end(), [](const PlannedStep& a, const PlannedStep& b) {
    return std::pair(a.phase, a.lane) < std::pair(b.phase, b.lane);
  });
  return steps;
}

std::string json_text(const TorusArguments& given, const Plan& plan,
                      const planner::SelectionTable& table, const std::vector<Comparison>& others) {
  const auto bytes = static_cast<double>(given.bytes);
  const double predicted = plan.predicted_ns(bytes);
  ordered_json json;
  json["collective"] = schedule::to_string(given.collective);
  json["nodes"] = plan.schedule().ranks;
  json["dims"] = plan.torus->dims;
  json["bytes"] = given.bytes;
  json["planner"] = planner::searches_states(given.options) ? "optimal" : "threshold";
  json["algorithm"] = plan.algorithm_name();
  json["plan"] = planner::describe(plan);
  json["lanes"] = plan.torus->lanes;
  json["parts"] = ordered_json::array();
  for (const PlannedPart& part : plan.torus->parts) {
    const auto threshold = [&](int value) {
      return part.ring.algorithm().reconfigures && value >= 0 ? ordered_json(value)
                                                              : ordered_json(nullptr);
    };
    json["parts"].push_back({{"lane", part.lane},
                             {"dimension", part.dimension},
                             {"algorithm", part.ring.algorithm_name()},
                             {"threshold", threshold(part.ring.threshold)},
                             {"scatters", part.scatters},
                             {"bytes", part.share * bytes}});
  }
  json["predicted_ns"] = predicted;
  const bool compared = table.has_ring();
  const double ring = table.ring().at(bytes);
  json["ring_ns"] = compared ? ordered_json(ring) : ordered_json(nullptr);
  json["speedup_vs_ring"] = compared ? ordered_json(ring / predicted) : ordered_json(nullptr);
  json["reconfigurations"] = plan.reconfigurations;
  json["restore_ns"] = plan.torus->restore_ns;
  json["reason"] = planner::reason(table, plan, bytes);
  json["steps"] = ordered_json::array();
  int index = 0;
  for (const PlannedStep& step : by_lane(plan)) {
    json["steps"].push_back({{"index", index++},
                             {"phase", step.phase},
                             {"lane", step.lane},
                             {"dimension", step.dimension},
                             {"state", topology::to_string(step.state)},
                             {"hops", step.route.hops},
                             {"congestion", step.route.congestion},
                             {"bytes", step.share * bytes},
                             {"at_once", step.at_once},
                             {"reconfigured", step.reconfigured},
                             {"cost_ns", cost_of(given, step, bytes)}});
  }
  json["candidates"] = ordered_json::array();
  for (const Comparison& other : others) {
    json["candidates"].push_back({{"plan", other.what}, {"predicted_ns", other.ns}});
  }
  return json.dump(2) + "\n";
}

std::string text_of(const TorusArguments& given, const Plan& plan,
                    const planner::SelectionTable& table, const std::vector<Comparison>& others) {
  const auto bytes = static_cast<double>(given.bytes);
  const model::FabricParameters& fabric = given.options.fabric;
  const double own = plan.predicted_ns(bytes);
  std::string text = fmt::format(
      "{} of {} on a torus of {} ({} nodes): alpha_s {}, alpha_p {}, {}, delta {}\n",
      schedule::to_string(given.collective), given.bytes_text,
      topology::format_dims(plan.torus->dims), plan.schedule().ranks,
      format_time_ns(fabric.alpha_s_ns), format_time_ns(fabric.alpha_p_ns),
      format_rate_ns_per_byte(fabric.beta_ns_per_byte), format_time_ns(fabric.delta_ns));
  text += planner::reason(table, plan, bytes) + "\n\n";
  constexpr std::string_view kRow =
      "{:>5}  {:>4}  {:>3}  {:<6}  {:<11}  {:>5}  {:>10}  {:>10}  {:<9}  {:>10}\n";
  const auto row = [&](const auto&... cells) {
    std::string line = fmt::format(fmt::runtime(kRow), cells...);
    text += line;
  };
  row("phase", "lane", "dim", "times", "state", "hops", "congestion", "flow", "reconfig.", "cost");
  std::vector<PlannedStep> steps = by_lane(plan);
  std::erase_if(steps, [](const PlannedStep& step) { return step.at_once; });
  const auto same = [](const PlannedStep& a, const PlannedStep& b) {
    return a.phase == b.phase && a.lane == b.lane && a.state == b.state && !b.reconfigured &&
           !a.reconfigured && a.route.hops == b.route.hops &&
           a.route.congestion == b.route.congestion && a.share == b.share;
  };
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    while (end < steps.size() && same(steps[i], steps[end])) ++end;
    const PlannedStep& step = steps[i];
    row(step.phase, step.lane, step.dimension, end - i > 1 ? fmt::format("x{}", end - i) : "",
        topology::to_string(step.state), step.route.hops, step.route.congestion,
        rounded_bytes(step.share * bytes), step.reconfigured ? "yes" : "no",
        format_time_ns(cost_of(given, step, bytes)));
    i = end;
  }
  if (plan.restores)
    row("end", "", "", "", "ring", "", "", "", "yes", format_time_ns(fabric.delta_ns));
  row("total", "", "", "", "", "", "", "", "", format_time_ns(own));
  if (plan.torus->lanes > 1) {
    text += "lanes run at the same time: a phase lasts as long as its slowest lane\n";
  }
  text += "\nother ways, at this size and delta\n";
  for (const Comparison& other : others) {
    text += fmt::format("  {:>10}  {:>6.2f}x  {}\n", format_time_ns(other.ns), other.ns / own,
                        other.what);
  }
  text += choice_by_size(table);
  return text;
}

}  // namespace

Result<std::string> plan_on_torus(const TorusArguments& given) {
  std::vector<int> dims = given.dims;
  std::erase(dims, 1);
  assert(dims.size() >= 2);
  const Status able = check_options_on(given.options, given.collective, dims, given.operands);
  if (!able.ok()) return able.error();

  const auto bytes = static_cast<double>(given.bytes);
  const planner::DimensionStates rings(dims.size(), topology::CircuitState::ring());
  planner::TorusSelector selector(given.options, dims);
  const Plan plan = selector.plan(given.collective, given.operands, rings, bytes);
  assert(!plan.native());
  std::vector<Comparison> others;
  const auto add = [&](std::string_view prefix, const Plan& other) {
    others.push_back({std::string(prefix) + planner::describe(other), other.predicted_ns(bytes)});
  };
  for (const Plan& other : selector.alternatives(given.collective, given.operands, rings, bytes)) {
    add("", other);
  }
  if (const auto ring = selector.ring_plan(given.collective, given.operands, rings, bytes)) {
    add("", *ring);
  }
  const int nodes = plan.schedule().ranks;
  if (nodes <= kMaximumNodes) {
    planner::Options line = given.options;
    line.all_ports = false;
    line.algorithm = "auto";
    const planner::Selector one(line, nodes);
    const Plan& best =
        one.select(given.collective, given.operands, topology::CircuitState::ring(), bytes);
    if (!best.native()) add(fmt::format("one ring of {}, one port: ", nodes), best);
  }
  const auto& table = selector.table(given.collective, given.operands, rings);
  return given.json ? json_text(given, plan, table, others) : text_of(given, plan, table, others);
}

}  // namespace shortcut::cli
