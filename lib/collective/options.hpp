// From settings (how users spell things) to the planner's options.
#pragma once

#include "config/settings.hpp"
#include "planner/plan.hpp"

namespace shortcut::collective {

/// A threshold above log2 of `ranks` means the same as that.
planner::Options planner_options(const config::Settings& settings, int ranks);

}  // namespace shortcut::collective
