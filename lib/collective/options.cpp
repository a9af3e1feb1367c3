#include "collective/options.hpp"

#include "config/planner_options.hpp"
#include "topology/matching.hpp"

namespace shortcut::collective {

planner::Options planner_options(const config::Settings& settings, int ranks) {
  planner::Options options = config::planner_options(settings);
  const int levels = topology::floor_log2(ranks);
  if (options.threshold > levels) options.threshold = levels;
  return options;
}

}  // namespace shortcut::collective
