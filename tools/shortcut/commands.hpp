// The subcommands of the program `shortcut`. Each adds itself to the command line and, when it was
// asked for, runs as a function of what was written there.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/registry.hpp"
#include "support/result.hpp"

#ifndef SHORTCUT_VERSION
#define SHORTCUT_VERSION "unknown"
#endif

namespace shortcut::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage =
    2;  ///< a wrong command line: one line on stderr, nothing on stdout

/// "; did you mean 'best'?", or nothing when no name is close.
std::string suggestion(std::string_view text, std::span<const std::string_view> names);

/// A row's collectives and what it needs, in words.
std::string collectives_of(const schedule::Algorithm& row);
std::string needs_of(const schedule::Algorithm& row);
/// docs/algorithms.md.
std::string algorithms_page();

class PlanCommand {
 public:
  explicit PlanCommand(CLI::App& app);
  CLI::App* app() const { return app_; }
  /// What goes to stdout, or what is wrong with the command line.
  Result<std::string> run() const;

 private:
  struct KnobOption {
    std::string knob;  ///< name in the table of settings; the option is --<knob> with dashes
    std::string text;  ///< as written; empty: not given
    CLI::Option* option = nullptr;
  };
  CLI::App* app_;
  std::string collective_;
  std::string nodes_;
  std::string bytes_;
  bool json_ = false;
  std::vector<KnobOption> knobs_;
};

class InfoCommand {
 public:
  explicit InfoCommand(CLI::App& app);
  CLI::App* app() const { return app_; }
  Result<std::string> run() const;

 private:
  CLI::App* app_;
  bool variables_ = false;
  bool algorithms_ = false;
  bool markdown_ = false;
  bool config_ = false;
};

}  // namespace shortcut::cli
