// What we keep for a communicator: a private one for our traffic, the selection tables, the fabric,
// this rank's programs, scratch. Made lazily, kept as an attribute, freed by its delete callback.
#pragma once

#include <mpi.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "collective/runtime.hpp"
#include "collective/typed_buffer.hpp"
#include "fabric/backend.hpp"
#include "planner/selector.hpp"

namespace shortcut::collective {

/// A plan compiled for one rank: what it does, step by step, repetitions expanded.
struct ProgramStep {
  schedule::RankStep rank;
  topology::CircuitState state;
  topology::Route route;
  bool reconfigured = false;
  bool at_once = false;  ///< at the same time as the step in front
};
using Program = std::vector<ProgramStep>;

/// Synchronisation among a communicator's ranks over MPI's own network.
class MpiChannel final : public fabric::ControlChannel {
 public:
  explicit MpiChannel(MPI_Comm comm) : comm_(comm) {}
  double synchronise(double value) override;
  void progress() override;
  int participants() const override;

 private:
  MPI_Comm comm_;
};

class Communicator {
 public:
  /// The state of `comm`, made if need be (collective then), or null when its calls belong to PMPI,
  /// and `why` (if given) the reason. Every rank of `comm` that has Shortcut comes to the same
  /// answer, and no rank without it is waited for where that can be known.
  static Communicator* of(MPI_Comm comm, Runtime& runtime, const char** why = nullptr);

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm traffic() const { return traffic_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const planner::Selector& selector() const { return *selector_; }
  const config::Settings& settings() const { return settings_; }
  const model::FabricParameters& parameters() const { return selector_->options().fabric; }
  fabric::Backend& backend() { return *backend_; }
  fabric::ControlChannel& channel() { return channel_; }

  /// The circuits as this communicator left them.
  topology::CircuitState held() const { return held_; }
  void hold(topology::CircuitState state) { held_ = state; }

  /// This rank's program for a plan, compiled on first use; kept by the plan's address.
  const Program& program(const planner::Plan& plan);
  /// Drops the program of a plan that is about to die (the selector's own plans never do).
  void forget(const planner::Plan& plan) { programs_.erase(&plan); }

  Scratch work;                   ///< the vector while it is worked on
  std::vector<Scratch> incoming;  ///< operands on their way into a reduction, by joined step
  std::vector<MPI_Request> requests;

 private:
  explicit Communicator(MPI_Comm traffic);
  static int on_delete(MPI_Comm, int, void* state, void*);
  /// Takes rank 0's settings. False: some rank has SHORTCUT_DISABLE set.
  bool agree_on_settings(Runtime& runtime);
  void plan(Runtime& runtime);
  void log_tables(Runtime& runtime) const;

  MPI_Comm traffic_;
  MpiChannel channel_;
  int rank_ = 0;
  int ranks_ = 1;
  config::Settings settings_;
  std::unique_ptr<planner::Selector> selector_;
  std::unique_ptr<fabric::Backend> backend_;
  topology::CircuitState held_;
  std::unordered_map<const planner::Plan*, Program> programs_;
};

}  // namespace shortcut::collective
