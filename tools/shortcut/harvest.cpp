// `shortcut plan --fabric circulant`: segments of steps, each on the circulant that suits it best.
#include "shortcut/harvest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/settings.hpp"
#include "planner/harvest.hpp"
#include "shortcut/commands.hpp"
#include "support/units.hpp"

namespace shortcut::cli {
namespace {

using nlohmann::ordered_json;
using planner::CirculantCollective;
using planner::CirculantForm;
using planner::CirculantPlan;
using planner::CirculantStep;
using planner::ShiftAlgorithm;

constexpr int kMaximumNodes = 65536;
constexpr std::array<std::string_view, 5> kCollectives{"allreduce", "reduce_scatter", "allgather",
                                                       "alltoall", "broadcast"};
constexpr std::array<std::string_view, 3> kForms{"static", "every-step", "optimal"};
/// Settings that say how a ring with switched ports is planned.
constexpr std::array<std::string_view, 8> kOtherFabric{
    "planner", "rule", "threshold", "accounting", "antipodal", "base_ring", "ports", "restore"};

struct Request {
  CirculantCollective collective = CirculantCollective::allreduce;
  int nodes = 0;
  std::uint64_t bytes = 0;
  std::string bytes_text;
  std::string algorithm = "auto";
  double min_gain = 1;
  model::FabricParameters fabric;

  std::string_view collective_name() const {
    return kCollectives[static_cast<std::size_t>(collective)];
  }
};

std::string_view form_name(CirculantForm form) { return kForms[static_cast<std::size_t>(form)]; }

bool is_ring(const CirculantPlan& plan) { return plan.algorithm->name == "ring"; }

std::string describe(const CirculantPlan& plan) {
  return is_ring(plan) ? "ring" : fmt::format("{} {}", plan.algorithm->name, form_name(plan.form));
}

Status check_algorithm(const Request& request) {
  if (request.algorithm == "auto") return {};
  const ShiftAlgorithm* row = planner::find_shift_algorithm(request.algorithm);
  if (row == nullptr) {
    std::vector<std::string_view> names{"auto"};
    for (const ShiftAlgorithm& known : planner::shift_algorithms()) names.push_back(known.name);
    return Error{fmt::format("--algorithm: '{}' is not one of {}{}", request.algorithm,
                             joined(names), suggestion(request.algorithm, names))};
  }
  const std::string why = row->cannot(request.collective, request.nodes);
  if (why.empty() || request.nodes == 1) return {};
  return Error{fmt::format("--algorithm: '{}' {} ({} on {} nodes)", request.algorithm, why,
                           request.collective_name(), request.nodes)};
}

Result<Request> parse(const CirculantArguments& arguments) {
  Request request;
  if (arguments.collective.empty()) {
    return Error{fmt::format("--collective is required: one of {}", joined(kCollectives))};
  }
  if (arguments.nodes.empty()) {
    return Error{fmt::format("--nodes is required: an integer from 1 to {}", kMaximumNodes)};
  }
  if (arguments.bytes.empty()) {
    return Error{fmt::format("--bytes is required: a number followed by {}", kByteUnits)};
  }
  const auto name = std::find(kCollectives.begin(), kCollectives.end(), arguments.collective);
  if (name == kCollectives.end()) {
    return Error{fmt::format("--collective: '{}' is not one of {}{}", arguments.collective,
                             joined(kCollectives), suggestion(arguments.collective, kCollectives))};
  }
  request.collective = static_cast<CirculantCollective>(name - kCollectives.begin());
  const auto nodes = parse_integer(arguments.nodes, 1, kMaximumNodes);
  if (!nodes.ok()) return Error{"--nodes: " + nodes.error().message};
  request.nodes = nodes.value();
  const auto bytes = parse_bytes(arguments.bytes);
  if (!bytes.ok()) return Error{"--bytes: " + bytes.error().message};
  request.bytes = bytes.value();
  request.bytes_text = arguments.bytes;

  config::Settings settings;
  for (const CirculantArguments::Knob& knob : arguments.knobs) {
    if (std::find(kOtherFabric.begin(), kOtherFabric.end(), knob.name) != kOtherFabric.end()) {
      return Error{fmt::format("{}: '{}' has no meaning with --fabric {}", knob.option, knob.text,
                               kCirculantFabric)};
    }
    if (knob.name == "algorithm") {  // circulants have others than the settings know
      request.algorithm = knob.text;
      continue;
    }
    const Status status = config::set(settings, knob.name, knob.text);
    if (!status.ok()) return Error{fmt::format("{}: {}", knob.option, status.error().message)};
  }
  if (!(settings.min_gain > 0)) {
    return Error{fmt::format("--min-gain: '{}' is not a number above 0", settings.min_gain)};
  }
  request.fabric.alpha_s_ns = settings.alpha_s_ns;
  request.fabric.alpha_p_ns = settings.alpha_p_ns;
  request.fabric.beta_ns_per_byte = settings.beta_ns_per_byte;
  request.fabric.delta_ns = settings.delta_ns;
  request.fabric.hop_factor = settings.hop_factor;
  request.min_gain = settings.min_gain;
  if (const Status status = check_algorithm(request); !status.ok()) return status.error();
  return request;
}

/// All that was compared, and which of it was chosen.
struct Choice {
  std::vector<CirculantPlan> candidates;
  std::optional<double> ring_ns;
  std::size_t chosen = 0;

