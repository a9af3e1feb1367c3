// `shortcut`: plans and settings of the library, from the command line.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "shortcut/commands.hpp"
#include "support/nearest.hpp"

namespace shortcut::cli {

std::string suggestion(std::string_view text, std::span<const std::string_view> names) {
  const std::string nearest = nearest_name(text, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

namespace {

/// CLI11 takes "-5us" for an option; joined to the option before it, it is a value.
std::vector<std::string> join_negative_values(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const bool negative = text.size() > 1 && text[0] == '-' &&
                          (std::isdigit(static_cast<unsigned char>(text[1])) || text[1] == '.');
    const bool after_option = !arguments.empty() && arguments.back().starts_with("--") &&
                              arguments.back().find('=') == std::string::npos;
    if (negative && after_option) {
      arguments.back() += "=" + text;
    } else {
      arguments.push_back(text);
    }
  }
  return arguments;
}

std::string unknown_argument(const CLI::App& app, std::string_view argument) {
  const bool option = argument.starts_with("-");
  const std::string_view name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  if (option) {
    for (const CLI::Option* known : app.get_options()) {
      for (const std::string& text : known->get_lnames()) names.push_back("--" + text);
    }
  } else {
    for (const CLI::App* known : app.get_subcommands({})) names.push_back(known->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("there is no {} '{}'{}", option ? "option" : "argument", name,
                     suggestion(name, views));
}

int fail(const CLI::App& app, std::string_view message) {
  const bool is_root = app.get_parent() == nullptr;
  fmt::print(stderr, "shortcut{}{}: {}\n", is_root ? "" : " ", is_root ? "" : app.get_name(),
             message);
  return kExitUsage;
}

template <class Command>
int run(const Command& command) {
  const auto extras = command.app()->remaining();
  if (!extras.empty()) return fail(*command.app(), unknown_argument(*command.app(), extras[0]));
  const Result<std::string> result = command.run();
  if (!result.ok()) return fail(*command.app(), result.error().message);
  std::fputs(result.value().c_str(), stdout);
  if (std::fflush(stdout) != 0) {
    std::perror("shortcut: cannot write to standard output");
    return 1;
  }
  return kExitOk;
}

int main_with(int argc, char** argv) {
  CLI::App app("Plans collectives on a fabric that can be rewired, and shows the settings.",
               "shortcut");
  app.set_version_flag("--version", "shortcut " SHORTCUT_VERSION);
  app.footer(
      "'shortcut plan --help' and the like tell more. A wrong command line\n"
      "gives one line on standard error and exit code 2.\n");
  app.allow_extras();
  app.require_subcommand(0, 1);
  const PlanCommand plan(app);
  const TopologyCommand topology(app);
  const SweepCommand sweep(app);
  const FiguresCommand figures(app);
  const InfoCommand info(app);

  std::vector<std::string> arguments = join_negative_values(argc, argv);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const auto parsed = app.get_subcommands();
    const CLI::App* at = parsed.empty() ? &app : parsed.front();
    for (const CLI::Option* option : at->get_options()) {
      if (static_cast<int>(option->count()) > option->get_items_expected_max()) {
        return fail(*at, fmt::format("{} is given {} times", option->get_name(), option->count()));
      }
    }
    return fail(*at, error.what());
  }
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) return fail(app, unknown_argument(app, extras[0]));
  if (plan.app()->parsed()) return run(plan);
  if (topology.app()->parsed()) return run(topology);
  if (sweep.app()->parsed()) return run(sweep);
  if (figures.app()->parsed()) return run(figures);
  if (info.app()->parsed()) return run(info);
  return fail(
      app, "a subcommand is needed: plan, topology, sweep, figures or info (see shortcut --help)");
}

}  // namespace
}  // namespace shortcut::cli

int main(int argc, char** argv) { return shortcut::cli::main_with(argc, argv); }
