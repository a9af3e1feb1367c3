// `shortcut figures`: the figures of the two papers from this model, beside each the same case with
// the optimal planner, and a page that says where model and published text agree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "planner/harvest.hpp"
#include "planner/selector.hpp"
#include "shortcut/commands.hpp"
#include "shortcut/output.hpp"
#include "shortcut/plot.hpp"

namespace shortcut::cli {
namespace {

using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

constexpr double kMebi = 1 << 20;

/// One line under a figure: what the papers print and what the model gives.
struct Check {
  std::string what;
  double published = 0;
  double model = 0;
  double tolerance = 0;  ///< of what is printed: rounding
  std::string unit;
  bool agrees() const { return std::abs(model - published) <= tolerance; }
};

struct Figure {
  std::string name;  ///< of its files
  std::string heading;
  std::string caption;
  std::vector<Chart> published;
  std::vector<Chart> optimal;
  int columns = 1;
  int width = 560, height = 420;
  std::string csv;
  std::vector<Check> checks;
  std::vector<std::string> cannot;
};

/// What one plan came to.
struct Outcome {
  double ns = 0;
  double ring_ns = 0;
  int threshold = -1;
  int reconfigurations = 0;
  std::string algorithm;
  std::string states;
  double speedup() const { return ring_ns / ns; }
};

struct Case {
  Collective collective = Collective::reduce_scatter;
  int nodes = 32;
  double bytes = 0;
  double alpha_s_ns = 0;
  double alpha_p_ns = 0;
  double delta_ns = 0;
  int hop_factor = 2;
};

planner::Options options_for(const Case& c) {
  planner::Options options;
  options.fabric.alpha_s_ns = c.alpha_s_ns;
  options.fabric.alpha_p_ns = c.alpha_p_ns;
  options.fabric.delta_ns = c.delta_ns;
  options.fabric.hop_factor = c.hop_factor;
  options.restore = planner::Restore::none;
  return options;
}

Outcome plan_case(const Case& c, const planner::Options& options) {
  const planner::Selector selector(options, c.nodes);
  const auto all =
      selector.all_candidates(c.collective, Operands::commutative, CircuitState::ring(), c.bytes);
  const int chosen = selector.choose(all, c.bytes);
  const planner::Plan plan =
      planner::expand(options, all[static_cast<std::size_t>(chosen)], CircuitState::ring());
  Outcome outcome;
  outcome.ns = plan.predicted_ns(c.bytes);
  outcome.threshold = plan.threshold;
  outcome.reconfigurations = plan.reconfigurations;
  outcome.algorithm = plan.algorithm_name();
  outcome.states = fmt::format("{}", fmt::join(planner::state_list(plan), " "));
  for (const planner::Candidate& candidate : all) {
    if (candidate.routed->algorithm().name == "ring") {
      outcome.ring_ns = candidate.line.at(c.bytes);
      break;
    }
  }
  return outcome;
}

/// As published: the best threshold of one algorithm; `threshold` < 0: free.
Outcome published(const Case& c, std::string algorithm, int threshold = -1) {
  planner::Options options = options_for(c);
  options.planner = planner::Planner::threshold;
  options.algorithm = std::move(algorithm);
  options.threshold = threshold;
  return plan_case(c, options);
}

/// As published, with Ring where no threshold is faster.
Outcome shortcut_plan(const Case& c) {
  Outcome outcome = published(c, "recursive_doubling");
  if (outcome.ns > outcome.ring_ns) {
    outcome.ns = outcome.ring_ns;
    outcome.algorithm = "ring";
    outcome.threshold = -1;
    outcome.reconfigurations = 0;
    outcome.states = "ring";
  }
  return outcome;
}

Outcome optimal(const Case& c) { return plan_case(c, options_for(c)); }

constexpr std::string_view kHeader =
    "panel,planner,collective,nodes,bytes,alpha_s_ns,alpha_p_ns,delta_ns,hop_factor,algorithm,"
    "threshold,reconfigurations,states,ns,ring_ns,speedup\n";

void add_row(Figure& figure, std::string_view panel, std::string_view planner, const Case& c,
             const Outcome& o) {
  if (figure.csv.empty()) figure.csv = kHeader;
  figure.csv += fmt::format("{},{},{},{},{:.0f},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.4f}\n",
                            panel, planner, schedule::to_string(c.collective), c.nodes, c.bytes,
                            c.alpha_s_ns, c.alpha_p_ns, c.delta_ns, c.hop_factor, o.algorithm,
                            o.threshold < 0 ? "" : std::to_string(o.threshold), o.reconfigurations,
                            o.states, o.ns, o.ring_ns, o.speedup());
}

const std::vector<double> kHopDelays{100, 200, 500, 1000, 2000};
const std::vector<double> kDeltas{100, 400, 1000, 4000, 7000, 10000};

Axis times(std::string title, const std::vector<double>& values) {
  Axis axis{std::move(title), {}};
  for (const double value : values) axis.ticks.push_back(short_time(value));
  return axis;
}

std::vector<double> sizes(double low, double high, int points) {
  std::vector<double> values;
  for (int i = 0; i < points; ++i) {
    values.push_back(std::round(low * std::pow(high / low, i / (points - 1.0))));
  }
  return values;
}

Axis size_axis(const std::vector<double>& values) {
  Axis axis{"message size", {}};
  for (const double value : values) axis.ticks.push_back(short_bytes(value));
  return axis;
}

Figure figure_3() {
  Figure figure;
  figure.name = "fig3";
  figure.heading = "Shortcut, Fig. 3: recursive doubling against Ring on a static ring";
  figure.caption =
      "AllReduce, 16 endpoints, alpha_s = 0. Left: recursive doubling on the static ring; above 1 "
      "Ring is faster. Right: the optimal planner's choice (delta 1 us); never above 1.";
  const auto bytes = sizes(1e3, 1e9, 13);
  LineChart left{"Static recursive doubling", "time / Ring's time", size_axis(bytes), {}};
  LineChart right{"Optimal planner, delta 1 us", "time / Ring's time", size_axis(bytes), {}};
  int colour = 0;
  for (const double alpha_p : {100.0, 500.0, 1000.0, 2000.0}) {
    Series measured{"alpha_p " + short_time(alpha_p), {}, false, colour, false};
    Series best = measured;
    for (const double m : bytes) {
      const Case c{Collective::allreduce, 16, m, 0, alpha_p, 1000, 2};
      const Outcome rd = published(c, "recursive_doubling", 4);
      const Outcome o = optimal(c);
      measured.values.push_back(rd.ns / rd.ring_ns);
      best.values.push_back(o.ns / o.ring_ns);
      add_row(figure, "static", "threshold", c, rd);
      add_row(figure, "optimal", "optimal", c, o);
    }
    left.series.push_back(measured);
    right.series.push_back(best);
    ++colour;
  }
  const double largest = left.series[0].values.back();
  figure.checks.push_back(
      {"ratio for the longest messages: log2(16) / 2 over 15/16 (from Eqs. 3, 5)", 2.13, largest,
       0.005, "x"});
  figure.published = {left};
  figure.optimal = {right};
  figure.cannot.push_back(
      "The paper measures at least 1.2x at 32 kB, and a gap that widens with the hop delay. In "
      "Eqs. 3 "
      "and 5 the hop delays of both algorithms add up to the same, so the ratio here falls towards "
      "1 "
      "with a longer delay and shorter messages. Queues and packets, which the paper simulates, "
      "are "
      "not in the equations.");
  return figure;
}

Figure figure_4() {
  Figure figure;
  figure.name = "fig4";
  figure.heading = "Shortcut, Fig. 4: best threshold";
  figure.caption =
      "ReduceScatter of 32 kB, 32 endpoints, alpha_s = 0, a hop costs 2 alpha_p (hop_factor 2). "
      "Left: "
      "recursive doubling's best threshold T. Right: the optimal planner's speed-up over that "
      "threshold, and how often it rewires.";
  HeatMap left{"Best threshold T",
               "threshold T",
               times("delay of a hop, alpha_p", kHopDelays),
               times("reconfiguration delay, delta", kDeltas),
               {},
               0,
               5};
  HeatMap right{"Optimal planner against the best threshold", "times faster", left.x, left.y, {}};
  for (const double delta : kDeltas) {
    for (const double alpha_p : kHopDelays) {
      const Case c{Collective::reduce_scatter, 32, 32e3, 0, alpha_p, delta, 2};
      const Outcome t = published(c, "recursive_doubling");
      const Outcome o = optimal(c);
      left.cells.push_back({static_cast<double>(t.threshold), std::to_string(t.threshold), "", ""});
      right.cells.push_back({t.ns / o.ns, fmt::format("{:.2f}", t.ns / o.ns),
                             fmt::format("{} changes", o.reconfigurations), ""});
      add_row(figure, "map", "threshold", c, t);
      add_row(figure, "map", "optimal", c, o);
    }
  }
  figure.checks.push_back(
      {"T at the fastest switch and the longest hop (\"T=1 is the first useful\")", 1,
       left.cells[4].value, 0, ""});
  figure.published = {left};
  figure.optimal = {right};
  return figure;
}

Figure figure_5() {
  Figure figure;
  figure.name = "fig5";
  figure.heading = "Shortcut, Fig. 5: speed-up across message sizes";
  figure.caption =
      "ReduceScatter, 32 endpoints, alpha_s = 0, hop_factor 2. Maps: speed-up over Ring, below it "
      "the "
      "threshold T (first row) or the number of changes (second row). Lines: speed-up over size at "
      "a "
      "hop delay of 2 us; hollow: rewired, filled: static ring.";
  figure.columns = 3;
  figure.width = 480;
  for (const double m : {32e3, 1e6}) {
    HeatMap map{short_bytes(m) + ": best threshold",
                "speed-up over Ring",
                times("delay of a hop, alpha_p", kHopDelays),
                times("reconfiguration delay, delta", kDeltas),
                {},
                1,
                6.5};
    HeatMap best = map;
    best.title = short_bytes(m) + ": optimal planner";
    for (const double delta : kDeltas) {
      for (const double alpha_p : kHopDelays) {
        const Case c{Collective::reduce_scatter, 32, m, 0, alpha_p, delta, 2};
        const Outcome t = shortcut_plan(c);
        const Outcome o = optimal(c);
        map.cells.push_back({t.speedup(), fmt::format("{:.2f}", t.speedup()),
                             t.threshold < 0 ? "Ring" : fmt::format("T={}", t.threshold), ""});
        best.cells.push_back({o.speedup(), fmt::format("{:.2f}", o.speedup()),
                              fmt::format("{} ch.", o.reconfigurations), ""});
        add_row(figure, short_bytes(m), "threshold", c, t);
        add_row(figure, short_bytes(m), "optimal", c, o);
      }
    }
    figure.checks.push_back(
        {fmt::format("speed-up at {}, alpha_p 2 us, delta 100 ns", short_bytes(m)),
         m < 1e6 ? 6.0 : 4.4, map.cells[4].value, 0.05, "x"});
    figure.published.push_back(map);
    figure.optimal.push_back(best);
  }
  const auto bytes = sizes(1e3, 1e9, 13);
  LineChart lines{"alpha_p 2 us", "speed-up over Ring", size_axis(bytes), {}};
  LineChart best{"alpha_p 2 us, optimal planner", "speed-up over Ring", size_axis(bytes), {}};
  int colour = 0;
  for (const std::string_view algorithm : {"recursive_doubling", "swing"}) {
    const std::string name = algorithm == "swing" ? "Swing" : "RD";
    const auto add = [&](std::string title, double delta, int threshold, bool hollow, bool dashed) {
      Series series{std::move(title), {}, hollow, colour, dashed};
      for (const double m : bytes) {
        const Case c{Collective::reduce_scatter, 32, m, 0, 2000, delta, 2};
        const Outcome o = published(c, std::string(algorithm), threshold);
        series.values.push_back(o.speedup());
        add_row(figure, threshold < 0 ? "size" : "size-static", "threshold", c, o);
      }
      lines.series.push_back(series);
      ++colour;
    };
    add(name + " rewired, 100 ns", 100, -1, true, algorithm == "swing");
    add(name + " rewired, 10 us", 10000, -1, true, algorithm == "swing");
    add(name + " static", 10000, 5, false, false);
  }
  colour = 0;
  for (const double delta : {100.0, 1000.0, 10000.0}) {
    Series series{"optimal, delta " + short_time(delta), {}, true, colour++, false};
    for (const double m : bytes) {
      const Case c{Collective::reduce_scatter, 32, m, 0, 2000, delta, 2};
      const Outcome o = optimal(c);
      series.values.push_back(o.speedup());
      add_row(figure, "size", "optimal", c, o);
    }
    best.series.push_back(series);
  }
  double largest_threshold = 0;
  for (const double delta : kDeltas) {
    for (const double alpha_p : kHopDelays) {
      const Case c{Collective::reduce_scatter, 32, 4e6, 0, alpha_p, delta, 2};
      const Outcome t = published(c, "recursive_doubling");
      largest_threshold = std::max(largest_threshold, static_cast<double>(t.threshold));
      add_row(figure, "4 MB", "threshold", c, t);
    }
  }
  figure.checks.push_back(
      {"largest best T at 4 MB, over all delays of the maps", 1, largest_threshold, 0, ""});
  figure.published.emplace_back(lines);
  figure.optimal.emplace_back(best);
  const Case large{Collective::reduce_scatter, 32, 256e6, 0, 2000, 100, 2};
  const Outcome at_large = shortcut_plan(large);
  add_row(figure, "256MB", "threshold", large, at_large);
  figure.cannot.push_back(
      fmt::format("The paper falls back to Ring for 256 MB and more. That does not follow from its "
                  "equations: both "
                  "have the same bandwidth term, so T=1 stays ahead by its shorter latency, "
                  "{:.4f}x at 256 MB. The "
                  "setting min_gain asks for a larger gain before the fabric is rewired.",
                  at_large.speedup()));
  return figure;
}

Figure figure_6() {
  Figure figure;
  figure.name = "fig6";
  figure.heading = "Shortcut, Fig. 6: start-up time, hop delay, number of endpoints";
  figure.caption =
      "ReduceScatter of 1 MB, hop_factor 2: speed-up over Ring. Rows: 8 and 128 endpoints; "
      "columns: "
      "delta 100 ns, 4 us, 10 us. Below each speed-up the threshold T, or the number of changes "
      "with "
      "the optimal planner.";
  figure.columns = 3;
  figure.width = 460;
  figure.height = 340;
  const std::vector<double> starts{0, 500, 1000, 1500, 2000};
  const std::vector<double> hops{100, 500, 1000, 1500, 2000};
  double corner = 0;
  double corner_slow = 0;
  double small_slow = 0;
  for (const int nodes : {8, 128}) {
    for (const double delta : {100.0, 4000.0, 10000.0}) {
      HeatMap map{fmt::format("{} endpoints, delta {}", nodes, short_time(delta)),
                  "speed-up over Ring",
                  times("delay of a hop, alpha_p", hops),
                  times("start-up, alpha_s", starts),
                  {},
                  1,
                  nodes == 8 ? 2.5 : 15.0};
      HeatMap best = map;
      for (const double alpha_s : starts) {
        for (const double alpha_p : hops) {
          const Case c{Collective::reduce_scatter, nodes, 1e6, alpha_s, alpha_p, delta, 2};
          const Outcome t = shortcut_plan(c);
          const Outcome o = optimal(c);
          map.cells.push_back({t.speedup(), fmt::format("{:.2f}", t.speedup()),
                               t.threshold < 0 ? "Ring" : fmt::format("T={}", t.threshold), ""});
          best.cells.push_back({o.speedup(), fmt::format("{:.2f}", o.speedup()),
                                fmt::format("{} ch.", o.reconfigurations), ""});
          const std::string panel = fmt::format("n{}-{:.0f}ns", nodes, delta);
          add_row(figure, panel, "threshold", c, t);
          add_row(figure, panel, "optimal", c, o);
        }
      }
      const double last = map.cells.back().value;
      if (nodes == 128 && delta < 1000) corner = last;
      if (nodes == 128 && delta > 9000) corner_slow = last;
      if (nodes == 8 && delta > 9000) small_slow = last;
      figure.published.push_back(map);
      figure.optimal.push_back(best);
    }
  }
  figure.checks.push_back(
      {"largest speed-up, 128 endpoints, delta 100 ns", 14.7, corner, 0.05, "x"});
  figure.checks.push_back(
      {"\"up to 7x\" with delta 10 us, 128 endpoints", 7, corner_slow, 0.5, "x"});
  figure.checks.push_back(
      {"panel (c): falls back to Ring, 8 endpoints, delta 10 us", 1, small_slow, 0.05, "x"});
  figure.cannot.push_back(fmt::format(
      "The paper says of panel (c), 8 endpoints and delta 10 us, that long start-up times favour "
      "recursive doubling slightly and Ring is used. The equations give Ring for short ones only, "
      "and up to {:.2f}x for the longest start-up and hop delays.",
      small_slow));
  return figure;
}

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
                                                planner::CirculantCollective::reduce_scatter, 64,
                                                4 * kMebi, form),
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

std::vector<double> parts_of(const planner::CirculantPlan& plan,
                             const model::FabricParameters& fabric) {
  model::Breakdown sum;
  for (const planner::CirculantStep& step : plan.steps) {
    const model::Breakdown one = model::step_cost(fabric, step.route, step.flow_bytes, false);
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
                                                  4 * kMebi, planner::CirculantForm::optimal);
    if (plan.reconfigurations != changes) continue;
    int largest = 0;
    for (const planner::CirculantStep& step : plan.steps) {
      largest = std::max(largest, step.route.congestion);
    }
    return largest;
  }
  return 0;
}

