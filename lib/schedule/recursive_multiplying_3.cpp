// Recursive multiplying, radix 3 (Ruefenacht et al., 2017): levels of three ranks that exchange the
// full vector all with all, and levels of two where n has factors of two. For short messages on 3,
// 6, 9, 12, ... ranks, where recursive doubling has to fold.
//
// n = 2^a 3^b: other n are not accepted. Steps: a + 2b (one port), a + b (two ports at once). Bytes
// per rank: (a + 2b) m. Commutative only: a group's operands come from both sides by turns.
//
// Six ranks = 2 x 3:
//
//   rank     0    1    2    3    4    5
//   level 0  <---->    <---->    <---->          factor 2, one exchange
//   level 1  o-------->o-------->o-------->0     factor 3, 1 digit on (1 -> 3 -> 5 -> 1 alike)
//            o------------------>4         ...   factor 3, 2 digits on, joined to the one before
#include "schedule/recursive_multiplying_3.hpp"

#include "schedule/multiplying.hpp"

namespace shortcut::schedule::recursive_multiplying_3 {

Schedule make(const Request& request) {
  return make_multiplying(request.collective, request.ranks, 3);
}

RankSchedule for_rank(const Schedule& schedule, int rank) {
  return multiplying_for_rank(schedule.ranks, rank, 3);
}

}  // namespace shortcut::schedule::recursive_multiplying_3
