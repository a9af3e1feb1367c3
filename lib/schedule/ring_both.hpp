#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::ring_both {
Schedule make(Collective collective, int ranks);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::ring_both
