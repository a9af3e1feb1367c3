// The options that say how to plan, one per setting, shared by the subcommands that plan.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"
#include "support/result.hpp"

namespace shortcut::cli {

inline constexpr int kMaximumNodes = 65536;
inline constexpr std::array<std::string_view, 3> kCollectives{"allreduce", "reduce_scatter",
                                                              "allgather"};

/// In the order of schedule::Operands.
inline constexpr std::array<std::string_view, 3> kOperands{"in-order", "commutative", "exact"};

std::string joined(std::span<const std::string_view> names);

/// The error is for --collective.
Result<schedule::Collective> parse_collective(std::string_view text);

/// What only the options together can tell.
Status check_options_for(const planner::Options& options, schedule::Collective collective,
                         int nodes, schedule::Operands operands);
/// The same for sizes above 1, of which there may be several: then some dimension must be able to.
Status check_options_on(const planner::Options& options, schedule::Collective collective,
                        const std::vector<int>& dims, schedule::Operands operands);

/// The error is for --operands.
Result<schedule::Operands> parse_operands(std::string_view text);

class PlanOptions {
 public:
  /// Adds --alpha-s, --delta, --planner, ... Once; the object must stay where it is.
  void add_to(CLI::App& app);
  /// Was the option of this setting written?
  bool given(std::string_view knob) const;
  Result<planner::Options> read() const;

  struct Given {
    std::string knob;    ///< delta
    std::string option;  ///< --delta
    std::string text;
  };
  /// Those that were written, unread: for a planner that takes only some of them.
  std::vector<Given> all_given() const;

 private:
  struct Knob {
    std::string knob;  ///< name in the table of settings; the option is --<knob> with dashes
    std::string text;  ///< as written; empty: not given
    CLI::Option* option = nullptr;
  };
  std::vector<Knob> knobs_;
};

}  // namespace shortcut::cli
