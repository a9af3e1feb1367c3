// The cost model: the price of one step on one circuit state (Eq. 1 of the Shortcut paper).
#pragma once

#include "topology/router.hpp"

namespace shortcut::model {

/// When a reconfiguration is charged.
enum class Accounting {
  exact,  ///< delta whenever the switched ports change
  paper,  ///< delta before every step from the threshold on, even where nothing changes (as
          ///< printed)
};

/// Parameters of a fabric. Times in ns, sizes in bytes.
struct FabricParameters {
  double alpha_s_ns = 500;         ///< start-up time of a step, >= 0
  double alpha_p_ns = 500;         ///< delay of a hop, >= 0
  double beta_ns_per_byte = 0.01;  ///< transmission time, > 0; 0.01 is 800 Gb/s
  double delta_ns = 10'000;        ///< reconfiguration delay, >= 0
  int hop_factor = 1;              ///< 1, or 2 where a step ends on the acknowledgement
  topology::Antipodal antipodal = topology::Antipodal::same_path;
  topology::BaseRing base_ring = topology::BaseRing::plain;
  bool operator==(const FabricParameters&) const = default;
};

/// The four terms of Eq. 1, in ns.
struct Breakdown {
  double startup_ns = 0;
  double propagation_ns = 0;
  double transmission_ns = 0;
  double reconfiguration_ns = 0;
  double total_ns() const {
    return startup_ns + propagation_ns + transmission_ns + reconfiguration_ns;
  }
};

/// A price as a function of the message size: fixed_ns + per_byte_ns * bytes.
struct Line {
  double fixed_ns = 0;
  double per_byte_ns = 0;
  double at(double bytes) const { return fixed_ns + per_byte_ns * bytes; }
  Line& operator+=(const Line& other) {
    fixed_ns += other.fixed_ns;
    per_byte_ns += other.per_byte_ns;
    return *this;
  }
  Line scaled(double factor) const { return {fixed_ns * factor, per_byte_ns * factor}; }
};

/// Eq. 1: alpha_s + hop_factor*h*alpha_p + c*m_i*beta + r*delta, term by term.
/// `flow_bytes` is m_i, the largest flow of the step.
inline Breakdown step_cost(const FabricParameters& fabric, topology::Route route, double flow_bytes,
                           bool reconfigured) {
  return {fabric.alpha_s_ns, fabric.hop_factor * route.hops * fabric.alpha_p_ns,
          route.congestion * flow_bytes * fabric.beta_ns_per_byte,
          reconfigured ? fabric.delta_ns : 0.0};
}

/// The same as a line over the message size m, where the largest flow carries share * m.
inline Line step_line(const FabricParameters& fabric, topology::Route route, double share,
                      bool reconfigured) {
  const Breakdown at_zero = step_cost(fabric, route, 0, reconfigured);
  return {at_zero.total_ns(), step_cost(fabric, route, share, false).transmission_ns};
}

}  // namespace shortcut::model
