// `shortcut plan`: what the planner would do for one collective, and why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/settings.hpp"
#include "planner/selector.hpp"
#include "shortcut/commands.hpp"
#include "shortcut/harvest.hpp"
#include "shortcut/output.hpp"
#include "shortcut/torus_plan.hpp"
#include "support/units.hpp"
#include "topology/torus.hpp"

namespace shortcut::cli {
namespace {

using nlohmann::ordered_json;
using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

constexpr double kMaximumDeltaNs = 1e8;  // 100 ms
constexpr std::array<std::string_view, 2> kFabrics{"ring-ocs", kCirculantFabric};

struct Request {
  Collective collective = Collective::allreduce;
  int nodes = 0;
  std::uint64_t bytes = 0;
  std::string bytes_text;  ///< as written
  Operands operands = Operands::commutative;
  planner::Options options;
};

/// One step as it runs: repetitions apart.
struct Step {
  CircuitState state;
  topology::Route route;
  double bytes = 0;
  bool reconfigured = false;
  double cost_ns = 0;
  bool operator==(const Step&) const = default;
};

std::vector<Step> steps_of(const planner::Plan& plan, const planner::Options& options,
                           double bytes) {
  std::vector<Step> steps;
  schedule::in_order(plan.steps, [&](std::size_t index, int repetition) {
    const planner::PlannedStep& planned = plan.steps[index];
    if (planned.at_once) return;  // a part of the step in front
    const bool reconfigured = planned.reconfigured && repetition == 0;
    const double flow = planned.share * bytes;
    const double cost =
        model::step_cost(options.fabric, planned.route, flow, reconfigured).total_ns();
    steps.push_back({planned.state, planned.route, flow, reconfigured, cost});
  });
  return steps;
}

/// Of candidates with the same algorithm and T the cheapest, T rising.
std::vector<planner::Candidate> per_threshold(const std::vector<planner::Candidate>& all,
                                              double bytes) {
  std::vector<planner::Candidate> best;
  for (const planner::Candidate& candidate : all) {
    if (!candidate.states.empty()) continue;  // the state search's
    const auto same = std::find_if(best.begin(), best.end(), [&](const auto& other) {
      return other.routed == candidate.routed && other.threshold == candidate.threshold;
    });
    if (same == best.end()) {
      best.push_back(candidate);
    } else if (candidate.line.at(bytes) < same->line.at(bytes)) {
      *same = candidate;
    }
  }
  // Candidates come algorithm by algorithm in one piece.
  auto first = best.begin();
  while (first != best.end()) {
    const auto last = std::find_if(
        first, best.end(), [&](const auto& other) { return other.routed != first->routed; });
    std::reverse(first, last);
    first = last;
  }
  return best;
}

/// What the state search found, per algorithm.
std::vector<planner::Candidate> searched(const std::vector<planner::Candidate>& all) {
  std::vector<planner::Candidate> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [](const auto& candidate) { return !candidate.states.empty(); });
  return found;
}

/// From `from_ns` on (up to the next one's) this is what is chosen.
struct DeltaRange {
  double from_ns = 0;
  std::string choice;
};

/// The choice as a function of delta, by bisection between powers of ten.
class DeltaRanges {
 public:
  DeltaRanges(const Request& request, const planner::Selector& selector)
      : request_(request), selector_(selector), options_(request.options) {
    for (const auto& candidate :
         selector.all_candidates(request.collective, request.operands, CircuitState::ring(),
                                 static_cast<double>(request.bytes))) {
      if (!candidate.states.empty()) continue;
      if (routed_.empty() || routed_.back() != candidate.routed) {
        routed_.push_back(candidate.routed);
      }
    }
  }

  std::vector<DeltaRange> find() {
    double low = 0;
    std::string at_low = choice(low);
    ranges_.push_back({low, at_low});
    for (double high = 1; high <= kMaximumDeltaNs; high *= 10) {
      const std::string at_high = choice(high);
      split(low, at_low, high, at_high);
      low = high;
      at_low = at_high;
    }
    return ranges_;
  }

