// An ordinary cluster: there is nothing to rewire, and time is the wall clock.
#pragma once

#include "fabric/backend.hpp"

namespace shortcut::fabric {

class Static final : public Backend {
 public:
  Capabilities capabilities() const override { return {.name = "static"}; }

  using Backend::reconfigure;
  Status reconfigure(std::span<const Change> changes) override {
    for (const Change& change : changes) {
      if (change.from == change.to) continue;
      return Error{"fabric 'static' cannot change from '" + to_string(change.from) + "' to '" +
                   to_string(change.to) + "': it holds 'ring' only"};
    }
    return {};
  }
  double now_ns(int) const override { return wall_clock_ns(); }
  void finish_step(ControlChannel&, double, double, int) override {}
};

}  // namespace shortcut::fabric
