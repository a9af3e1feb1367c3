// Routes any set of flows over the links that a circuit state leaves, and says what that costs:
// the longest path and the largest load of a directed link.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/circuit_state.hpp"
#include "topology/matching.hpp"

namespace shortcut::topology {

/// Which way two endpoints at exactly half a cycle's length send to each other (docs/model.md).
enum class Antipodal {
  same_path,  ///< both use the path that starts at the lower position: load 2^i (the paper's)
  balanced,   ///< both ends of a pair go the same way round, pairs alternate: load 2^(i-1)
};

/// Cost of a set of flows on one circuit state.
struct Route {
  int hops = 0;        ///< links on the longest path, h of Eq. 1
  int congestion = 0;  ///< most flows on one directed link, c of Eq. 1
  bool operator==(const Route&) const = default;
};

class PeriodicLoad;

/// Shortest-path router for fabrics in which every endpoint has one fixed and one switched port:
/// the links then form disjoint cycles and paths, and a path is a run of positions on one of them.
/// Links are full duplex, each direction has a load of its own. Built in O(n), routes f flows in
/// O(n + f). The ring of an odd number of endpoints is routed as a ring too (a static fabric).
class Router {
 public:
  Router(int nodes, CircuitState state, Antipodal antipodal, BaseRing base = BaseRing::plain);
  /// A router for explicit switched ports beside M_fix, for tests and searches over matchings.
  Router(const Matching& fixed, const Matching& switched, Antipodal antipodal);

  int nodes() const { return static_cast<int>(component_.size()); }

  /// Flows: send_to[u] is the endpoint that u sends to, or kNobody. Size n.
  /// `period`: the pattern repeats every so many endpoints, send_to[u + period] == send_to[u] +
  /// period (mod n); it must divide n; n says nothing. On the ring only one period is then routed,
  /// O(period). Returns nullopt when some flow's ends are not connected: *unreachable*.
  std::optional<Route> route(std::span<const int> send_to, int period) const;
  std::optional<Route> route(std::span<const int> send_to) const { return route(send_to, nodes()); }

  /// Several patterns at once.
  std::optional<Route> route_together(std::span<const std::span<const int>> patterns) const;

  /// Hops between two endpoints, or nullopt when unreachable.
  std::optional<int> distance(int from, int to) const;

 private:
  struct Component {
    int first = 0;   // offset in the load arrays; a component has length + 1 entries there
    int length = 0;  // endpoints on it
    bool cycle = false;
  };
  void lay_out(const Matching& fixed, const Matching& switched);
  /// True for the ring of all endpoints in their own order.
  bool plain_ring_ = false;
  Route route_on_plain_ring(std::span<const int> send_to, int period) const;
  std::optional<Route> route_on_components(std::span<const std::span<const int>> patterns) const;
  /// False: with this period the flows do not repeat.
  bool add_on_plain_ring(std::span<const int> send_to, int period, PeriodicLoad& up,
                         PeriodicLoad& down, int& hops) const;

  std::vector<int> component_;  // per endpoint
  std::vector<int> position_;   // per endpoint, along its component
  std::vector<Component> components_;
  Antipodal antipodal_;
};

}  // namespace shortcut::topology
