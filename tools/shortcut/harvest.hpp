// `shortcut plan --fabric circulant`: the part of the subcommand that plans on circulants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace shortcut::cli {

inline constexpr std::string_view kCirculantFabric = "circulant";

/// The command line as written; empty texts: not given.
struct CirculantArguments {
  struct Knob {
    std::string name;    ///< in the table of settings
    std::string option;  ///< as it is called on the command line
    std::string text;
  };
  std::string collective;
  std::string nodes;
  std::string bytes;
  bool json = false;
  std::vector<Knob> knobs;  ///< those that were given
};

/// What goes to stdout, or what is wrong with the command line.
Result<std::string> plan_on_circulant_fabric(const CirculantArguments& arguments);

}  // namespace shortcut::cli
