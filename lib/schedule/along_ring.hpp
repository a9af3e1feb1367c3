// Algorithms of neighbours are written for ranks that lie on the ring in their own order; on a
// twisted base ring the same steps join places instead of ranks.
#pragma once

#include "schedule/schedule.hpp"

namespace shortcut::schedule {

/// Puts places for ranks in a schedule made for the plain ring.
void lay_along_ring(Schedule& schedule, topology::BaseRing base);

/// The rank's place on the base ring: what to make its plain view for.
int place_on_ring(const Schedule& schedule, int rank);
/// Names ranks instead of places in the plain view of one place.
RankSchedule named_by_rank(const Schedule& schedule, RankSchedule view);

}  // namespace shortcut::schedule
