// Routes of flows on a whole torus: along dimension 0 first, then along dimension 1, and so on, in
// each by the shorter way on the links that its circuits make (router.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "topology/router.hpp"
#include "topology/torus.hpp"

namespace shortcut::topology {

struct Flow {
  int from = 0;
  int to = 0;
};

class TorusRouter {
 public:
  /// `states`: what the switches of each dimension hold; one per dimension (asserted).
  TorusRouter(Torus torus, const std::vector<CircuitState>& states, Antipodal antipodal,
              BaseRing base = BaseRing::plain);

  /// Hops of the longest path and the largest load of a directed link when all flows run at once.
  /// nullopt: *unreachable*, some flow's ends are not connected along some dimension.
  std::optional<Route> route(std::span<const Flow> flows) const;

 private:
  Torus torus_;
  std::vector<Router> rings_;  // per dimension: its rings are alike
};

}  // namespace shortcut::topology
