// Recursive doubling: in step i every rank exchanges with the rank whose number differs in bit i.
// ReduceScatter halves the vector while the distance doubles, so the far steps carry little
// (Shortcut paper, section IV-A); AllGather mirrors it; AllReduce is both.
//
// Steps: log2 n per half. Bytes per rank and half: (n-1)/n m. Keeps rank order: aligned groups of
// 2^i neighbours are combined with the lower group on the left. Any n by folding (pairwise.hpp).
//
// Eight ranks, ReduceScatter; what is sent, in eighths of the vector:
//
//   rank    0   1   2   3   4   5   6   7
//   step 0  <-4->   <-4->   <-4->   <-4->      M_0 (the fixed links)
//   step 1  <---2--->       <---2--->          M_1 (and 1-3, 5-7)
//   step 2  <-------1------->                  M_2 (and 1-5, 2-6, 3-7)
//
// Blocks stand in bit-reversed order of the ranks, which makes each half one run.
#include "schedule/recursive_doubling.hpp"

#include "schedule/pairwise.hpp"
#include "topology/matching.hpp"

namespace shortcut::schedule::recursive_doubling {
namespace {

int peer(int /*cores*/, int step, int core) { return core ^ (1 << step); }

/// The halving order in closed form: position[c] is c with its bits reversed.
std::vector<int> bit_reversal(int cores) {
  std::vector<int> reversed(static_cast<std::size_t>(cores), 0);
  for (std::size_t c = 1; c < reversed.size(); ++c) {
    reversed[c] = reversed[c / 2] / 2 + (c % 2 == 1 ? cores / 2 : 0);
  }
  return reversed;
}

}  // namespace

Schedule make(const Request& request) {
  const int cores = topology::Folding(request.ranks).cores;
  const bool outline = request.outline && cores == request.ranks;
  return make_pairwise(request, outline ? Peers{} : all_peers<peer>(cores),
                       outline ? std::vector<int>{} : bit_reversal(cores),
                       topology::CircuitState::peer, [](int step) { return 2 << step; });
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  return pairwise_for_rank(schedule, rank, peer);
}

}  // namespace shortcut::schedule::recursive_doubling
