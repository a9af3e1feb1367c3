// Run-time fabric backends: what carries out a reconfiguration, and whose clock counts.
//
// A backend is handed circuit states, never algorithms. Every backend passes the same conformance
// suite (tests/mpi/conformance.cpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "support/result.hpp"
#include "topology/circuit_state.hpp"

namespace shortcut::fabric {

/// How the participants of a reconfiguration find each other off the fabric: once the switch holds
/// a matching the fabric is disconnected, so this never uses it.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  /// Waits for all participants; returns the largest of the values they brought. Keeps MPI
  /// progressing while it waits.
  virtual double synchronise(double value) = 0;
  /// Lets MPI progress once; cheap.
  virtual void progress() = 0;
  virtual int participants() const = 0;
};

struct Capabilities {
  std::string_view name;
  bool reconfigures = false;  ///< can hold states other than the ring
  bool can_fail = false;      ///< reconfigure() may return an error
  bool virtual_time = false;  ///< now_ns() is the model's time: messages must carry departure times
};

/// One switch (or the switches of one dimension as far as a rank is concerned) to be set.
struct Change {
  ControlChannel* channel = nullptr;  ///< the ranks concerned
  topology::CircuitState from;
  topology::CircuitState to;
  double delta_ns = 0;  ///< what it costs in the model; 0: not charged
  int lane = 0;
  int dimension = 0;  ///< of the torus whose switches are meant
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Capabilities capabilities() const = 0;

  /// Called by every participant after all that it receives in the steps before has arrived.
  /// Returns when the circuits hold what is asked for. The changes are made at the same time; all
  /// participants name them in the same order.
  virtual Status reconfigure(std::span<const Change> changes) = 0;
  /// One change.
  Status reconfigure(ControlChannel& channel, topology::CircuitState from,
                     topology::CircuitState to, double delta_ns) {
    const Change change{&channel, from, to, delta_ns, 0, 0};
    return reconfigure({&change, 1});
  }

  /// Between the two, `lanes` parts of a collective run at the same time, each on ports of its own:
  /// in virtual time each has a clock, and the latest is this rank's time in the end.
  virtual void begin_lanes(int /*lanes*/) {}
  virtual void end_lanes() {}

  /// This rank's time, ns from an arbitrary origin. `lane`: 0 outside of lanes.
  virtual double now_ns(int lane = 0) const = 0;

  /// Ends a step that by the model ends at `end_ns` on now_ns()'s clock (virtual time), or lasts
  /// `duration_ns` (wall time).
  virtual void finish_step(ControlChannel& channel, double end_ns, double duration_ns,
                           int lane = 0) = 0;

  /// Brackets a collective: under virtual time decides whether time in between counts.
  virtual void enter_collective() {}
  virtual void leave_collective() {}
};

/// The backend that the settings name. `spin`: there are free cores, so waiting may spin.
std::unique_ptr<Backend> make_backend(const config::Settings& settings, bool spin);

/// Wall clock, ns.
double wall_clock_ns();

}  // namespace shortcut::fabric
