#include "config/planner_options.hpp"

namespace shortcut::config {

planner::Options planner_options(const Settings& settings) {
  planner::Options options;
  options.fabric.alpha_s_ns = settings.alpha_s_ns;
  options.fabric.alpha_p_ns = settings.alpha_p_ns;
  options.fabric.beta_ns_per_byte = settings.beta_ns_per_byte;
  options.fabric.delta_ns = settings.delta_ns;
  options.fabric.hop_factor = settings.hop_factor;
  options.fabric.antipodal = settings.antipodal == Antipodal::balanced
                                 ? topology::Antipodal::balanced
                                 : topology::Antipodal::same_path;
  options.fabric.base_ring = settings.base_ring == BaseRing::twisted ? topology::BaseRing::twisted
                                                                     : topology::BaseRing::plain;
  options.planner = settings.planner == Planner::threshold ? planner::Planner::threshold
                                                           : planner::Planner::optimal;
  options.accounting = settings.accounting == Accounting::paper ? model::Accounting::paper
                                                                : model::Accounting::exact;
  options.rule =
      settings.rule == Rule::first_feasible ? planner::Rule::first_feasible : planner::Rule::best;
  options.restore = settings.restore == Restore::none    ? planner::Restore::none
                    : settings.restore == Restore::eager ? planner::Restore::eager
                                                         : planner::Restore::lazy;
  options.all_ports = settings.ports == Ports::all;
  options.min_gain = settings.min_gain;
  options.reconfigurable = settings.fabric != Fabric::static_;
  options.algorithm = settings.algorithm;
  options.threshold = settings.threshold;
  return options;
}

}  // namespace shortcut::config