/// Our optimal planner's plan of the same case, on one fixed and one switched port.
planner::Plan own_plan(double delta) {
  planner::Options options;
  options.fabric = harvest_fabric(delta);
  options.restore = planner::Restore::none;
  // The selector owns what a plan points to: it stays for the program's life.
  static std::vector<std::unique_ptr<planner::Selector>> selectors;
  selectors.push_back(std::make_unique<planner::Selector>(options, 64));
  const auto all = selectors.back()->all_candidates(
      Collective::reduce_scatter, Operands::commutative, CircuitState::ring(), 4 * kMebi);
  const int chosen = selectors.back()->choose(all, 4 * kMebi);
  return planner::expand(options, all[static_cast<std::size_t>(chosen)], CircuitState::ring());
}

std::vector<double> parts_of(const planner::Plan& plan, const model::FabricParameters& fabric) {
  model::Breakdown sum;
  for (const planner::PlannedStep& step : plan.steps) {
    const model::Breakdown one =
        model::step_cost(fabric, step.route, step.share * 4 * kMebi, false);
    sum.startup_ns += step.repeat * one.startup_ns;
    sum.propagation_ns += step.repeat * one.propagation_ns;
    sum.transmission_ns += step.repeat * one.transmission_ns;
    if (step.reconfigured) sum.reconfiguration_ns += fabric.delta_ns;
  }
  return {sum.startup_ns / 1000, sum.propagation_ns / 1000, sum.transmission_ns / 1000,
          sum.reconfiguration_ns / 1000};
}

