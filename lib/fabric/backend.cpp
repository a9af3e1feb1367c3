#include "fabric/backend.hpp"

#include <chrono>

#include "fabric/modeled.hpp"
#include "fabric/static.hpp"
#include "fabric/virtual.hpp"

namespace shortcut::fabric {

double wall_clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::unique_ptr<Backend> make_backend(const config::Settings& settings, bool spin) {
  switch (settings.fabric) {
    case config::Fabric::modeled:
      return std::make_unique<Modeled>(settings.time_scale, settings.modeled_steps, spin);
    case config::Fabric::virtual_:
      return std::make_unique<Virtual>(settings.compute == config::Compute::measured);
    case config::Fabric::static_:
      break;
  }
  return std::make_unique<Static>();
}

}  // namespace shortcut::fabric
