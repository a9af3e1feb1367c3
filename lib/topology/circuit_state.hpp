// What the switched ports of a fabric hold at one moment, as a small value.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace shortcut::topology {

/// A named setting of the optical circuit switch of a `ring-ocs` fabric. The fixed ports always
/// hold M_fix (Eq. 8); the state says what the switched ports hold beside it.
struct CircuitState {
  enum class Kind : std::uint8_t {
    ring,   ///< M_ocs (Eq. 9): with M_fix the ring of all endpoints
    peer,   ///< M_i (Eq. 10): u joined to u xor 2^i (among the 2^k core ranks when n is no power of
            ///< two)
    swing,  ///< Swing's step i: u joined to u + rho(i) (even u) or u - rho(i) (odd u)
  };
  Kind kind = Kind::ring;
  std::uint8_t index = 0;  ///< i of `peer` and `swing`; 0 for `ring`

  auto operator<=>(const CircuitState&) const = default;

  static constexpr CircuitState ring() { return {}; }
  static constexpr CircuitState peer(int i) { return {Kind::peer, static_cast<std::uint8_t>(i)}; }
  static constexpr CircuitState swing(int i) { return {Kind::swing, static_cast<std::uint8_t>(i)}; }
};

/// "ring", "peer:3", "swing:2".
std::string to_string(CircuitState state);

/// The inverse of to_string. Errors name the text and the forms allowed.
Result<CircuitState> parse_circuit_state(std::string_view text);

}  // namespace shortcut::topology
