// Recursive multiplying, radix 4 (Ruefenacht et al., 2017): as radix 3, with levels of four ranks
// as long as n has factors of four. Saves start-up times where ranks use two ports at once; one
// after the other its three exchanges cost more than the two of recursive doubling.
//
// n = 2^a 3^b: other n are not accepted. Steps with c = floor(a/2): 3c + (a mod 2) + 2b (one port),
// c + (a mod 2) + b (two ports at once). Bytes per rank: as many m as steps on one port.
// Commutative only.
//
// Twelve ranks = 3 x 4:
//
//   level 0  0 1 2   3 4 5   6 7 8   9 10 11     all with all in each group: two exchanges
//   level 1  0 3 6 9   1 4 7 10   2 5 8 11       three exchanges: 1, 2 and 3 digits on
#include "schedule/recursive_multiplying_4.hpp"

#include "schedule/multiplying.hpp"

namespace shortcut::schedule::recursive_multiplying_4 {

Schedule make(const Request& request) {
  return make_multiplying(request.collective, request.ranks, 4);
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  return multiplying_for_rank(schedule.ranks, rank, 4);
}

}  // namespace shortcut::schedule::recursive_multiplying_4