/// Table 1 and Figures A and B.
Figure figure_harvest() {
  Figure figure;
  figure.name = "harvest";
  figure.heading = "Harvest, Table 1 and Figures A and B: when to rewire recursive doubling";
  figure.caption =
      "ReduceScatter (AllGather mirrored) of 4 MiB, 64 endpoints, 500 ns a step, 50 ns a link, 800 "
      "Gb/s. Upper row: a circulant fabric, all ports switched (Harvest's). Lower row: the optimal "
      "planner on one fixed and one switched port per endpoint (Shortcut's). Numbers in the boxes: "
      "hops, or hops/load; "
      "red: a change of circuits.";
  figure.columns = 2;
  figure.width = 720;
  figure.height = 360;
  const std::vector<std::string> parts{"start-up", "propagation", "bytes x load", "rewiring"};
  Timeline a{"Figure A: circulants, d: distance of the links",
             {"step", {"1", "2", "3", "4", "5", "6"}},
             {}};
  StackedBars b{"Figure B: parts of the time", "time (us)", parts, {}};
  figure.csv =
      "fabric,plan,delta_ns,published_ns,model_ns,reconfigurations,states,startup_us,"
      "propagation_us,transmission_us,rewiring_us\n";
  for (const HarvestRow& row : harvest_rows()) {
    const auto times_of = parts_of(row.plan, harvest_fabric(row.delta_ns));
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
    const planner::Plan plan = own_plan(delta);
    const auto times_of = parts_of(plan, harvest_fabric(delta));
    const std::string name = fmt::format("optimal, {}", short_time(delta));
    const std::string note = fmt::format("{}, {} ch.", microseconds(plan.predicted_ns(4 * kMebi)),
                                         plan.reconfigurations);
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
      line.runs.push_back({0, 5, std::string(plan.algorithm_name())});
    }
    own_a.rows.push_back(line);
    figure.csv += fmt::format("ring-ocs,\"{}\",{},,{:.2f},{},{},{:.5f}\n", name, delta,
                              plan.predicted_ns(4 * kMebi), plan.reconfigurations,
                              fmt::join(planner::state_list(plan), " "), fmt::join(times_of, ","));
  }
  figure.published = {a, b};
  figure.optimal = {own_a, own_b};
  return figure;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string page_of(const std::vector<Figure>& figures) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>Figures</title>\n<style>"
      "body{font:15px/1.5 sans-serif;margin:24px auto;max-width:1480px;padding:0 16px;color:#222}"
      "h2{margin-top:40px}img{display:block;max-width:100%;border:1px solid #ddd;margin:8px 0}"
      ".pair{display:flex;flex-wrap:wrap;gap:12px}table{border-collapse:collapse}td,th{border:1px "
      "solid "
      "#ccc;padding:3px "
      "10px;text-align:left}td.n{text-align:right}.yes{color:#187a2f}.no{color:#b01c1c}"
      "</style></head><body>\n<h1>The papers' figures, from the model</h1>\n"
      "<p>800 Gb/s links. Every price is Eq. 1: alpha_s + hop_factor h alpha_p + c m beta + r "
      "delta. "
      "First the published rule, then the optimal planner on the same case. Beside each picture a "
      "PNG "
      "and the numbers as CSV.</p>\n";
  for (const Figure& figure : figures) {
    text += fmt::format(
        "<h2>{0}</h2>\n<p>{1}</p>\n<div{4}><img src=\"{2}.svg\" alt=\"{0}\"><img "
        "src=\"{2}-optimal.svg\" alt=\"{0}, optimal planner\"></div>\n<p><a "
        "href=\"{2}.csv\">{2}.csv</a>, "
        "<a href=\"{2}.png\">{2}.png</a>, <a href=\"{2}-optimal.png\">{2}-optimal.png</a></p>\n{3}",
        escaped(figure.heading), escaped(figure.caption), figure.name, "",
        figure.columns == 1 ? " class=\"pair\"" : "");
    if (!figure.checks.empty()) {
      text += "<table><tr><th>compared</th><th>published</th><th>model</th><th></th></tr>\n";
      for (const Check& check : figure.checks) {
        const auto number = [&](double value) {
          return check.unit == "ns" ? fmt::format("{:.0f} ns", value)
                                    : fmt::format("{:.4g}{}", value, check.unit);
        };
        text += fmt::format(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
            "class=\"{}\">{}</td></tr>\n",
            escaped(check.what), number(check.published), number(check.model),
            check.agrees() ? "yes" : "no", check.agrees() ? "agrees" : "differs");
      }
      text += "</table>\n";
    }
    for (const std::string& what : figure.cannot) {
      text += fmt::format("<p><b class=\"no\">Does not agree:</b> {}</p>\n", escaped(what));
    }
  }
  return text + "</body></html>\n";
}

}  // namespace

