// `shortcut info`: the settings and the algorithms, as their tables have them.
#include <fmt/format.h>

#include <algorithm>

#include "config/load.hpp"
#include "config/settings.hpp"
#include "schedule/registry.hpp"
#include "shortcut/commands.hpp"

namespace shortcut::cli {
namespace {

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
  app_->footer("Without an option: the version and a short form of everything.\n");
}

Result<std::string> InfoCommand::run() const {
  std::vector<std::string> parts;
  if (variables_) parts.push_back(variables_text());
  if (markdown_ && !algorithms_) return Error{"--markdown: needs --algorithms"};
  if (algorithms_) parts.push_back(markdown_ ? algorithms_page() : algorithms_text());
  if (config_) parts.push_back(config_text());
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
