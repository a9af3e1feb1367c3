// Maximum concurrent flow: what an ideal routing, free to split flows, would make of a pattern. Its
// inverse is the congestion of Harvest's Eq. 3, and a lower bound for every router.
//
// A linear program of (flows x links) variables: for patterns of some dozen endpoints. It needs
// GLPK; without that the library shortcut_flow is not built, and nothing else needs it.
#pragma once

#include <span>
#include <vector>

#include "model/cost.hpp"
#include "support/result.hpp"
#include "topology/matching.hpp"

namespace shortcut::planner {

/// A directed link; capacity 1 is the bandwidth 1/beta of the model.
struct FlowLink {
  int from = 0;
  int to = 0;
  double capacity = 1;
};

struct FlowNetwork {
  int nodes = 0;
  std::vector<FlowLink> links;
};

/// u -> u + g for each of the generators; a generator -g beside g makes the links full duplex.
FlowNetwork circulant_network(int nodes, std::span<const int> generators);
/// Both directions of every pair of two matchings; a pair in both counts once, as in the router.
FlowNetwork matched_network(const topology::Matching& fixed, const topology::Matching& switched);
/// rows x columns, both at least 3, wrapped around in both, full duplex. Node (r, c) is r * columns
/// + c.
FlowNetwork torus_network(int rows, int columns);
/// Generalised Kautz graph, an expander: u -> -(degree * u + j) mod n for j = 1..degree, without
/// loops.
FlowNetwork kautz_network(int nodes, int degree);

enum class FlowPaths {
  any,       ///< all paths, split at will
  shortest,  ///< split over shortest paths only
};

struct ConcurrentFlow {
  /// Largest fraction of all flows that fits at once; 0: some flow's ends are not connected.
  double theta = 0;
  /// Longest of the shortest paths of the flows; 0 where theta is.
  int hops = 0;
};

/// Every flow has demand 1. send_to[u] is where u sends to, or topology::kNobody; at least one
/// flow. Errors: the solver gave up.
Result<ConcurrentFlow> maximum_concurrent_flow(const FlowNetwork& network,
                                               std::span<const int> send_to, FlowPaths paths);

/// Eq. 3: alpha_s + hop_factor * hops * alpha_p + beta * m_i / theta; infinity where theta is 0.
double step_cost_ns(const model::FabricParameters& fabric, ConcurrentFlow flow, double flow_bytes);

}  // namespace shortcut::planner
