// An AllGather run backwards is a ReduceScatter: who sent now receives, and what was put in place
// is combined. So an algorithm that says how to gather has all three collectives.
//
// Three ranks of a ring, block sent:
//
//   gather   0 -0-> 1 -1-> 2 -2-> 0,  0 -2-> 1 -0-> 2 -1-> 0
//   reduce   0 <-2- 1 <-0- 2 <-1- 0,  0 <-0- 1 <-1- 2 <-2- 0
//
// Commutative only: the order in which a block is combined is that in which it was spread.
#pragma once

#include "schedule/schedule.hpp"

namespace shortcut::schedule {

/// The steps of the collective, given those of its gathering half.
std::vector<Step> with_transpose(Collective collective, std::vector<Step> gather);
/// A reducing half from the gathering one.
std::vector<Step> transposed(const std::vector<Step>& gather);

/// One rank's view of the collective, given that of the gathering half.
RankSchedule with_transpose(Collective collective, RankSchedule gather);

}  // namespace shortcut::schedule
