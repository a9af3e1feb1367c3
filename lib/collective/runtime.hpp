// What this process knows: its settings, whether we are up, and the hook that ends us in time.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace shortcut::collective {

/// Process-wide state, made on the first call that reaches us.
class Runtime {
 public:
  /// The runtime, or null when calls must go straight to PMPI: MPI is not up (any more), or another
  /// MPI than the one we were built for is running. SHORTCUT_DISABLE is for Communicator::of, since
  /// all ranks must take it alike.
  static Runtime* get();
  /// MPI_Finalize has begun.
  static bool finalizing();

  const config::Settings& settings() const { return settings_; }
  /// For communicators that are made from now on.
  Status set(std::string_view setting, std::string_view value) {
    return config::set(settings_, setting, value);
  }
  /// A line on standard error if the level allows it and this is rank 0 of the world.
  void log(config::Log level, const std::string& line) const;
  int world_rank() const { return world_rank_; }
  /// There is a core for every rank of this node, so waiting may spin.
  bool may_spin() const { return may_spin_; }

 private:
  Runtime();
  config::Settings settings_;
  int world_rank_ = 0;
  bool may_spin_ = false;
};

}  // namespace shortcut::collective
