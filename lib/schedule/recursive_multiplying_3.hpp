#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::recursive_multiplying_3 {
Schedule make(const Request& request);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::recursive_multiplying_3
