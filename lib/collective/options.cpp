#include "collective/options.hpp"

#include "topology/matching.hpp"

namespace shortcut::collective {

planner::Options planner_options(const config::Settings& settings, int ranks) {
  planner::Options options;
  options.fabric.alpha_s_ns = settings.alpha_s_ns;
  options.fabric.alpha_p_ns = settings.alpha_p_ns;
  options.fabric.beta_ns_per_byte = settings.beta_ns_per_byte;
  options.fabric.delta_ns = settings.delta_ns;
  options.fabric.hop_factor = settings.hop_factor;
  options.fabric.antipodal = settings.antipodal == config::Antipodal::balanced
                                 ? topology::Antipodal::balanced
                                 : topology::Antipodal::same_path;
  options.fabric.base_ring = settings.base_ring == config::BaseRing::twisted
                                 ? topology::BaseRing::twisted
                                 : topology::BaseRing::plain;
  options.planner = settings.planner == config::Planner::threshold ? planner::Planner::threshold
                                                                   : planner::Planner::optimal;
  options.accounting = settings.accounting == config::Accounting::paper ? model::Accounting::paper
                                                                        : model::Accounting::exact;
  options.rule = settings.rule == config::Rule::first_feasible ? planner::Rule::first_feasible
                                                               : planner::Rule::best;
  options.restore = settings.restore == config::Restore::none    ? planner::Restore::none
                    : settings.restore == config::Restore::eager ? planner::Restore::eager
                                                                 : planner::Restore::lazy;
  options.min_gain = settings.min_gain;
  options.reconfigurable = settings.fabric != config::Fabric::static_;
  options.algorithm = settings.algorithm;
  options.threshold = settings.threshold;
  const int levels = topology::floor_log2(ranks);
  if (options.threshold > levels) options.threshold = levels;
  return options;
}

}  // namespace shortcut::collective