  const CirculantPlan& plan() const { return candidates[chosen]; }
};

Choice choose(const Request& request) {
  Choice choice;
  const auto bytes = static_cast<double>(request.bytes);
  double least = 0;
  for (const ShiftAlgorithm& row : planner::shift_algorithms()) {
    if (!row.cannot(request.collective, request.nodes).empty()) continue;
    const bool ring = row.name == "ring";
    const bool forced = row.name == request.algorithm;
    if (request.algorithm != "auto" && !forced && !ring) continue;
    for (const CirculantForm form :
         {CirculantForm::fixed, CirculantForm::every_step, CirculantForm::optimal}) {
      if (ring && form != CirculantForm::fixed) continue;  // they are all the same
      choice.candidates.push_back(planner::plan_on_circulants(
          request.fabric, row, request.collective, request.nodes, bytes, form));
      const double ns = choice.candidates.back().predicted_ns;
      if (ring) choice.ring_ns = ns;
      if (request.algorithm != "auto" && !forced) continue;
      const bool scaled = choice.ring_ns && !ring && !forced;
      const double price = ns * (scaled ? request.min_gain : 1.0);
      // A form that is as cheap as an earlier one does not replace it, but `optimal` of one
      // algorithm always stands for its three.
      const bool first = choice.candidates.size() == 1 || (forced && form == CirculantForm::fixed);
      const bool own_optimum = form == CirculantForm::optimal && choice.plan().algorithm == &row &&
                               price <= least * (1 + 1e-12);
      if (first || price < least || own_optimum) {
        choice.chosen = choice.candidates.size() - 1;
        least = price;
      }
    }
  }
  return choice;
}

std::string reason(const Request& request, const Choice& choice) {
  const CirculantPlan& plan = choice.plan();
  const std::string own = format_time_ns(plan.predicted_ns);
  const bool forced = request.algorithm != "auto";  // one that cannot serve is an error here
  if (is_ring(plan) && forced) return fmt::format("ring: asked for; {}", own);
  if (is_ring(plan) && request.min_gain == 1) {
    return fmt::format("ring: nothing else is predicted below its {}", own);
  }
  if (is_ring(plan)) {
    return fmt::format("ring: nothing else gains min_gain {} over its {}", request.min_gain, own);
  }
  std::string text = fmt::format("{}: {}{}", describe(plan), forced ? "asked for; " : "", own);
  if (choice.ring_ns && plan.predicted_ns > 0) {
    text += fmt::format(" against ring's {} ({:.2f}x)", format_time_ns(*choice.ring_ns),
                        *choice.ring_ns / plan.predicted_ns);
  }
  return text + fmt::format(", {} reconfiguration{}", plan.reconfigurations,
                            plan.reconfigurations == 1 ? "" : "s");
}

std::string state_name(const CirculantStep& step) {
  return fmt::format("{}:{}", kCirculantFabric, step.generator);
}

double cost_ns(const Request& request, const CirculantStep& step, bool reconfigured) {
  return model::step_cost(request.fabric, step.route, step.flow_bytes, reconfigured).total_ns();
}

ordered_json header(const Request& request) {
  return {{"collective", request.collective_name()},
          {"nodes", request.nodes},
          {"bytes", request.bytes},
          {"fabric", kCirculantFabric}};
}

std::string json_text(const Request& request, const Choice& choice) {
  const CirculantPlan& plan = choice.plan();
  ordered_json json = header(request);
  json["algorithm"] = plan.algorithm->name;
  json["form"] = form_name(plan.form);
  json["predicted_ns"] = plan.predicted_ns;
  json["ring_ns"] = choice.ring_ns ? ordered_json(*choice.ring_ns) : ordered_json(nullptr);
  json["speedup_vs_ring"] = choice.ring_ns && plan.predicted_ns > 0
                                ? ordered_json(*choice.ring_ns / plan.predicted_ns)
                                : ordered_json(nullptr);
  json["reconfigurations"] = plan.reconfigurations;
  json["restore_ns"] = 0.0;
  json["reason"] = reason(request, choice);
  json["steps"] = ordered_json::array();
  int index = 0;
  for (const CirculantStep& step : plan.steps) {
    for (int i = 0; i < step.repeat; ++i) {
      const bool reconfigured = step.reconfigured && i == 0;
      json["steps"].push_back({{"index", index++},
                               {"state", state_name(step)},
                               {"hops", step.route.hops},
                               {"congestion", step.route.congestion},
                               {"bytes", step.flow_bytes},
                               {"reconfigured", reconfigured},
                               {"cost_ns", cost_ns(request, step, reconfigured)}});
    }
  }
  json["candidates"] = ordered_json::array();
  for (const CirculantPlan& candidate : choice.candidates) {
    json["candidates"].push_back({{"algorithm", candidate.algorithm->name},
                                  {"form", form_name(candidate.form)},
                                  {"reconfigurations", candidate.reconfigurations},
                                  {"predicted_ns", candidate.predicted_ns}});
  }
  return json.dump(2) + "\n";
}

std::string plan_text(const Request& request, const Choice& choice) {
  const CirculantPlan& plan = choice.plan();
  std::string text = fmt::format(
      "{} of {} on {} nodes, circulant fabric: alpha_s {}, alpha_p {}, {}, delta {}\n{}\n\n",
      request.collective_name(), request.bytes_text, request.nodes,
      format_time_ns(request.fabric.alpha_s_ns), format_time_ns(request.fabric.alpha_p_ns),
      format_rate_ns_per_byte(request.fabric.beta_ns_per_byte),
      format_time_ns(request.fabric.delta_ns), reason(request, choice));

  constexpr std::string_view kRow = "{:>5}  {:<6}  {:<15}  {:>5}  {:>10}  {:>10}  {:<9}  {:>10}\n";
  const auto row = [&](const auto&... cells) { text += fmt::format(fmt::runtime(kRow), cells...); };
  row("step", "times", "state", "hops", "congestion", "flow", "reconfig.", "cost");
  int index = 0;
  for (const CirculantStep& step : plan.steps) {
    row(index, step.repeat > 1 ? fmt::format("x{}", step.repeat) : "", state_name(step),
        step.route.hops, step.route.congestion,
        format_bytes(static_cast<std::uint64_t>(std::min(std::round(step.flow_bytes), 0x1p63))),
        step.reconfigured ? "yes" : "no",
        format_time_ns(cost_ns(request, step, step.reconfigured)));
    index += step.repeat;
  }
  row("total", "", "", "", "", "", "", format_time_ns(plan.predicted_ns));

  text += "\ncandidates\n";
  for (const CirculantPlan& candidate : choice.candidates) {
    text += fmt::format("  {:>10}  {}, {} reconfiguration{}\n",
                        format_time_ns(candidate.predicted_ns), describe(candidate),
                        candidate.reconfigurations, candidate.reconfigurations == 1 ? "" : "s");
  }
  return text;
}

std::string nothing_to_plan(const Request& request, bool as_json) {
  constexpr std::string_view kReason = "one node has nobody to exchange data with: nothing to plan";
  if (!as_json) return std::string(kReason) + "\n";
  ordered_json json = header(request);
  json["algorithm"] = json["form"] = nullptr;
  json["predicted_ns"] = json["ring_ns"] = 0.0;
  json["speedup_vs_ring"] = nullptr;
  json["reconfigurations"] = 0;
  json["restore_ns"] = 0.0;
  json["reason"] = kReason;
  json["steps"] = json["candidates"] = ordered_json::array();
  return json.dump(2) + "\n";
}

}  // namespace

Result<std::string> plan_on_circulant_fabric(const CirculantArguments& arguments) {
  const Result<Request> parsed = parse(arguments);
  if (!parsed.ok()) return parsed.error();
  const Request& request = parsed.value();
  if (request.nodes == 1) return nothing_to_plan(request, arguments.json);
  const Choice choice = choose(request);
  if (choice.candidates.empty()) {
    return Error{fmt::format("--nodes: '{}' is too many to plan {} on a circulant fabric",
                             request.nodes, request.collective_name())};
  }
  return arguments.json ? json_text(request, choice) : plan_text(request, choice);
}

}  // namespace shortcut::cli
