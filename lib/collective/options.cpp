#include "collective/options.hpp"

#include <fmt/format.h>

#include "topology/matching.hpp"

namespace shortcut::collective {

planner::Options planner_options(const config::Settings& settings, int ranks,
                                 std::string& warning) {
  planner::Options options;
  options.fabric.alpha_s_ns = settings.alpha_s_ns;
  options.fabric.alpha_p_ns = settings.alpha_p_ns;
  options.fabric.beta_ns_per_byte = settings.beta_ns_per_byte;
  options.fabric.delta_ns = settings.delta_ns;
  options.fabric.hop_factor = settings.hop_factor;
  options.fabric.antipodal = settings.antipodal == config::Antipodal::balanced
                                 ? topology::Antipodal::balanced
                                 : topology::Antipodal::same_path;
  options.accounting = settings.accounting == config::Accounting::paper ? model::Accounting::paper
                                                                        : model::Accounting::exact;
  options.rule = settings.rule == config::Rule::first_feasible ? planner::Rule::first_feasible
                                                               : planner::Rule::best;
  options.restore = settings.restore == config::Restore::none    ? planner::Restore::none
                    : settings.restore == config::Restore::eager ? planner::Restore::eager
                                                                 : planner::Restore::lazy;
  options.all_ports = settings.ports == config::Ports::all;
  options.min_gain = settings.min_gain;
  options.reconfigurable = settings.fabric != config::Fabric::static_;
  if (settings.algorithm != "auto") {
    const auto found = schedule::find_algorithm(settings.algorithm);
    if (found.ok() && found.value()->all_ports_only && !options.all_ports) {
      warning = fmt::format("SHORTCUT_ALGORITHM: '{}' needs SHORTCUT_PORTS=all; using auto",
                            settings.algorithm);
    } else if (found.ok()) {
      options.algorithm = settings.algorithm;
    } else {
      warning = fmt::format("SHORTCUT_ALGORITHM: {}; using auto", found.error().message);
    }
  }
  options.threshold = settings.threshold;
  const int levels = topology::floor_log2(ranks);
  if (options.threshold > levels) options.threshold = levels;
  return options;
}

}  // namespace shortcut::collective
