#pragma once
#include "schedule/schedule.hpp"
namespace shortcut::schedule::swing {
/// The circuit state made for a step.
topology::CircuitState direct(int step);
Schedule make(Collective collective, int ranks);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::swing
