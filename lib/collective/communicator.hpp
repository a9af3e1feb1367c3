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
#include "planner/nodes.hpp"
#include "planner/torus_selector.hpp"
#include "topology/placement.hpp"

namespace shortcut::collective {

/// A plan compiled for one rank: what it does, step by step, repetitions expanded.
struct ProgramStep {
  schedule::RankStep rank;
  topology::CircuitState state;
  topology::Route route;
  bool reconfigured = false;
  bool at_once = false;  ///< at the same time as the step in front
  int dimension = 0;     ///< of the torus; so lane and phase: see schedule::Step
  int lane = 0;
  int phase = 0;
};
using Program = std::vector<ProgramStep>;

/// Synchronisation among a communicator's ranks over MPI's own network. Does not own it.
class MpiChannel final : public fabric::ControlChannel {
 public:
  explicit MpiChannel(MPI_Comm comm) : comm_(comm) {}
  MPI_Comm comm() const { return comm_; }
  double synchronise(double value) override;
  void progress() override;
  int participants() const override;

 private:
  MPI_Comm comm_;
};

class Communicator;

/// The ranks that share this rank's node, and the level above: one leader of each node. Nodes have
/// equally many ranks, and their ranks follow each other.
struct NodeLevel {
  MpiChannel channel;  ///< the node's ranks, the leader first
  int per_node = 1;
  int index = 0;  ///< of this rank's node among the communicator's
  int place = 0;  ///< of this rank in it; 0: the leader
  planner::NodeParameters price;
  /// Among leaders. On other ranks it only plans as the leaders do.
  std::unique_ptr<Communicator> fabric;
};

/// What is chosen for one call.
struct Choice {
  const planner::SelectionTable* table = nullptr;
  const planner::Plan* plan = nullptr;
  bool two_level = false;  ///< the plan is for the leaders of the nodes
  int per_node = 1;        ///< ranks of a node then, else 1
  double predicted_ns = 0;
};

class Communicator {
 public:
  /// The state of `comm`, made if need be (collective then), or null when its calls belong to PMPI,
  /// and `why` (if given) the reason. Every rank of `comm` that has Shortcut comes to the same
  /// answer, and no rank without it is waited for where that can be known.
  static Communicator* of(MPI_Comm comm, Runtime& runtime, const char** why = nullptr);
  /// A communicator that was made from a session (MPI 4): its calls go to PMPI. Whether MPI_Init
  /// was called may differ between its ranks, and all must decide alike.
  static void leave_session(MPI_Comm comm);

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Ours, its ranks in the order of the fabric's endpoints.
  MPI_Comm traffic() const { return traffic_; }
  /// This rank's endpoint, which is its rank in traffic().
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// The rank in the user's communicator of the one on an endpoint.
  int user_rank(int endpoint) const { return user_rank_[static_cast<std::size_t>(endpoint)]; }
  int own_user_rank() const { return user_rank(rank_); }
  /// Does each rank sit on the endpoint of its number?
  bool in_rank_order() const { return in_rank_order_; }
  /// For operands that must keep rank order where the ranks do not sit in it: the same ranks as one
  /// ring in their order, made on first use (collective then). It is priced as such a ring, which
  /// the fabric need not have.
  Communicator& ordered(Runtime& runtime);
  const config::Settings& settings() const { return settings_; }
  const planner::Options& options() const { return options_; }
  const model::FabricParameters& parameters() const { return options_.fabric; }
  fabric::Backend& backend() { return *backend_; }
  /// The torus that its ranks form; one size: a ring.
  const std::vector<int>& dims() const { return dims_; }
  fabric::ControlChannel& everyone() { return everyone_; }
  /// The ranks whose circuits change together with this one's in a dimension.
  fabric::ControlChannel& channel(int dimension) {
    return channels_[static_cast<std::size_t>(dimension)];
  }

  /// The circuits as this communicator left them, per dimension.
  const planner::DimensionStates& held() const { return held_; }
  void hold(int dimension, topology::CircuitState state) {
    held_[static_cast<std::size_t>(dimension)] = state;
  }
  /// Takes it that `plan` has run, where others ran it.
  void assume(const planner::Plan& plan);
  /// Null: ranks do not share nodes, or not regularly.
  NodeLevel* nodes() { return nodes_.get(); }
  /// The cheapest of the ranks' own plan and the nodes'.
  Choice choose(schedule::Collective collective, schedule::Operands operands, double bytes);
  /// Message size -> plan, from what the circuits hold.
  const planner::SelectionTable& table(schedule::Collective collective,
                                       schedule::Operands operands);

  /// This rank's program for a plan, compiled on first use; kept by the plan's address.
  const Program& program(const planner::Plan& plan);
  /// Drops the program of a plan that is about to die (the selector's own plans never do).
  void forget(const planner::Plan& plan) { programs_.erase(&plan); }

  Scratch work;                   ///< the vector while it is worked on
  Scratch blocks;                 ///< blocks in schedule order
  Scratch staging;                ///< blocks as bytes, or a node's part of a reduction
  std::vector<Scratch> incoming;  ///< operands on their way into a reduction, by joined step
  std::vector<MPI_Request> requests;

 private:
  explicit Communicator(MPI_Comm traffic);
  /// Without traffic: only plans as so many others do.
  struct Onlooker {
    int ranks = 1;
  };
  explicit Communicator(Onlooker onlooker);
  static int on_delete(MPI_Comm, int, void* state, void*);
  /// How many of MPI's it holds, without ordered()'s.
  int communicators() const;
  /// Takes rank 0's settings. False: some rank has SHORTCUT_DISABLE set.
  bool agree_on_settings(Runtime& runtime);
  /// Finds the torus that the ranks form and puts them in its order.
  void settle(Runtime& runtime, MPI_Comm user, const std::vector<int>& world_ranks, int world_size);
  /// `node_of`: of each user rank, as find_nodes says.
  void make_nodes(Runtime& runtime, const std::vector<int>& world_ranks,
                  const std::vector<int>& node_of, int world_size);
  void make_channels();
  void plan(Runtime& runtime);
  void log_tables(Runtime& runtime);
  /// Says so, once per collective, if another algorithm runs than the one that was asked for.
  void warn_if_replaced(const planner::Plan& plan);
  void free();

  MPI_Comm traffic_;
  MpiChannel everyone_;
  std::vector<MpiChannel> channels_;  // per dimension; of one: the traffic itself
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<int> user_rank_;
  bool in_rank_order_ = true;
  std::vector<int> dims_;
  config::Settings settings_;
  planner::Options options_;
  std::unique_ptr<planner::Selector> selector_;    // of a ring
  std::unique_ptr<planner::TorusSelector> torus_;  // or of a torus
  std::shared_ptr<fabric::Backend> backend_;       // shared with ordered_: one clock
  std::unique_ptr<Communicator> ordered_;
  std::unique_ptr<NodeLevel> nodes_;
  planner::DimensionStates held_;
  std::unordered_map<const planner::Plan*, Program> programs_;
};

}  // namespace shortcut::collective
