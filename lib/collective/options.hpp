// From settings (how users spell things) to the planner's options.
#pragma once

#include <string>

#include "config/settings.hpp"
#include "planner/plan.hpp"

namespace shortcut::collective {

/// Settings that name something unknown (an algorithm) or out of range for `ranks` keep the default
/// and add a line to `warning`.
planner::Options planner_options(const config::Settings& settings, int ranks, std::string& warning);

}  // namespace shortcut::collective
