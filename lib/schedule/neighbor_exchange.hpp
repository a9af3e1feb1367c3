#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::neighbor_exchange {
Schedule make(Collective collective, int ranks);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::neighbor_exchange
