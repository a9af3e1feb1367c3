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
  }
  return "?";
}

Result<CircuitState> parse_circuit_state(std::string_view text) {
  if (text == "ring") return CircuitState::ring();
  const auto colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view kind = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    int index = -1;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const bool whole = status == std::errc{} && end == digits.data() + digits.size();
    if (whole && index >= 0 && index < 31) {
      if (kind == "peer") return CircuitState::peer(index);
      if (kind == "swing") return CircuitState::swing(index);
    }
  }
  return Error{"circuit state '" + std::string(text) +
               "' is not one of: ring, peer:I, swing:I (I from 0 to 30)"};
}

Matching fixed_matching(int nodes) {
  Matching peer(static_cast<std::size_t>(nodes), kNobody);
  for (int j = 0; j + 1 < nodes; j += 2) {
    peer[static_cast<std::size_t>(j)] = j + 1;
    peer[static_cast<std::size_t>(j) + 1] = j;
  }
  return peer;
}

Matching switched_matching(int nodes, CircuitState state) {
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
  }
  return false;
}

}  // namespace shortcut::topology
