// Virtual time: each rank has a clock. Messages carry their departure times, arrive a modelled
// price later, and set the receiver's clock; a reconfiguration sets the clocks of its participants
// to their maximum plus delta. Real data move; the time is exact and repeatable.
#pragma once

#include <algorithm>
#include <vector>

#include "fabric/backend.hpp"

namespace shortcut::fabric {

class Virtual final : public Backend {
 public:
  explicit Virtual(bool count_compute) : count_compute_(count_compute) {}

  Capabilities capabilities() const override {
    return {.name = "virtual", .reconfigures = true, .virtual_time = true};
  }
  using Backend::reconfigure;
  Status reconfigure(std::span<const Change> changes) override {
    before_ns_.clear();
    for (const Change& change : changes) before_ns_.push_back(clock_of(change.lane));
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Change& change = changes[i];
      if (change.from == change.to && change.delta_ns == 0) continue;
      double& clock = clock_of(change.lane);
      clock = std::max(clock, change.channel->synchronise(before_ns_[i]) + change.delta_ns);
    }
    return {};
  }
  void begin_lanes(int lanes) override {
    lanes_ns_.assign(static_cast<std::size_t>(lanes), clock_ns_);
  }
  void end_lanes() override {
    for (const double lane_ns : lanes_ns_) clock_ns_ = std::max(clock_ns_, lane_ns);
    lanes_ns_.clear();
  }
  double now_ns(int lane) const override {
    return lanes_ns_.empty() ? clock_ns_ : lanes_ns_[static_cast<std::size_t>(lane)];
  }
  void finish_step(ControlChannel&, double end_ns, double, int lane) override {
    double& clock = clock_of(lane);
    clock = std::max(clock, end_ns);
  }
  void enter_collective() override {
    if (count_compute_ && left_at_ns_ > 0) clock_ns_ += wall_clock_ns() - left_at_ns_;
  }
  void leave_collective() override { left_at_ns_ = wall_clock_ns(); }

 private:
  double& clock_of(int lane) {
    return lanes_ns_.empty() ? clock_ns_ : lanes_ns_[static_cast<std::size_t>(lane)];
  }

  bool count_compute_;
  double clock_ns_ = 0;
  std::vector<double> lanes_ns_;  // of each lane, while there are some
  std::vector<double> before_ns_;
  double left_at_ns_ = 0;  // wall clock; 0: no collective yet
};

}  // namespace shortcut::fabric