FiguresCommand::FiguresCommand(CLI::App& app)
    : app_(app.add_subcommand("figures", "Draw the papers' figures from the model (gnuplot)")) {
  app_->allow_extras();
  app_->add_option("DIR", directory_, "Where to: index.html, pictures and CSV files (required)");
  app_->footer("Example: shortcut figures figures/\n");
}

Result<std::string> FiguresCommand::run() const {
  if (directory_.empty()) return Error{"DIR is required: where to write the figures"};
  std::error_code failed;
  std::filesystem::create_directories(directory_, failed);
  if (failed) {
    return Error{fmt::format("DIR: cannot make '{}': {}", directory_, failed.message())};
  }
  const std::vector<Figure> figures{figure_3(), figure_4(), figure_5(), figure_6(),
                                    figure_harvest()};
  std::string said;
  for (const Figure& figure : figures) {
    const std::string stem = (std::filesystem::path(directory_) / figure.name).string();
    if (const Status s = write_file("DIR", stem + ".csv", figure.csv); !s.ok()) return s.error();
    for (const bool best : {false, true}) {
      for (const Picture format : {Picture::png, Picture::svg}) {
        const Status s =
            draw("figures", best ? figure.optimal : figure.published, figure.columns, figure.width,
                 figure.height, format,
                 stem + (best ? "-optimal" : "") + (format == Picture::png ? ".png" : ".svg"));
        if (!s.ok()) return s.error();
      }
    }
    for (const Check& check : figure.checks) {
      said += fmt::format("{:<8} {:<75} {:>10.7g} {:>10.7g} {:<3} {}\n", figure.name, check.what,
                          check.published, check.model, check.unit,
                          check.agrees() ? "agrees" : "differs");
    }
  }
  const std::string page = (std::filesystem::path(directory_) / "index.html").string();
  if (const Status s = write_file("DIR", page, page_of(figures)); !s.ok()) return s.error();
  return fmt::format("{:<8} {:<75} {:>10} {:>10}\n{}{}\n", "figure", "compared", "published",
                     "model", said, page);
}

}  // namespace shortcut::cli
