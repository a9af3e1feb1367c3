#include "fabric/modeled.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace shortcut::fabric {

void Modeled::wait(ControlChannel& channel, double until_ns) const {
  constexpr double kLongestSleepNs = 200'000;  // between two looks at MPI
  while (true) {
    channel.progress();
    const double left = until_ns - wall_clock_ns();
    if (left <= 0) return;
    // Oversubscribed, a spinning rank steals the core from those it waits for.
    if (!spin_) {
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(static_cast<long long>(std::min(left, kLongestSleepNs))));
    }
  }
}

Status Modeled::reconfigure(std::span<const Change> changes) {
  ControlChannel* last = nullptr;
  double ready_ns = 0;
  for (const Change& change : changes) {
    if (change.from == change.to && change.delta_ns == 0) continue;
    // Every participant has received what was sent to it, so after this nothing is on the wire.
    change.channel->synchronise(0);
    ready_ns = std::max(ready_ns, wall_clock_ns() + change.delta_ns * time_scale_);
    last = change.channel;
  }
  if (last == nullptr) return {};
  wait(*last, ready_ns);
  for (const Change& change : changes) {
    step_start_ns_[static_cast<std::size_t>(change.lane)] = wall_clock_ns();
  }
  return {};
}

void Modeled::finish_step(ControlChannel& channel, double /*end_ns*/, double duration_ns,
                          int lane) {
  if (!delay_steps_) return;
  double& start_ns = step_start_ns_[static_cast<std::size_t>(lane)];
  wait(channel, start_ns + duration_ns * time_scale_);
  start_ns = wall_clock_ns();
}

}  // namespace shortcut::fabric
