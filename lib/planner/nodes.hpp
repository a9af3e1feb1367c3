// The price of what ranks that share a node do among themselves around a collective between nodes:
// binomial trees in shared memory, as MPI libraries have them.
//
// With q ranks a node, L = ceil(log2 q), N nodes, and a (time) and b (time per byte) of a message
// within a node, for a message of m bytes:
//
//   AllReduce      in: reduce to the leader  L (a + m b)    out: broadcast  L (a + m b)
//   ReduceScatter  in: the same                             out: scatter    L a + (q-1)/q m/N b
//   AllGather      in: gather  L a + (q-1)/q m/N b          out: broadcast  L (a + m b)
#pragma once

#include <bit>

#include "model/cost.hpp"
#include "schedule/schedule.hpp"

namespace shortcut::planner {

struct NodeParameters {
  int ranks = 1;  ///< q, ranks of every node
  int nodes = 1;  ///< N
  double alpha_ns = 0;
  double beta_ns_per_byte = 0;
};

/// Before the leaders' collective.
model::Line on_node_before(const NodeParameters& node, schedule::Collective collective);
/// After it.
model::Line on_node_after(const NodeParameters& node, schedule::Collective collective);

}  // namespace shortcut::planner
