#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::recursive_multiplying_4 {
Schedule make(Collective collective, int ranks);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::recursive_multiplying_4
