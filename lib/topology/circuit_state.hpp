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
    ring,   ///< M_ocs (Eq. 9): with M_fix the ring of all endpoints; see also BaseRing
    peer,   ///< M_i (Eq. 10): u joined to u xor 2^i (among the 2^k core ranks when n is no power of
            ///< two)
    swing,  ///< Swing's step i: u joined to u + rho(i) (even u) or u - rho(i) (odd u)
    subring,  ///< one cycle per coset of the bits a..b, in twisted order: serves steps a..b
  };
  Kind kind = Kind::ring;
  std::uint8_t index = 0;  ///< i of `peer` and `swing`, a of `subring`; 0 for `ring`
  std::uint8_t last = 0;   ///< b of `subring`; else 0

  auto operator<=>(const CircuitState&) const = default;

  static constexpr CircuitState ring() { return {}; }
  static constexpr CircuitState peer(int i) {
    return {Kind::peer, static_cast<std::uint8_t>(i), 0};
  }
  static constexpr CircuitState swing(int i) {
    return {Kind::swing, static_cast<std::uint8_t>(i), 0};
  }
  static constexpr CircuitState subring(int a, int b) {
    return {Kind::subring, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
  }
};

/// How ranks lie on the ring that the switched ports hold in state `ring`.
enum class BaseRing : std::uint8_t {
  plain,    ///< in their own order
  twisted,  ///< in the order that halves the way of recursive doubling's last step; for n a power
            ///< of two from 8 on, else the same as plain
};

/// "ring", "peer:3", "swing:2", "subring:4-6".
std::string to_string(CircuitState state);

/// The inverse of to_string. Errors name the text and the forms allowed.
Result<CircuitState> parse_circuit_state(std::string_view text);

}  // namespace shortcut::topology
