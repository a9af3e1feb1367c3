// Virtual time: each rank has a clock. Messages carry their departure times, arrive a modelled
// price later, and set the receiver's clock; a reconfiguration sets the clocks of its participants
// to their maximum plus delta. Real data move; the time is exact and repeatable.
#pragma once

#include "fabric/backend.hpp"

namespace shortcut::fabric {

class Virtual final : public Backend {
 public:
  explicit Virtual(bool count_compute) : count_compute_(count_compute) {}

  Capabilities capabilities() const override {
    return {.name = "virtual", .reconfigures = true, .virtual_time = true};
  }
  Status reconfigure(ControlChannel& channel, topology::CircuitState from,
                     topology::CircuitState to, double delta_ns) override {
    if (from == to && delta_ns == 0) return {};
    clock_ns_ = channel.synchronise(clock_ns_) + delta_ns;
    return {};
  }
  double now_ns() const override { return clock_ns_; }
  void finish_step(ControlChannel&, double end_ns, double) override {
    if (end_ns > clock_ns_) clock_ns_ = end_ns;
  }
  void enter_collective() override {
    if (count_compute_ && left_at_ns_ > 0) clock_ns_ += wall_clock_ns() - left_at_ns_;
  }
  void leave_collective() override { left_at_ns_ = wall_clock_ns(); }

 private:
  bool count_compute_;
  double clock_ns_ = 0;
  double left_at_ns_ = 0;  // wall clock; 0: no collective yet
};

}  // namespace shortcut::fabric
