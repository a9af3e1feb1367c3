// The subcommands of the program `shortcut`. Each adds itself to the command line and, when it was
// asked for, runs as a function of what was written there.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/registry.hpp"
#include "shortcut/plan_options.hpp"
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
  Result<std::string> run_on_circulant() const;

  CLI::App* app_;
  std::string collective_;
  std::string nodes_;
  std::string dims_;
  std::string bytes_;
  std::string fabric_ = "ring-ocs";
  std::string operands_ = "commutative";
  bool json_ = false;
  PlanOptions options_;
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
  std::string dims_, map_expression_;
};

class TopologyCommand {
 public:
  explicit TopologyCommand(CLI::App& app);
  CLI::App* app() const { return app_; }
  Result<std::string> run() const;

 private:
  CLI::App* app_;
  std::string nodes_, dims_, rings_per_switch_ = "1", ocs_ = "single";
  bool plan_ = false;
  std::string collective_, bytes_;
  PlanOptions options_;
  std::string dot_, svg_;
  bool json_ = false;
};

class SweepCommand {
 public:
  explicit SweepCommand(CLI::App& app);
  CLI::App* app() const { return app_; }
  Result<std::string> run() const;

 private:
  CLI::App* app_;
  std::string x_, y_, points_ = "20";
  std::string collective_, nodes_, bytes_;
  PlanOptions options_;
  std::string csv_, json_, png_, svg_, html_;
};

class FiguresCommand {
 public:
  explicit FiguresCommand(CLI::App& app);
  CLI::App* app() const { return app_; }
  Result<std::string> run() const;

 private:
  CLI::App* app_;
  std::string directory_;
};

}  // namespace shortcut::cli