 private:
  std::string choice(double delta_ns) {
    options_.fabric.delta_ns = delta_ns;
    std::vector<planner::Candidate> all;
    for (const planner::RoutedSchedule* routed : routed_) {
      const auto own = planner::candidates(options_, *routed, CircuitState::ring());
      all.insert(all.end(), own.begin(), own.end());
      if (!planner::searches_states(options_) || !routed->algorithm().reconfigures) continue;
      all.push_back(planner::StateSearch(options_, *routed)
                        .at(static_cast<double>(request_.bytes), CircuitState::ring()));
    }
    const int chosen = selector_.choose(all, static_cast<double>(request_.bytes));
    if (chosen < 0) return "native";
    return planner::describe(
        planner::expand(options_, all[static_cast<std::size_t>(chosen)], CircuitState::ring()));
  }

  void split(double low, const std::string& at_low, double high, const std::string& at_high) {
    if (at_low == at_high) return;
    if (high - low <= std::max(1e-3, high * 1e-6)) {
      ranges_.push_back({high, at_high});
      return;
    }
    const double middle = (low + high) / 2;
    const std::string at_middle = choice(middle);
    split(low, at_low, middle, at_middle);
    split(middle, at_middle, high, at_high);
  }

  const Request& request_;
  const planner::Selector& selector_;
  planner::Options options_;
  std::vector<const planner::RoutedSchedule*> routed_;
  std::vector<DeltaRange> ranges_;
};

std::string json_text(const Request& request, const planner::Selector& selector,
                      const planner::Plan& plan, const planner::SelectionTable& table) {
  const auto bytes = static_cast<double>(request.bytes);
  const double predicted = plan.predicted_ns(bytes);
  const double ring = table.ring().at(bytes);
  const schedule::Algorithm& algorithm = plan.algorithm();
  const auto threshold = [](const schedule::Algorithm& row, int value) {
    return row.reconfigures && value >= 0 ? ordered_json(value) : ordered_json(nullptr);
  };

  ordered_json json;
  json["collective"] = schedule::to_string(request.collective);
  json["nodes"] = request.nodes;
  json["bytes"] = request.bytes;
  json["planner"] = planner::searches_states(request.options) ? "optimal" : "threshold";
  json["algorithm"] = algorithm.name;
  json["threshold"] = threshold(algorithm, plan.threshold);
  if (request.collective == Collective::allreduce) {
    json["threshold_gather"] = threshold(algorithm, plan.threshold_gather);
  }
  json["predicted_ns"] = predicted;
  const bool compared = table.has_ring();  // it cannot keep rank order
  json["ring_ns"] = compared ? ordered_json(ring) : ordered_json(nullptr);
  json["speedup_vs_ring"] =
      compared && predicted > 0 ? ordered_json(ring / predicted) : ordered_json(nullptr);
  json["reconfigurations"] = plan.reconfigurations;
  json["restore_ns"] = plan.restores ? request.options.fabric.delta_ns : 0.0;
  json["reason"] = planner::reason(table, plan, bytes);
  json["steps"] = ordered_json::array();
  int index = 0;
  for (const Step& step : steps_of(plan, request.options, bytes)) {
    json["steps"].push_back({{"index", index++},
                             {"state", topology::to_string(step.state)},
                             {"hops", step.route.hops},
                             {"congestion", step.route.congestion},
                             {"bytes", step.bytes},
                             {"reconfigured", step.reconfigured},
                             {"cost_ns", step.cost_ns}});
  }
  json["candidates"] = ordered_json::array();
  const auto add_candidate = [&](const planner::Candidate& candidate, const char* planner) {
    const schedule::Algorithm& row = candidate.routed->algorithm();
    ordered_json entry{{"algorithm", row.name},
                       {"planner", planner},
                       {"threshold", threshold(row, candidate.threshold)}};
    if (request.collective == Collective::allreduce) {
      entry["threshold_gather"] = threshold(row, candidate.threshold_gather);
    }
    entry["predicted_ns"] = candidate.line.at(bytes);
    for (const CircuitState state : candidate.states) {
      entry["states"].push_back(topology::to_string(state));
    }
    json["candidates"].push_back(std::move(entry));
  };
  const auto all =
      selector.all_candidates(request.collective, request.operands, CircuitState::ring(), bytes);
  for (const auto& candidate : per_threshold(all, bytes)) add_candidate(candidate, "threshold");
  for (const auto& candidate : searched(all)) add_candidate(candidate, "optimal");
  return json.dump(2) + "\n";
}

/// Per algorithm: the best threshold, and what the state search finds.
std::string candidates_text(const Request& request, const planner::Selector& selector) {
  const auto bytes = static_cast<double>(request.bytes);
  const auto all =
      selector.all_candidates(request.collective, request.operands, CircuitState::ring(), bytes);
  const auto line = [&](const planner::Candidate& candidate) {
    return fmt::format(
        "  {:>10}  {}\n", format_time_ns(candidate.line.at(bytes)),
        planner::describe(planner::expand(request.options, candidate, CircuitState::ring())));
  };
  std::string text = "\nbest of each algorithm, at this size and delta\n";
  const auto thresholds = per_threshold(all, bytes);
  for (auto first = thresholds.begin(); first != thresholds.end();) {
    const auto last = std::find_if(
        first, thresholds.end(), [&](const auto& other) { return other.routed != first->routed; });
    auto best = first;  // of equals the highest threshold, which rewires least
    for (auto each = first; each != last; ++each) {
      if (each->line.at(bytes) <= best->line.at(bytes)) best = each;
    }
    text += line(*best);
    for (const planner::Candidate& found : searched(all)) {
      if (found.routed == best->routed && found.threshold < 0) text += line(found);
    }
    first = last;
  }
  return text;
}

std::string plan_text(const Request& request, const planner::Selector& selector,
                      const planner::Plan& plan, const planner::SelectionTable& table) {
  const auto bytes = static_cast<double>(request.bytes);
  const model::FabricParameters& fabric = request.options.fabric;
  std::string text = fmt::format(
      "{} of {} on {} nodes: alpha_s {}, alpha_p {}, {}, delta {}\n",
      schedule::to_string(request.collective), request.bytes_text, request.nodes,
      format_time_ns(fabric.alpha_s_ns), format_time_ns(fabric.alpha_p_ns),
      format_rate_ns_per_byte(fabric.beta_ns_per_byte), format_time_ns(fabric.delta_ns));
  text += planner::reason(table, plan, bytes) + "\n\n";

  constexpr std::string_view kRow = "{:>5}  {:<6}  {:<11}  {:>5}  {:>10}  {:>10}  {:<9}  {:>10}\n";
  const auto row = [&](const auto&... cells) {
    std::string line = fmt::format(fmt::runtime(kRow), cells...);
    text += line;
  };
  row("step", "times", "state", "hops", "congestion", "flow", "reconfig.", "cost");
  const std::vector<Step> steps = steps_of(plan, request.options, bytes);
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    while (end < steps.size() && steps[end] == steps[i]) ++end;
    const Step& step = steps[i];
    row(i, end - i > 1 ? fmt::format("x{}", end - i) : "", topology::to_string(step.state),
        step.route.hops, step.route.congestion, rounded_bytes(step.bytes),
        step.reconfigured ? "yes" : "no", format_time_ns(step.cost_ns));
    i = end;
  }
  if (plan.restores) row("end", "", "ring", "", "", "", "yes", format_time_ns(fabric.delta_ns));
  row("total", "", "", "", "", "", "", format_time_ns(plan.predicted_ns(bytes)));

