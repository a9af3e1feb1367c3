#include "config/load.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "support/nearest.hpp"

namespace shortcut::config {
namespace {

constexpr std::string_view kFileKnob = "config";

/// Prefixes of variables that our own programs and tests use among themselves.
constexpr std::array<std::string_view, 6> kInternalPrefixes{
    "SHORTCUT_PRELOAD_", "SHORTCUT_TEST_", "SHORTCUT_RUN_",
    "SHORTCUT_BENCH_",   "SHORTCUT_LAB_",  "SHORTCUT_INTERNAL_"};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string did_you_mean(const std::string& nearest) {
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

/// A value that was not understood: what holds instead is known when all has been read.
struct Rejected {
  std::string_view knob;
  std::string warning;
};

bool is_knob(std::string_view name) {
  const auto names = knob_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What the user would have written as an environment variable.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "1" : "0";
  return std::nullopt;
}

/// The knob's name as knob_names() has it, which lives for ever.
std::string_view knob_named(std::string_view name) {
  const auto names = knob_names();
  return *std::find(names.begin(), names.end(), name);
}

void read_file(const std::string& path, Loaded& loaded, std::vector<Rejected>& rejected) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    loaded.warnings.push_back(fmt::format("{}: '{}' is a directory, not a file; it is ignored",
                                          environment_name(kFileKnob), path));
    return;
  }
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const auto line = error.source().begin.line;
    const std::string where = line > 0 ? fmt::format("{}:{}", path, line) : path;
    loaded.warnings.push_back(
        fmt::format("{}: {}; the file is ignored", where, std::string_view(error.description())));
    return;
  }
  for (const auto& [key, node] : parsed.table()) {
    const std::string name(key.str());
    const std::string where = fmt::format("{}:{}", path, key.source().begin.line);
    if (node.is_table()) {
      loaded.warnings.push_back(fmt::format(
          "{}: there are no tables, settings stand at the top of the file; '[{}]' and what is in "
          "it are ignored",
          where, name));
      continue;
    }
    if (!is_knob(name)) {
      // SHORTCUT_DELTA and DELTA are meant for delta.
      std::string knob = lower(name);
      if (knob.starts_with("shortcut_")) knob.erase(0, 9);
      loaded.warnings.push_back(fmt::format("{}: there is no setting '{}'{}", where, name,
                                            did_you_mean(nearest_name(knob, knob_names()))));
      continue;
    }
    if (name == kFileKnob) {
      loaded.warnings.push_back(
          fmt::format("{}: '{}' can only be set in the environment", where, name));
      continue;
    }
    const auto text = text_of(node);
    if (!text) {
      rejected.push_back(
          {knob_named(name),
           fmt::format("{}: '{}' must be a text, a number or a truth value", where, name)});
      continue;
    }
    if (const Status status = set(loaded.settings, name, *text, Source::file); !status) {
      rejected.push_back(
          {knob_named(name), fmt::format("{}: {}: {}", where, name, status.error().message)});
    }
  }
}

void warn_unknown_variables(const Environment& environment, Loaded& loaded) {
  const auto first = environment.lower_bound(std::string(kEnvironmentPrefix));
  for (auto variable = first; variable != environment.end(); ++variable) {
    const std::string& name = variable->first;
    if (!name.starts_with(kEnvironmentPrefix)) break;
    std::string knob = name.substr(kEnvironmentPrefix.size());
    knob = lower(knob);
    if (is_knob(knob) && environment_name(knob) == name) continue;
    if (std::any_of(kInternalPrefixes.begin(), kInternalPrefixes.end(),
                    [&](std::string_view prefix) { return name.starts_with(prefix); })) {
      continue;
    }
    // Compared without the prefix, which would make everything look alike.
    const std::string nearest = nearest_name(knob, knob_names());
    loaded.warnings.push_back(
        fmt::format("there is no variable {}{}", name,
                    did_you_mean(nearest.empty() ? nearest : environment_name(nearest))));
  }
}

}  // namespace

Environment environment_from(const char* const* environ_list) {
  Environment environment;
  for (; environ_list != nullptr && *environ_list != nullptr; ++environ_list) {
    const std::string_view entry = *environ_list;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    // The first of two entries of one name counts, as with getenv().
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

Loaded load(const Environment& environment) {
  Loaded loaded;
  std::vector<Rejected> rejected;
  const auto file = environment.find(environment_name(kFileKnob));
  if (file != environment.end() && !file->second.empty()) read_file(file->second, loaded, rejected);
  for (const std::string_view name : knob_names()) {
    const auto variable = environment.find(environment_name(name));
    if (variable == environment.end()) continue;
    const Status status = set(loaded.settings, name, variable->second, Source::environment);
    if (!status) {
      rejected.push_back({name, fmt::format("{}: {}", variable->first, status.error().message)});
    }
  }
  const std::vector<KnobInfo> knobs = list_knobs(loaded.settings);
  for (const Rejected& each : rejected) {
    const auto knob = std::find_if(knobs.begin(), knobs.end(),
                                   [&](const KnobInfo& info) { return info.name == each.knob; });
    loaded.warnings.push_back(
        fmt::format("{}; using {}{}", each.warning,
                    knob->source == Source::default_text ? "the default " : "", knob->value));
  }
  warn_unknown_variables(environment, loaded);
  return loaded;
}

Loaded load_from_process() { return load(environment_from(environ)); }

}  // namespace shortcut::config
