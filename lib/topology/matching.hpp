// Matchings: who is joined to whom by one port of every endpoint (Eqs. 8-11 of the Shortcut paper).
#pragma once

#include <bit>
#include <vector>

#include "topology/circuit_state.hpp"

namespace shortcut::topology {

inline constexpr int kNobody = -1;

/// peer[u] is the endpoint that u's port is joined to, or kNobody. Size n; peer[peer[u]] == u.
using Matching = std::vector<int>;

/// floor(log2(n)); n >= 1.
constexpr int floor_log2(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

constexpr bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

/// 1 for n = 1.
constexpr int largest_prime_factor(int n) {
  int largest = 1;
  for (int factor = 2; factor <= n / factor; ++factor) {
    for (; n % factor == 0; n /= factor) largest = factor;
  }
  return n > largest ? n : largest;
}

/// Folding of n ranks onto the largest power of two below: the first 2r ranks (r = n - 2^k) pair
/// up, the even one of each pair is a core rank, the odd one an extra. Neighbours stay neighbours,
/// so rank order is kept.
struct Folding {
  int ranks = 1;
  int cores = 1;  ///< 2^floor(log2(n))

  constexpr explicit Folding(int n) : ranks(n), cores(1 << floor_log2(n)) {}
  constexpr int extras() const { return ranks - cores; }
  constexpr bool is_extra(int rank) const { return rank < 2 * extras() && rank % 2 == 1; }
  /// The core index 0..cores-1 of a rank; an extra has its partner's.
  constexpr int core_of(int rank) const { return rank < 2 * extras() ? rank / 2 : rank - extras(); }
  constexpr int rank_of(int core) const { return core < extras() ? 2 * core : core + extras(); }
  constexpr bool has_extra(int core) const { return core < extras(); }
};

/// Swing's distance in step i: sum of (-2)^k for k = 0..i = (1 - (-2)^(i+1)) / 3: 1, -1, 3, -5, 11,
/// ...
constexpr int swing_distance(int step) {
  int power = 1;
  for (int k = 0; k <= step; ++k) power *= -2;
  return (1 - power) / 3;
}

/// The rank that `rank` meets in Swing's step i, of n (even) ranks.
constexpr int swing_peer(int ranks, int step, int rank) {
  const int distance = rank % 2 == 0 ? swing_distance(step) : -swing_distance(step);
  return ((rank + distance) % ranks + ranks) % ranks;
}

/// Does a base ring of n endpoints differ from the plain one at all?
constexpr bool is_twisted(int nodes, BaseRing base) {
  return base == BaseRing::twisted && nodes >= 8 && is_power_of_two(nodes);
}

/// The place on a cycle of `length` (a power of two >= 4) that position j holds in twisted order:
/// the lower half in natural order, the upper half rotated by a quarter of the cycle. Its own
/// inverse.
constexpr int twisted(int length, int j) {
  return j < length / 2 ? j : length / 2 + ((j - length / 2) ^ (length / 4));
}

/// The ranks in the order in which they lie on the base ring.
std::vector<int> ring_order(int nodes, BaseRing base);

/// Eq. 8: even j joined to j + 1. With n odd the last endpoint is alone.
Matching fixed_matching(int nodes);

/// What the switched ports hold in `state`: Eq. 9 for the plain ring, Eq. 10 for `peer`. The ring
/// of an odd number of endpoints is no union of two matchings: see Router.
///
/// `subring` a-b: take the even endpoints e_0, e_1, ... of a coset of the bits a..b, in twisted
/// order, and join (e_j xor 1) to e_(j+1). With the fixed links that is a cycle e_0, e_0 xor 1,
/// e_1, e_1 xor 1, ...: a place on the cycle is two hops, and the odd partners ride along. Eight
/// endpoints, subring:1-2: 0-1-2-3-6-7-4-5-0; the twisted base ring is the same for all bits but 0.
Matching switched_matching(int nodes, CircuitState state, BaseRing base = BaseRing::plain);

/// Can this fabric hold the state at all: `ring` always, `peer:i` for even n and i < floor(log2 n),
/// `swing:i` for n a power of two and i < log2 n, `subring:a-b` for n a power of two and
/// 1 <= a < b < log2 n.
bool can_hold(int nodes, CircuitState state);

}  // namespace shortcut::topology
