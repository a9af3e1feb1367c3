#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::swing_full {
Schedule make(const Request& request);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::swing_full
