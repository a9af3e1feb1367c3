// The part of a communicator that knows of nodes: who shares one, and whether their leaders alone
// should talk on the fabric.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "collective/communicator.hpp"

namespace shortcut::collective {

void Communicator::make_nodes(Runtime& runtime, const std::vector<int>& world_ranks,
                              const std::vector<int>& node_of, int world_size) {
  const auto count = static_cast<int>(std::count(node_of.begin(), node_of.end(), node_of.front()));
  bool regular = count > 1 && ranks_ % count == 0 && ranks_ > count;
  for (int r = 1; r < ranks_ && regular; ++r) {
    const std::size_t rank = static_cast<std::size_t>(r);
    regular = (r % count == 0) == (node_of[rank] != node_of[rank - 1]);
  }
  std::vector<int> seen(node_of);  // a node that comes back later is irregular, too
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  regular &= static_cast<int>(seen.size()) * count == ranks_;
  const int user = own_user_rank();
  if (!regular) {
    if (user != 0) return;
    // Asked for, and of the whole job: worth a warning.
    const bool asked = settings_.hierarchy == config::Hierarchy::two_level && ranks_ == world_size;
    const auto say = [&](config::Log level) {
      runtime.log(level,
                  fmt::format("{} ranks: planned flat, not on two levels: that takes several "
                              "nodes, each with equally many ranks (two or more) that follow each "
                              "other",
                              ranks_));
    };
    static std::once_flag warned;
    if (asked) {
      std::call_once(warned, say, config::Log::warn);
    } else {
      say(config::Log::info);
    }
    return;
  }
  const int nodes = ranks_ / count;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm leaders = MPI_COMM_NULL;
  PMPI_Comm_split(traffic_, user / count, user, &node);
  PMPI_Comm_split(traffic_, user % count == 0 ? 0 : MPI_UNDEFINED, user, &leaders);
  PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  if (leaders != MPI_COMM_NULL) PMPI_Comm_set_errhandler(leaders, MPI_ERRORS_RETURN);
  nodes_ = std::unique_ptr<NodeLevel>(
      new NodeLevel{MpiChannel(node),
                    count,
                    user / count,
                    user % count,
                    {count, nodes, settings_.node_alpha_ns, settings_.node_beta_ns_per_byte},
                    nullptr});
  nodes_->fabric.reset(leaders == MPI_COMM_NULL ? new Communicator(Onlooker{nodes})
                                                : new Communicator(leaders));
  Communicator& fabric = *nodes_->fabric;
  fabric.settings_ = settings_;
  fabric.settings_.map = "rank";  // nodes are the endpoints, in their order
  if (settings_.dims == "cart") fabric.settings_.dims = "ring";
  fabric.backend_ = backend_;
  std::vector<int> world_nodes;
  for (int i = 0; i < nodes; ++i) {
    world_nodes.push_back(world_ranks[static_cast<std::size_t>(i * count)] / count);
  }
  fabric.settle(runtime, leaders, world_nodes, world_size / count);
  const bool sizes = settings_.dims.find('x') != std::string::npos;
  const bool in_vain = sizes && dims_.size() == 1 && fabric.dims_.size() == 1;
  if (in_vain && user == 0 && ranks_ == world_size) {
    runtime.log(
        config::Log::warn,
        fmt::format("SHORTCUT_DIMS: '{}' is neither of {} ranks nor of {} nodes: planned as "
                    "rings",
                    settings_.dims, ranks_, nodes));
  }
  fabric.plan(runtime);
}

Choice Communicator::choose(schedule::Collective collective, schedule::Operands operands,
                            double bytes) {
  const planner::SelectionTable& own = table(collective, operands);
  const planner::Plan& flat = own.lookup(bytes);
  const Choice alone{&own, &flat, false, 1, flat.native() ? 0 : flat.predicted_ns(bytes)};
  // MPI counts what nodes hand around in an int.
  if (!nodes_ || bytes >= 0x1p31) return alone;
  const planner::SelectionTable& above = nodes_->fabric->table(collective, operands);
  const planner::Plan& plan = above.lookup(bytes);
  if (plan.native()) return alone;
  const double predicted_ns = plan.predicted_ns(bytes) +
                              on_node_before(nodes_->price, collective).at(bytes) +
                              on_node_after(nodes_->price, collective).at(bytes);
  const bool forced = settings_.hierarchy == config::Hierarchy::two_level;
  if (!forced && !flat.native() && alone.predicted_ns <= predicted_ns) return alone;
  return {&above, &plan, true, nodes_->per_node, predicted_ns};
}

void Communicator::assume(const planner::Plan& plan) {
  const bool stays = options_.restore == planner::Restore::lazy;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    held_[k] = !stays ? topology::CircuitState::ring() : plan.torus ? plan.torus->end[k] : plan.end;
  }
}

}  // namespace shortcut::collective