  text += candidates_text(request, selector);

  text += choice_by_size(table);
  text += "\nchoice by delta, at this size (0 to 100 ms)\n";
  const std::vector<DeltaRange> ranges = DeltaRanges(request, selector).find();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    // Delta 0 on its own: what is free may be switched without any gain.
    constexpr double kShortestNs = 0.1;
    const bool only_zero = i == 0 && ranges.size() > 1 && ranges[1].from_ns < kShortestNs;
    const bool after_zero = i > 0 && ranges[i].from_ns < kShortestNs;
    text += fmt::format("  {} {:>10}  {}\n",
                        only_zero    ? "at  "
                        : after_zero ? ">   "
                                     : "from",
                        format_time_ns(ranges[i].from_ns), ranges[i].choice);
  }
  return text;
}

std::string nothing_to_plan(const Request& request, bool as_json) {
  constexpr std::string_view kReason = "one node has nobody to exchange data with: nothing to plan";
  if (!as_json) return std::string(kReason) + "\n";
  ordered_json json{{"collective", schedule::to_string(request.collective)},
                    {"nodes", request.nodes},
                    {"bytes", request.bytes},
                    {"algorithm", nullptr},
                    {"threshold", nullptr},
                    {"predicted_ns", 0.0},
                    {"ring_ns", 0.0},
                    {"speedup_vs_ring", nullptr},
                    {"reconfigurations", 0},
                    {"restore_ns", 0.0},
                    {"reason", kReason},
                    {"steps", ordered_json::array()},
                    {"candidates", ordered_json::array()}};
  if (request.collective == Collective::allreduce) json["threshold_gather"] = nullptr;
  return json.dump(2) + "\n";
}

}  // namespace

