#include "topology/closed_form.hpp"

#include <algorithm>
#include <cassert>

namespace shortcut::topology {
namespace {

Route equal(int hops) { return {hops, hops}; }

std::optional<Route> exclusive_or_route(RingShape shape, int step, CircuitState state) {
  if (step == 0) return Route{1, 1};  // the fixed links
  const int levels = floor_log2(shape.nodes);
  switch (state.kind) {
    case CircuitState::Kind::ring:
      if (step < levels - 1) return equal(1 << step);
      if (is_twisted(shape.nodes, shape.base)) return equal(1 << (step - 1));
      // Distance n/2: both directions are shortest.
      return Route{1 << step, shape.antipodal == Antipodal::balanced ? 1 << (step - 1) : 1 << step};
    case CircuitState::Kind::peer:
      if (step == state.index) return Route{1, 1};
      return std::nullopt;
    case CircuitState::Kind::subring:
      if (step < state.index || step > state.last) return std::nullopt;
      // Twisted order: the last step is as long as the one before it.
      return equal(1 << (std::min(step, state.last - 1) - state.index + 1));
    case CircuitState::Kind::swing:
      break;
  }
  return std::nullopt;
}

/// x * y == 1 (mod 2^k) for odd x, as the low bits of y: Newton's iteration doubles them each time.
unsigned inverse(unsigned x) {
  unsigned y = x;  // right to 3 bits
  for (int bits = 3; bits < 32; bits *= 2) y *= 2 - x * y;
  return y;
}

/// On swing:i the links form one cycle: two hops forward add 2 rho(i-1) to an even rank. So every
/// even rank meets its partner of any step at the same odd distance on the cycle, and the flows of
/// a direction start at every second place.
Route swing_route(int nodes, int step, int held) {
  const auto n = static_cast<unsigned>(nodes);
  if (step == 0 || nodes == 2) return {1, 1};
  const unsigned stride = held == 0 ? 1 : static_cast<unsigned>(swing_distance(held - 1));
  const unsigned places = static_cast<unsigned>(swing_distance(step - 1)) * inverse(stride);
  const unsigned forward = (1 - 2 * places) % n;  // n divides 2^32
  const int hops = static_cast<int>(std::min(forward, n - forward));
  return {hops, (hops + 1) / 2};
}

}  // namespace

bool has_closed_form(RingShape shape, Pattern pattern, CircuitState state) {
  const bool ring = state.kind == CircuitState::Kind::ring;
  const bool swing = state.kind == CircuitState::Kind::swing;
  if (pattern == Pattern::neighbours) return ring;
  if (!is_power_of_two(shape.nodes)) return false;
  if (pattern == Pattern::exclusive_or) return !swing;
  return ring ? !is_twisted(shape.nodes, shape.base) : swing && state.index >= 1;
}

std::optional<Route> closed_form(RingShape shape, Pattern pattern, int step, CircuitState state) {
  assert(has_closed_form(shape, pattern, state));
  if (pattern == Pattern::neighbours) return Route{1, 1};
  if (pattern == Pattern::exclusive_or) return exclusive_or_route(shape, step, state);
  return swing_route(shape.nodes, step, state.kind == CircuitState::Kind::ring ? 1 : state.index);
}

}  // namespace shortcut::topology
