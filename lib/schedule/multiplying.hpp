// Recursive multiplying with a radix: what recursive_multiplying_3 and _4 share.
//
// n is a product of factors up to the radix, f_0 f_1 ...; in level i the f_i ranks whose
// mixed-radix numbers differ in digit i alone all exchange the full vector. A rank does that in f_i
// - 1 exchanges that are joined (Step::joined): it sends what it held at the start of the level to
// the rank 1, 2, ... digits on, and combines what came when all has. Small factors come first: the
// last level goes round the whole ring, where a far digit is near from behind.
#pragma once

#include "schedule/schedule.hpp"

namespace shortcut::schedule {

Schedule make_multiplying(Collective collective, int ranks, int radix);
RankSchedule multiplying_for_rank(int ranks, int rank, int radix);

}  // namespace shortcut::schedule