PlanCommand::PlanCommand(CLI::App& app)
    : app_(app.add_subcommand("plan", "Plan one collective: steps, circuits, predicted time")) {
  app_->allow_extras();
  app_->add_option("--collective", collective_, joined(kCollectives) + " (required)")
      ->type_name("NAME");
  app_->add_option("--nodes", nodes_,
                   fmt::format("Endpoints, 1 to {} (required without --dims)", kMaximumNodes))
      ->type_name("N");
  app_->add_option("--dims", dims_, "A torus instead of one ring, e.g. 16x8")->type_name("AxB");
  app_->add_option("--bytes", bytes_, "Size of the message with its unit, e.g. 32kB (required)")
      ->type_name("SIZE");
  app_->add_option("--operands", operands_,
                   joined(kOperands) +
                       ": the operation must keep rank order, may not (but\n"
                       "rounds), or never rounds, as on integers [commutative]")
      ->type_name("NAME");
  options_.add_to(*app_);
  app_->add_option("--fabric", fabric_,
                   joined(kFabrics) +
                       ": one switched port beside a fixed one, or all switched\n"
                       "(circulant: also alltoall and broadcast) [ring-ocs]")
      ->type_name("NAME");
  app_->add_flag("--json", json_, "Print one JSON object instead of a table");
  app_->footer(
      "Values need their units: sizes B, kB, MB, GB, KiB, MiB, GiB; times ns, us, ms, s; rates\n"
      "Mb/s, Gb/s, GB/s. What is not given has the default in brackets; SHORTCUT_ variables and\n"
      "files of settings do not count here. The plan starts from the ring.\n\n"
      "Example: shortcut plan --collective allreduce --nodes 32 --bytes 1MB --delta 10us\n");
}

Result<std::string> PlanCommand::run_on_circulant() const {
  CirculantArguments arguments{collective_, nodes_, bytes_, json_, {}};
  for (const PlanOptions::Given& knob : options_.all_given()) {
    arguments.knobs.push_back({knob.knob, knob.option, knob.text});
  }
  return plan_on_circulant_fabric(arguments);
}

