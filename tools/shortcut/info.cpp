// `shortcut info`: the settings and the algorithms, as their tables have them.
#include <fmt/format.h>

#include <algorithm>

#include "config/load.hpp"
#include "config/settings.hpp"
#include "schedule/registry.hpp"
#include "shortcut/commands.hpp"
#include "support/files.hpp"
#include "topology/placement.hpp"

namespace shortcut::cli {
namespace {

constexpr int kMaximumMapped = 65536;

std::string shown(const std::string& text) { return text.empty() ? "(empty)" : text; }

std::string variables_text() {
  std::string text;
  for (const config::KnobInfo& knob : config::list_knobs(config::Settings{})) {
    text += fmt::format("{} ({})\n  {}\n  type     {}\n  default  {}\n  allowed  {}\n",
                        knob.environment, knob.name, knob.help, knob.type, shown(knob.default_text),
                        knob.allowed);
  }
  return text;
}

std::string algorithms_text() {
  std::string text;
  for (const schedule::Algorithm& row : schedule::algorithms()) {
    text += fmt::format(
        "{}\n  {}\n  collectives   {}\n  steps         {}\n  bytes sent    {}\n"
        "  needs         {}\n  reconfigures  {}\n",
        row.name, row.summary, collectives_of(row), row.steps, row.bytes, needs_of(row),
        row.reconfigures ? "yes" : "no");
  }
  return text;
}

std::string config_text() {
  const config::Loaded loaded = config::load_from_process();
  const std::vector<config::KnobInfo> knobs = config::list_knobs(loaded.settings);
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const config::KnobInfo& knob : knobs) {
    name_width = std::max(name_width, knob.name.size());
    value_width = std::max(value_width, shown(knob.value).size());
  }
  std::string text;
  for (const config::KnobInfo& knob : knobs) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n", knob.name, name_width, shown(knob.value),
                        value_width, config::name_of(knob.source));
  }
  for (const std::string& warning : loaded.warnings) text += fmt::format("warning: {}\n", warning);
  return text;
}

/// endpoint[rank], as far as it can be told without the job.
Result<std::vector<int>> endpoints_of(const topology::Torus& torus,
                                      const topology::MapExpression& map, int ranks_per_node) {
  using Kind = topology::MapExpression::Kind;
  if (map.kind == Kind::axes) return topology::map_by_axes(torus, map.axes);
  if (map.kind == Kind::file) {
    const auto text = read_text_file(map.path);
    if (!text.ok()) return text.error();
    auto endpoints = topology::map_from_text(torus, text.value());
    if (!endpoints.ok()) return Error{map.path + ", " + endpoints.error().message};
    return endpoints;
  }
  std::vector<int> node_of;
  for (int rank = 0; rank < torus.nodes(); ++rank) {
    node_of.push_back(rank / std::max(1, ranks_per_node));
  }
  return topology::map_by_nodes(node_of, {});
}

Result<std::string> map_text(const config::Settings& settings) {
  if (settings.dims == "ring" || settings.dims == "auto" || settings.dims == "cart") {
    return Error{
        fmt::format("--map: needs the sizes of the torus, by --dims 4x4 or SHORTCUT_DIMS; "
                    "'{}' depends on the job",
                    settings.dims)};
  }
  const topology::Torus torus(topology::parse_dims(settings.dims).value());
  if (torus.nodes() > kMaximumMapped) {
    return Error{fmt::format("--dims: '{}' has over {} endpoints", settings.dims, kMaximumMapped)};
  }
  const topology::MapExpression map = topology::parse_map(settings.map).value();
  const auto endpoints = endpoints_of(torus, map, settings.ranks_per_node);
  if (!endpoints.ok()) return Error{"--map: " + endpoints.error().message};
  std::string text = fmt::format("map {} on a torus of {} ({} endpoints)\n", settings.map,
                                 topology::format_dims(torus.dims()), torus.nodes());
  if (map.kind == topology::MapExpression::Kind::nodes) {
    text += fmt::format(
        "auto goes by the nodes and cores of the job: here {} rank{} in a row share a node "
        "(ranks_per_node); with SHORTCUT_LOG=info a job prints its own\n",
        std::max(1, settings.ranks_per_node), settings.ranks_per_node > 1 ? "s" : "");
  }
  text += fmt::format("{:>8}{:>10}  coordinates (dimension 0 first)\n", "rank", "endpoint");
  int moved = 0;
  for (int rank = 0; rank < torus.nodes(); ++rank) {
    const int endpoint = endpoints.value()[static_cast<std::size_t>(rank)];
    moved += endpoint != rank ? 1 : 0;
    text += fmt::format("{:>8}{:>10}  ({})\n", rank, endpoint,
                        fmt::join(torus.coordinates(endpoint), ", "));
  }
  text += moved == 0 ? "every rank is on the endpoint of its number\n"
                     : fmt::format("{} of {} ranks are moved\n", moved, torus.nodes());
  return text;
}

}  // namespace

InfoCommand::InfoCommand(CLI::App& app)
    : app_(app.add_subcommand("info", "Show the settings and the algorithms")) {
  app_->allow_extras();
  app_->add_flag("--variables", variables_,
                 "Every setting: variable, type, default, allowed values, meaning");
  app_->add_flag("--algorithms", algorithms_,
                 "Every algorithm: collectives, steps, bytes, what it needs");
  app_->add_flag("--markdown", markdown_,
                 "With --algorithms: as the page docs/algorithms.md, with where each wins");
  app_->add_flag("--config", config_,
                 "The settings in effect here and where each comes from (default, file,\n"
                 "environment), with warnings");
  app_->add_option(
          "--map", map_expression_,
          "Where each rank sits on the torus: of this map, or without one of the setting's\n"
          "(rank, auto, axes:1,0 or file:PATH)")
      ->type_name("MAP")
      ->expected(0, 1);
  app_->add_option("--dims", dims_, "With --map: the torus, e.g. 4x4 [the setting's]")
      ->type_name("AxB");
  app_->footer("Without an option: the version and a short form of everything.\n");
}

Result<std::string> InfoCommand::run() const {
  std::vector<std::string> parts;
  if (variables_) parts.push_back(variables_text());
  if (markdown_ && !algorithms_) return Error{"--markdown: needs --algorithms"};
  if (algorithms_) parts.push_back(markdown_ ? algorithms_page() : algorithms_text());
  if (config_) parts.push_back(config_text());
  const bool map = app_->get_option("--map")->count() > 0;
  if (!dims_.empty() && !map) return Error{"--dims: needs --map"};
  if (map) {
    config::Settings settings = config::load_from_process().settings;
    if (!map_expression_.empty()) {
      const Status taken = config::set(settings, "map", map_expression_);
      if (!taken.ok()) return Error{"--map: " + taken.error().message};
    }
    if (!dims_.empty()) {
      const Status taken = config::set(settings, "dims", dims_);
      if (!taken.ok()) return Error{"--dims: " + taken.error().message};
    }
    auto text = map_text(settings);
    if (!text.ok()) return text.error();
    parts.push_back(std::move(text).value());
  }
  if (parts.empty()) {
    std::string names = "algorithms (more with --algorithms):\n";
    for (const schedule::Algorithm& row : schedule::algorithms()) {
      names += fmt::format("  {:<24} {}\n", row.name, row.summary);
    }
    parts = {"shortcut " SHORTCUT_VERSION "\n", names,
             "settings in effect (more with --variables):\n" + config_text()};
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n") + part;
  return text;
}

}  // namespace shortcut::cli
