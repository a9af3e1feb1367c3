// What the router finds for the steps of the algorithms, without laying anything out: planning asks
// thousands of times. The tests compare every answer with the router's.
#pragma once

#include <optional>

#include "topology/router.hpp"

namespace shortcut::topology {

/// Who exchanges with whom in a step, as a family over the steps of an algorithm.
enum class Pattern : std::uint8_t {
  neighbours,    ///< each to the next on the base ring
  exclusive_or,  ///< u with u xor 2^i
  swing,         ///< u with u + rho(i) (even u) or u - rho(i) (odd u)
};

/// A fabric's shape, as far as routes depend on it.
struct RingShape {
  int nodes = 1;
  Antipodal antipodal = Antipodal::same_path;
  BaseRing base = BaseRing::plain;
};

/// Is there a closed form for this pattern on this state? For n a power of two: exclusive_or on
/// ring, peer and subring states, swing on the plain ring and on swing:i, i >= 1, and neighbours on
/// the ring.
bool has_closed_form(RingShape shape, Pattern pattern, CircuitState state);

/// The route of step `step` where has_closed_form holds and the fabric can hold the state; nullopt:
/// unreachable.
std::optional<Route> closed_form(RingShape shape, Pattern pattern, int step, CircuitState state);

}  // namespace shortcut::topology
