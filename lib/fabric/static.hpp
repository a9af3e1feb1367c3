// An ordinary cluster: there is nothing to rewire, and time is the wall clock.
#pragma once

#include "fabric/backend.hpp"

namespace shortcut::fabric {

class Static final : public Backend {
 public:
  Capabilities capabilities() const override { return {.name = "static"}; }

  Status reconfigure(ControlChannel& /*channel*/, topology::CircuitState from,
                     topology::CircuitState to, double /*delta_ns*/) override {
    if (from == to) return {};
    return Error{"fabric 'static' cannot change from '" + to_string(from) + "' to '" +
                 to_string(to) + "': it holds 'ring' only"};
  }
  double now_ns() const override { return wall_clock_ns(); }
  void finish_step(ControlChannel&, double, double) override {}
};

}  // namespace shortcut::fabric
