// From settings (how users spell things) to the planner's options.
#pragma once

#include "config/settings.hpp"
#include "planner/plan.hpp"

namespace shortcut::config {

/// One field each, unchecked: an algorithm may be unknown, a threshold beyond the ranks at hand.
planner::Options planner_options(const Settings& settings);

}  // namespace shortcut::config
