// A modelled optical switch in wall time: all participants synchronise, then stay dark for
// delta * time_scale. With modeled_steps each step lasts at least its modelled time too.
#pragma once

#include <vector>

#include "fabric/backend.hpp"

namespace shortcut::fabric {

class Modeled final : public Backend {
 public:
  Modeled(double time_scale, bool delay_steps, bool spin)
      : time_scale_(time_scale), delay_steps_(delay_steps), spin_(spin) {}

  Capabilities capabilities() const override { return {.name = "modeled", .reconfigures = true}; }
  using Backend::reconfigure;
  Status reconfigure(std::span<const Change> changes) override;
  double now_ns(int) const override { return wall_clock_ns(); }
  void finish_step(ControlChannel& channel, double end_ns, double duration_ns, int lane) override;
  void begin_lanes(int lanes) override {
    step_start_ns_.assign(static_cast<std::size_t>(lanes), wall_clock_ns());
  }
  void end_lanes() override { step_start_ns_.assign(1, wall_clock_ns()); }
  void enter_collective() override { step_start_ns_.assign(1, wall_clock_ns()); }

 private:
  /// Waits until the wall clock reads `until_ns`, keeping MPI progressing.
  void wait(ControlChannel& channel, double until_ns) const;

  double time_scale_;
  bool delay_steps_;
  bool spin_;
  std::vector<double> step_start_ns_{0};  // by lane
};

}  // namespace shortcut::fabric
