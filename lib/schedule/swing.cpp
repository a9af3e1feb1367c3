// Swing (De Sensi et al., NSDI 2024): in step i an even rank meets the rank at distance
// rho(i) = (1 - (-2)^(i+1)) / 3 = 1, -1, 3, -5, 11, ..., an odd rank the one at -rho(i). The
// distances are about a third of recursive doubling's, so a static ring carries it better. Vector
// halving and doubling as in recursive doubling.
//
// Steps: log2 n per half. Bytes per rank and half: (n-1)/n m. n a power of two; commutative only
// (groups are not runs of ranks).
//
// Eight ranks:
//
//   rank    0   1   2   3   4   5   6   7
//   step 0  <--->   <--->   <--->   <--->      rho = 1, half the vector (the fixed links)
//   step 1 ->   <--->   <--->   <--->   <-     rho = -1, a quarter (the ring's other links)
//   step 2  <----------->                      rho = 3, an eighth (and 2-5, 4-7, 6-1)
#include "schedule/swing.hpp"

#include "schedule/pairwise.hpp"
#include "topology/matching.hpp"

namespace shortcut::schedule::swing {

namespace {

topology::CircuitState direct_on_plain(int step) {
  // Step 1 runs on M_ocs, which is the plain ring itself.
  return step == 1 ? topology::CircuitState::ring() : topology::CircuitState::swing(step);
}

}  // namespace

DirectState direct_states(int ranks, topology::BaseRing base) {
  return topology::is_twisted(ranks, base) ? &topology::CircuitState::swing : &direct_on_plain;
}

Schedule make(const Request& request) {
  Peers peers;
  std::vector<int> order;
  if (!request.outline) {
    peers = all_peers<topology::swing_peer>(request.ranks);
    order = halving_order(peers);
  }
  return make_pairwise(request, std::move(peers), std::move(order),
                       direct_states(request.ranks, request.base), [](int) { return 2; });
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  return pairwise_for_rank(schedule, rank, topology::swing_peer);
}

}  // namespace shortcut::schedule::swing
