#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::bruck {
Schedule make(const Request& request);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::bruck
