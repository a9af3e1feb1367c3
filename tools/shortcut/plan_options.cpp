#include "shortcut/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "config/planner_options.hpp"
#include "config/settings.hpp"
#include "schedule/registry.hpp"
#include "shortcut/commands.hpp"
#include "support/units.hpp"
#include "topology/torus.hpp"

namespace shortcut::cli {
namespace {

using schedule::Collective;

constexpr std::array<std::string_view, 15> kKnobs{
    "alpha_s",   "alpha_p",   "bandwidth", "delta",      "planner",
    "rule",      "algorithm", "threshold", "hop_factor", "accounting",
    "antipodal", "base_ring", "ports",     "restore",    "min_gain"};

std::string option_name(std::string_view knob) {
  std::string name = "--" + std::string(knob);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// The names that an option takes, if it takes names.
std::vector<std::string_view> names_of(std::string_view knob) {
  const auto list = [](const auto& names) {
    return std::vector<std::string_view>(names.begin(), names.end());
  };
  if (knob == "planner") return list(config::kEnumNames<config::Planner>);
  if (knob == "base_ring") return list(config::kEnumNames<config::BaseRing>);
  if (knob == "rule") return list(config::kEnumNames<config::Rule>);
  if (knob == "accounting") return list(config::kEnumNames<config::Accounting>);
  if (knob == "antipodal") return list(config::kEnumNames<config::Antipodal>);
  if (knob == "ports") return list(config::kEnumNames<config::Ports>);
  if (knob == "restore") return list(config::kEnumNames<config::Restore>);
  if (knob == "threshold") return {"auto"};
  if (knob == "algorithm") {
    std::vector<std::string_view> names{"auto"};
    for (const schedule::Algorithm& row : schedule::algorithms()) names.push_back(row.name);
    return names;
  }
  return {};
}

planner::Options options_from(const config::Settings& settings) {
  planner::Options options = config::planner_options(settings);
  options.reconfigurable = true;
  // A plan made here starts from the ring, where `lazy` and `none` are the same.
  if (options.restore == planner::Restore::lazy) options.restore = planner::Restore::none;
  return options;
}

}  // namespace

std::string joined(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<Collective> parse_collective(std::string_view text) {
  const auto name = std::find(kCollectives.begin(), kCollectives.end(), text);
  if (name == kCollectives.end()) {
    const bool elsewhere = text == "alltoall" || text == "broadcast";
    return Error{fmt::format("--collective: '{}' is not one of {}{}{}", text, joined(kCollectives),
                             elsewhere ? " (it is planned for --fabric circulant only)" : "",
                             elsewhere ? "" : suggestion(text, kCollectives))};
  }
  return static_cast<Collective>(name - kCollectives.begin());
}

Result<schedule::Operands> parse_operands(std::string_view text) {
  const auto name = std::find(kOperands.begin(), kOperands.end(), text);
  if (name == kOperands.end()) {
    return Error{fmt::format("--operands: '{}' is not one of {}{}", text, joined(kOperands),
                             suggestion(text, kOperands))};
  }
  return static_cast<schedule::Operands>(name - kOperands.begin());
}

Status check_options_for(const planner::Options& options, Collective collective, int nodes,
                         schedule::Operands operands) {
  if (!(options.min_gain > 0)) {
    return Error{fmt::format("--min-gain: '{}' is not a number above 0", options.min_gain)};
  }
  const int levels = std::bit_width(static_cast<unsigned>(nodes)) - 1;
  if (options.threshold > levels) {
    return Error{
        fmt::format("--threshold: '{}' is not auto or an integer from 0 to {} (log2 of {} nodes)",
                    options.threshold, levels, nodes)};
  }
  if (options.algorithm == "auto") return {};
  const auto found = schedule::find_algorithm(options.algorithm);
  if (!found.ok()) {
    const auto names = names_of("algorithm");
    return Error{fmt::format("--algorithm: '{}' is not one of {}{}", options.algorithm,
                             joined(names), suggestion(options.algorithm, names))};
  }
  if (found.value()->all_ports_only && !options.all_ports) {
    return Error{fmt::format("--algorithm: '{}' needs --ports all", options.algorithm)};
  }
  if (options.threshold >= 0 && !found.value()->reconfigures) {
    return Error{fmt::format("--threshold: '{}' does not apply to '{}', which changes no circuits",
                             options.threshold, options.algorithm)};
  }
  const std::string_view why = found.value()->cannot(collective, nodes, operands);
  if (!why.empty() && nodes > 1) {
    return Error{fmt::format("--algorithm: '{}' {} ({} on {} nodes); it is for {}, and needs: {}",
                             options.algorithm, why, schedule::to_string(collective), nodes,
                             collectives_of(*found.value()), needs_of(*found.value()))};
  }
  return {};
}

Status check_options_on(const planner::Options& options, Collective collective,
                        const std::vector<int>& dims, schedule::Operands operands) {
  if (dims.size() == 1) return check_options_for(options, collective, dims[0], operands);
  if (options.accounting == model::Accounting::paper) {
    return Error{
        "--accounting: 'paper' does not apply to --dims: on a torus delta is charged when "
        "the circuits of a dimension change"};
  }
  // What a forced algorithm cannot do in one dimension it may do in another.
  Error first{""};
  for (const int size : dims) {
    const Status able = check_options_for(options, collective, size, operands);
    if (able.ok()) return {};
    if (first.message.empty()) first = able.error();
  }
  return Error{fmt::format("{}; of --dims {} no dimension can: the first says so", first.message,
                           topology::format_dims(dims))};
}

void PlanOptions::add_to(CLI::App& app) {
  const auto table = config::list_knobs(config::Settings{});
  knobs_.reserve(kKnobs.size());  // CLI11 keeps addresses of the texts
  for (const std::string_view name : kKnobs) {
    const auto knob = std::find_if(table.begin(), table.end(),
                                   [&](const config::KnobInfo& info) { return info.name == name; });
    Knob& entry = knobs_.emplace_back();
    entry.knob = name;
    const auto names = names_of(name);
    const std::string allowed = name == "threshold" ? "auto or 0 to log2 of the nodes"
                                : names.empty()     ? ""
                                                    : joined(names);
    entry.option =
        app.add_option(option_name(name), entry.text,
                       fmt::format("{}{}{} [{}]", knob->help, allowed.empty() ? "" : ": ", allowed,
                                   knob->default_text))
            ->type_name(knob->type);
  }
}

bool PlanOptions::given(std::string_view knob) const {
  return std::any_of(knobs_.begin(), knobs_.end(), [&](const Knob& entry) {
    return entry.knob == knob && entry.option->count() > 0;
  });
}

Result<planner::Options> PlanOptions::read() const {
  config::Settings settings;
  for (const Knob& knob : knobs_) {
    if (knob.option->count() == 0) continue;
    const Status status = config::set(settings, knob.knob, knob.text);
    if (!status.ok() && knob.knob == "threshold") {  // tighter than the setting: nodes are known
      return Error{
          fmt::format("--threshold: '{}' is not auto or an integer from 0 to log2 of the "
                      "nodes{}",
                      knob.text, suggestion(knob.text, names_of(knob.knob)))};
    }
    if (!status.ok()) {
      return Error{fmt::format("{}: {}{}", option_name(knob.knob), status.error().message,
                               suggestion(knob.text, names_of(knob.knob)))};
    }
  }
  return options_from(settings);
}

std::vector<PlanOptions::Given> PlanOptions::all_given() const {
  std::vector<Given> given;
  for (const Knob& knob : knobs_) {
    if (knob.option->count() > 0) given.push_back({knob.knob, option_name(knob.knob), knob.text});
  }
  return given;
}

}  // namespace shortcut::cli
