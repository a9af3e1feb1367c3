#include "collective/options.hpp"

#include <fmt/format.h>

#include "config/planner_options.hpp"
#include "topology/matching.hpp"

namespace shortcut::collective {

planner::Options planner_options(const config::Settings& settings, int ranks,
                                 std::string& warning) {
  planner::Options options = config::planner_options(settings);
  if (settings.algorithm != "auto") {
    const auto found = schedule::find_algorithm(settings.algorithm);
    if (found.ok() && found.value()->all_ports_only && !options.all_ports) {
      warning = fmt::format("SHORTCUT_ALGORITHM: '{}' needs SHORTCUT_PORTS=all; using auto",
                            settings.algorithm);
      options.algorithm = "auto";
    } else if (!found.ok()) {
      options.algorithm = "auto";
      warning = fmt::format("SHORTCUT_ALGORITHM: {}; using auto", found.error().message);
    }
  }
  const int levels = topology::floor_log2(ranks);
  if (options.threshold > levels) options.threshold = levels;
  return options;
}

}  // namespace shortcut::collective
