#include "planner/nodes.hpp"

namespace shortcut::planner {
namespace {

double rounds(const NodeParameters& node) {
  return std::bit_width(static_cast<unsigned>(node.ranks) - 1u);
}

/// The whole message up or down the tree.
model::Line whole(const NodeParameters& node) {
  return model::Line{node.alpha_ns, node.beta_ns_per_byte}.scaled(rounds(node));
}

/// Each rank its own part of the node's.
model::Line parts(const NodeParameters& node) {
  const double share = static_cast<double>(node.ranks - 1) / node.ranks / node.nodes;
  return {rounds(node) * node.alpha_ns, share * node.beta_ns_per_byte};
}

}  // namespace

model::Line on_node_before(const NodeParameters& node, schedule::Collective collective) {
  return collective == schedule::Collective::allgather ? parts(node) : whole(node);
}

model::Line on_node_after(const NodeParameters& node, schedule::Collective collective) {
  return collective == schedule::Collective::reduce_scatter ? parts(node) : whole(node);
}

}  // namespace shortcut::planner
