#include "schedule/along_ring.hpp"

#include <algorithm>

#include "topology/matching.hpp"

namespace shortcut::schedule {

void lay_along_ring(Schedule& schedule, topology::BaseRing base) {
  if (!topology::is_twisted(schedule.ranks, base)) return;
  schedule.ring_order = topology::ring_order(schedule.ranks, base);
  const auto rank_at = [&](int place) {
    return place < 0 ? place : schedule.ring_order[static_cast<std::size_t>(place)];
  };
  for (int& owner : schedule.block_owner) owner = rank_at(owner);
  for (Step& step : schedule.steps) {
    std::vector<int> send_to(step.send_to.size());
    for (std::size_t place = 0; place < send_to.size(); ++place) {
      send_to[static_cast<std::size_t>(schedule.ring_order[place])] = rank_at(step.send_to[place]);
    }
    step.send_to = std::move(send_to);
    step.period = schedule.ranks;
  }
}

int place_on_ring(const Schedule& schedule, int rank) {
  const std::vector<int>& order = schedule.ring_order;
  if (order.empty()) return rank;
  return static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
}

RankSchedule named_by_rank(const Schedule& schedule, RankSchedule view) {
  if (schedule.ring_order.empty()) return view;
  for (RankStep& step : view) {
    for (int* peer : {&step.send_to, &step.recv_from}) {
      if (*peer >= 0) *peer = schedule.ring_order[static_cast<std::size_t>(*peer)];
    }
  }
  return view;
}

}  // namespace shortcut::schedule
