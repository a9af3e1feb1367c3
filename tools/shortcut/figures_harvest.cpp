// Table 1 and Figures A and B of Harvest, and below them the same case with the optimal planner on
// Shortcut's ports.
#include <fmt/format.h>

#include <algorithm>

#include "planner/harvest.hpp"
#include "planner/selector.hpp"
#include "shortcut/figures.hpp"
#include "shortcut/output.hpp"

namespace shortcut::cli {
namespace {

using topology::CircuitState;

constexpr double kBytes = 4 << 20;
constexpr int kNodes = 64;

model::FabricParameters harvest_fabric(double delta) {
  model::FabricParameters fabric;
  fabric.alpha_s_ns = 500;
  fabric.alpha_p_ns = 50;
  fabric.delta_ns = delta;
  return fabric;
}

struct HarvestRow {
  std::string name;
  double published_ns = 0;
  planner::CirculantPlan plan;
  double delta_ns = 0;
};

std::vector<HarvestRow> harvest_rows() {
  const auto* cyclic = planner::find_shift_algorithm("cyclic");
  const auto* ring = planner::find_shift_algorithm("ring");
  std::vector<HarvestRow> rows;
  const auto add = [&](std::string name, double value, const planner::ShiftAlgorithm* algorithm,
                       double delta, planner::CirculantForm form) {
    rows.push_back({std::move(name), value,
                    planner::plan_on_circulants(harvest_fabric(delta), *algorithm,
                                                planner::CirculantCollective::reduce_scatter,
                                                kNodes, kBytes, form),
                    delta});
  };
  add("Harvest, 10 ns", 44638, cyclic, 10, planner::CirculantForm::optimal);
  add("Harvest, 1 us", 49293, cyclic, 1000, planner::CirculantForm::optimal);
  add("Harvest, 10 us", 73358, cyclic, 10000, planner::CirculantForm::optimal);
  add("Ring", 75938, ring, 10000, planner::CirculantForm::fixed);
  add("RD, static ring", 131979, cyclic, 10000, planner::CirculantForm::fixed);
  return rows;
}

std::string microseconds(double ns) { return fmt::format("{:.1f} us", ns / 1000); }

/// Start-up, propagation, transmission and rewiring in us. `flow`: the bytes of a step's flow.
template <class Steps, class Flow>
std::vector<double> parts_of(const Steps& steps, const model::FabricParameters& fabric, Flow flow) {
  model::Breakdown sum;
  for (const auto& step : steps) {
    const model::Breakdown one = model::step_cost(fabric, step.route, flow(step), false);
    sum.startup_ns += step.repeat * one.startup_ns;
    sum.propagation_ns += step.repeat * one.propagation_ns;
    sum.transmission_ns += step.repeat * one.transmission_ns;
    if (step.reconfigured) sum.reconfiguration_ns += fabric.delta_ns;
  }
  return {sum.startup_ns / 1000, sum.propagation_ns / 1000, sum.transmission_ns / 1000,
          sum.reconfiguration_ns / 1000};
}

/// Hops, and the load where it differs.
std::string route_text(topology::Route route) {
  return route.hops == route.congestion ? std::to_string(route.hops)
                                        : fmt::format("{}/{}", route.hops, route.congestion);
}

/// The published example of 8 endpoints: the largest load with so many changes of circuits, as a
/// multiple of the least possible, 1.
double largest_load(int changes) {
  const auto* cyclic = planner::find_shift_algorithm("cyclic");
  for (double delta = 1; delta < 1e9; delta *= 1.25) {
    const auto plan = planner::plan_on_circulants(harvest_fabric(delta), *cyclic,
                                                  planner::CirculantCollective::reduce_scatter, 8,
                                                  kBytes, planner::CirculantForm::optimal);
    if (plan.reconfigurations != changes) continue;
    int largest = 0;
    for (const planner::CirculantStep& step : plan.steps) {
      largest = std::max(largest, step.route.congestion);
    }
    return largest;
  }
  return 0;
}

}  // namespace

Figure harvest_figure() {
  Figure figure;
  figure.name = "harvest";
  figure.heading = "Harvest, Table 1 and Figures A and B: when to rewire recursive doubling";
  figure.caption =
      "ReduceScatter (AllGather mirrored) of 4 MiB, 64 endpoints, 500 ns a step, 50 ns a link, 800 "
      "Gb/s. Upper row: a circulant fabric, all ports switched (Harvest's). Lower row: the optimal "
      "planner on one fixed and one switched port per endpoint (Shortcut's). Numbers in the boxes: "
      "hops, or hops/load; red: a change of circuits.";
  figure.columns = 2;
  figure.width = 720;
  figure.height = 360;
  const std::vector<std::string> parts{"start-up", "propagation", "bytes x load", "rewiring"};
  Timeline a{"Figure A: circulants, d: distance of the links",
             {"step", {"1", "2", "3", "4", "5", "6"}},
             {}};
  StackedBars b{"Figure B: parts of the time", "time (us)", parts, {}};
  figure.csv =
      "fabric,plan,delta_ns,published_ns,model_ns,reconfigurations,states,startup_us,propagation_"
      "us,transmission_us,rewiring_us\n";
  for (const HarvestRow& row : harvest_rows()) {
    const auto times_of =
        parts_of(row.plan.steps, harvest_fabric(row.delta_ns),
                 [](const planner::CirculantStep& step) { return step.flow_bytes; });
    const std::string note =
        fmt::format("{}, {} ch.", microseconds(row.plan.predicted_ns), row.plan.reconfigurations);
    b.bars.push_back({row.name, times_of, note});
    std::string states;
    Timeline::Row line{row.name, {}, {}, note};
    int index = 0;
    for (const planner::CirculantStep& step : row.plan.steps) {
      if (line.runs.empty() || step.reconfigured) {
        line.runs.push_back({index, index, fmt::format("d={}", step.generator)});
        states += fmt::format("{}d={}", states.empty() ? "" : " ", step.generator);
      }
      line.runs.back().last = index++;
      line.columns.push_back(route_text(step.route));
    }
    if (row.name != "Ring") a.rows.push_back(line);
    figure.csv += fmt::format("circulant,\"{}\",{},{},{:.2f},{},{},{:.5f}\n", row.name,
                              row.delta_ns, row.published_ns, row.plan.predicted_ns,
                              row.plan.reconfigurations, states, fmt::join(times_of, ","));
    figure.checks.push_back(
        {"Table 1: " + row.name, row.published_ns, row.plan.predicted_ns, 1, "ns"});
  }
  for (const int changes : {0, 1, 2}) {
    figure.checks.push_back(
        {fmt::format("section 3.2: largest load, 8 endpoints, {} changes", changes),
         changes == 0   ? 4.0
         : changes == 1 ? 2.0
                        : 1.0,
         largest_load(changes), 0, "x"});
  }
  Timeline own_a{"The same, optimal planner on Shortcut's ports", a.x, {}};
  StackedBars own_b{"Parts of the time, optimal planner", "time (us)", parts, {}};
  for (const double delta : {10.0, 1000.0, 10000.0}) {
    planner::Options options;
    options.fabric = harvest_fabric(delta);
    options.restore = planner::Restore::none;
    const planner::Selector selector(options, kNodes);
    const auto all =
        selector.all_candidates(schedule::Collective::reduce_scatter,
                                schedule::Operands::commutative, CircuitState::ring(), kBytes);
    const auto chosen = static_cast<std::size_t>(selector.choose(all, kBytes));
    const planner::Plan plan = planner::expand(options, all[chosen], CircuitState::ring());
    const auto times_of =
        parts_of(plan.steps, options.fabric,
                 [](const planner::PlannedStep& step) { return step.share * kBytes; });
    const std::string name = fmt::format("optimal, {}", short_time(delta));
    const std::string note =
        fmt::format("{}, {} ch.", microseconds(plan.predicted_ns(kBytes)), plan.reconfigurations);
    own_b.bars.push_back({name, times_of, note});
    Timeline::Row line{name, {}, {}, note};
    int index = 0;
    if (plan.steps.size() == 6) {
      for (const planner::PlannedStep& step : plan.steps) {
        if (line.runs.empty() || step.reconfigured) {
          line.runs.push_back({index, index, topology::to_string(step.state)});
        }
        line.runs.back().last = index++;
        line.columns.push_back(route_text(step.route));
      }
    } else {
      // Off the axis: it has steps of its own.
      int steps = 0;
      for (const planner::PlannedStep& step : plan.steps) steps += step.repeat;
      line.runs.push_back({0, 5, fmt::format("{}, {} steps", plan.algorithm_name(), steps)});
    }
    own_a.rows.push_back(line);
    figure.csv += fmt::format("ring-ocs,\"{}\",{},,{:.2f},{},{},{:.5f}\n", name, delta,
                              plan.predicted_ns(kBytes), plan.reconfigurations,
                              fmt::join(planner::state_list(plan), " "), fmt::join(times_of, ","));
  }
  figure.published = {a, b};
  figure.optimal = {own_a, own_b};
  return figure;
}

}  // namespace shortcut::cli
