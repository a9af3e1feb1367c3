#include "topology/matching.hpp"

#include <charconv>

namespace shortcut::topology {

std::string to_string(CircuitState state) {
  switch (state.kind) {
    case CircuitState::Kind::ring:
      return "ring";
    case CircuitState::Kind::peer:
      return "peer:" + std::to_string(state.index);
    case CircuitState::Kind::swing:
      return "swing:" + std::to_string(state.index);
    case CircuitState::Kind::subring:
      return "subring:" + std::to_string(state.index) + "-" + std::to_string(state.last);
  }
  return "?";
}

namespace {

/// 0 to 30, or -1.
int parse_index(std::string_view digits) {
  int index = -1;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool whole = status == std::errc{} && end == digits.data() + digits.size();
  return whole && index >= 0 && index < 31 ? index : -1;
}

}  // namespace

Result<CircuitState> parse_circuit_state(std::string_view text) {
  if (text == "ring") return CircuitState::ring();
  const auto colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view kind = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const int index = parse_index(digits);
    if (index >= 0 && kind == "peer") return CircuitState::peer(index);
    if (index >= 0 && kind == "swing") return CircuitState::swing(index);
    const auto dash = digits.find('-');
    if (kind == "subring" && dash != std::string_view::npos) {
      const int a = parse_index(digits.substr(0, dash));
      const int b = parse_index(digits.substr(dash + 1));
      if (1 <= a && a < b) return CircuitState::subring(a, b);
    }
  }
  return Error{"circuit state '" + std::string(text) +
               "' is not one of: ring, peer:I, swing:I, subring:A-B (I from 0 to 30, A from 1, B "
               "above A to 30)"};
}

std::vector<int> ring_order(int nodes, BaseRing base) {
  std::vector<int> order(static_cast<std::size_t>(nodes));
  const bool twist = is_twisted(nodes, base);
  for (int p = 0; p < nodes; ++p) {
    order[static_cast<std::size_t>(p)] = twist ? 2 * twisted(nodes / 2, p / 2) + p % 2 : p;
  }
  return order;
}

Matching fixed_matching(int nodes) {
  Matching peer(static_cast<std::size_t>(nodes), kNobody);
  for (int j = 0; j + 1 < nodes; j += 2) {
    peer[static_cast<std::size_t>(j)] = j + 1;
    peer[static_cast<std::size_t>(j) + 1] = j;
  }
  return peer;
}

Matching switched_matching(int nodes, CircuitState state, BaseRing base) {
  if (state.kind == CircuitState::Kind::ring && is_twisted(nodes, base)) {
    state = CircuitState::subring(1, floor_log2(nodes) - 1);
  }
  Matching peer(static_cast<std::size_t>(nodes), kNobody);
  const auto join = [&peer](int u, int v) {
    peer[static_cast<std::size_t>(u)] = v;
    peer[static_cast<std::size_t>(v)] = u;
  };
  switch (state.kind) {
    case CircuitState::Kind::ring:
      for (int j = 1; j < nodes; j += 2) join(j, (j + 1) % nodes);
      break;
    case CircuitState::Kind::peer: {
      const Folding folding(nodes);
      for (int core = 0; core < folding.cores; ++core) {
        join(folding.rank_of(core), folding.rank_of(core ^ (1 << state.index)));
      }
      break;
    }
    case CircuitState::Kind::swing:
      for (int u = 0; u < nodes; u += 2) join(u, swing_peer(nodes, state.index, u));
      break;
    case CircuitState::Kind::subring: {
      const int length = 2 << (state.last - state.index);
      const int coset_bits = (length - 1) << state.index;
      for (int coset = 0; coset < nodes; coset += 2) {
        if ((coset & coset_bits) != 0) continue;
        for (int j = 0; j < length; ++j) {
          const int here = coset | twisted(length, j) << state.index;
          join(here ^ 1, coset | twisted(length, (j + 1) % length) << state.index);
        }
      }
      break;
    }
  }
  return peer;
}

bool can_hold(int nodes, CircuitState state) {
  switch (state.kind) {
    case CircuitState::Kind::ring:
      return true;
    case CircuitState::Kind::peer:
      return nodes % 2 == 0 && state.index < floor_log2(nodes);
    case CircuitState::Kind::swing:
      return is_power_of_two(nodes) && state.index < floor_log2(nodes);
    case CircuitState::Kind::subring:
      return is_power_of_two(nodes) && 1 <= state.index && state.index < state.last &&
             state.last < floor_log2(nodes);
  }
  return false;
}

}  // namespace shortcut::topology