Result<std::string> PlanCommand::run() const {
  if (fabric_ == kCirculantFabric) {
    if (!dims_.empty()) return Error{"--dims: does not apply to --fabric circulant"};
    if (app_->get_option("--operands")->count() > 0) {
      return Error{"--operands: does not apply to --fabric circulant"};
    }
    return run_on_circulant();
  }
  if (fabric_ != kFabrics[0]) {
    return Error{fmt::format("--fabric: '{}' is not one of {}{}", fabric_, joined(kFabrics),
                             suggestion(fabric_, kFabrics))};
  }
  Request request;
  const auto required = [&](const char* option) { return app_->get_option(option)->count() > 0; };
  if (!required("--collective")) {
    return Error{fmt::format("--collective is required: one of {}", joined(kCollectives))};
  }
  std::vector<int> dims;
  if (required("--dims")) {
    if (dims_ == "ring" || dims_ == "auto" || dims_ == "cart") {
      return Error{
          fmt::format("--dims: '{}' depends on the job; give the sizes, such as 16x8", dims_)};
    }
    auto parsed = topology::parse_dims(dims_);
    if (!parsed.ok()) return Error{"--dims: " + parsed.error().message};
    dims = std::move(parsed).value();
    std::int64_t product = 1;
    for (const int size : dims) product = std::min<std::int64_t>(product * size, kMaximumNodes + 1);
    if (product > kMaximumNodes) {
      return Error{fmt::format("--dims: '{}' has over {} endpoints", dims_, kMaximumNodes)};
    }
    request.nodes = static_cast<int>(product);
  } else if (!required("--nodes")) {
    return Error{fmt::format("--nodes is required: an integer from 1 to {}", kMaximumNodes)};
  }
  if (!required("--bytes")) {
    return Error{fmt::format("--bytes is required: a number followed by {}", kByteUnits)};
  }
  const auto collective = parse_collective(collective_);
  if (!collective.ok()) return collective.error();
  request.collective = collective.value();
  if (required("--nodes")) {
    const auto nodes = parse_integer(nodes_, 1, kMaximumNodes);
    if (!nodes.ok()) return Error{"--nodes: " + nodes.error().message};
    if (!dims.empty() && nodes.value() != request.nodes) {
      return Error{
          fmt::format("--nodes: '{}' is not the {} of --dims {}", nodes_, request.nodes, dims_)};
    }
    request.nodes = nodes.value();
  }
  const auto bytes = parse_bytes(bytes_);
  if (!bytes.ok()) return Error{"--bytes: " + bytes.error().message};
  request.bytes = bytes.value();
  request.bytes_text = bytes_;

  const auto operands = parse_operands(operands_);
  if (!operands.ok()) return operands.error();
  request.operands = operands.value();

  auto options = options_.read();
  if (!options.ok()) return options.error();
  request.options = std::move(options).value();
  if (std::count_if(dims.begin(), dims.end(), [](int size) { return size > 1; }) > 1) {
    return plan_on_torus({request.collective, dims, request.bytes, request.bytes_text,
                          request.operands, request.options, json_});
  }
  if (const Status status =
          check_options_for(request.options, request.collective, request.nodes, request.operands);
      !status.ok()) {
    return status.error();
  }
  if (request.nodes == 1) return nothing_to_plan(request, json_);

  const planner::Selector selector(request.options, request.nodes);
  const planner::SelectionTable& table =
      selector.table(request.collective, request.operands, CircuitState::ring());
  // The rule at this very size, not the table: at a crossing the table may hold either neighbour.
  const auto all =
      selector.all_candidates(request.collective, request.operands, CircuitState::ring(),
                              static_cast<double>(request.bytes));
  const int chosen = selector.choose(all, static_cast<double>(request.bytes));
  const planner::Plan plan =
      planner::expand(request.options, all[static_cast<std::size_t>(chosen)], CircuitState::ring());
  return json_ ? json_text(request, selector, plan, table)
               : plan_text(request, selector, plan, table);
}

}  // namespace shortcut::cli
