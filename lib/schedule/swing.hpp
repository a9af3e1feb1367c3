#pragma once
#include "schedule/pairwise.hpp"
#include "schedule/schedule.hpp"
namespace shortcut::schedule::swing {
/// The circuit states made for the steps.
DirectState direct_states(int ranks, topology::BaseRing base);
Schedule make(const Request& request);
RankSchedule for_rank(const Schedule& schedule, int rank);
}  // namespace shortcut::schedule::swing
