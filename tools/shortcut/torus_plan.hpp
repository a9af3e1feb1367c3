// `shortcut plan --dims`: collectives on a whole torus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan.hpp"
#include "schedule/registry.hpp"
#include "support/result.hpp"

namespace shortcut::cli {

struct TorusArguments {
  schedule::Collective collective = schedule::Collective::allreduce;
  std::vector<int> dims;  ///< as given, sizes of 1 among them
  std::uint64_t bytes = 0;
  std::string bytes_text;
  schedule::Operands operands = schedule::Operands::commutative;
  planner::Options options;
  bool json = false;
};

/// Errors name the option. With fewer than two sizes above 1 there is a ring, no torus: nothing
/// that is for this function (asserted).
Result<std::string> plan_on_torus(const TorusArguments& arguments);

}  // namespace shortcut::cli
