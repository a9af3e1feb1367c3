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

Status Modeled::reconfigure(ControlChannel& channel, topology::CircuitState from,
                            topology::CircuitState to, double delta_ns) {
  if (from == to && delta_ns == 0) return {};
  // Every participant has received what was sent to it, so after this nothing is on the wire.
  channel.synchronise(0);
  wait(channel, wall_clock_ns() + delta_ns * time_scale_);
  step_start_ns_ = wall_clock_ns();
  return {};
}

void Modeled::finish_step(ControlChannel& channel, double /*end_ns*/, double duration_ns) {
  if (!delay_steps_) return;
  wait(channel, step_start_ns_ + duration_ns * time_scale_);
  step_start_ns_ = wall_clock_ns();
}

}  // namespace shortcut::fabric
