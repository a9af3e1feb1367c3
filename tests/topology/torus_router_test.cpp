#include "topology/torus_router.hpp"

#include <gtest/gtest.h>

namespace shortcut::topology {
namespace {

std::vector<CircuitState> rings(int dimensions) {
  return std::vector<CircuitState>(static_cast<std::size_t>(dimensions), CircuitState::ring());
}

TEST(TorusRouter, PathsAddUpOverTheDimensions) {
  const Torus torus({8, 4, 3});  // id = x + 8 y + 32 z
  const TorusRouter router(torus, rings(3), Antipodal::same_path);
  const auto hops = [&](int from, int to) {
    const Flow flow{from, to};
    return router.route({&flow, 1})->hops;
  };
  EXPECT_EQ(hops(0, 0), 0);
  EXPECT_EQ(hops(0, 3), 3);
  EXPECT_EQ(hops(0, 7), 1);  // the other way round
  EXPECT_EQ(hops(0, 7 + 8 * 2), 1 + 2);
  EXPECT_EQ(hops(5, 2 + 8 * 3 + 32 * 2), 3 + 1 + 1);
}

TEST(TorusRouter, FlowsOfAllEndpointsLoadEveryRingAlike) {
  // Everyone to the endpoint two on along dimension 1: as on one ring of four.
  const Torus torus({3, 4});
  const TorusRouter router(torus, rings(2), Antipodal::same_path);
  std::vector<Flow> flows;
  std::vector<int> one_ring;
  for (int u = 0; u < torus.nodes(); ++u) {
    flows.push_back({u, torus.with_coordinate(u, 1, (torus.coordinate(u, 1) + 2) % 4)});
  }
  for (int u = 0; u < 4; ++u) one_ring.push_back((u + 2) % 4);
  const Router ring(4, CircuitState::ring(), Antipodal::same_path);
  EXPECT_EQ(router.route(flows), ring.route(one_ring));
}

TEST(TorusRouter, TurnsShareLinks) {
  // From two endpoints of a row into one column: both go along the row to it, then up it.
  const Torus torus({4, 4});
  const TorusRouter router(torus, rings(2), Antipodal::same_path);
  const std::vector<Flow> flows{{0, 1 + 4}, {2, 1 + 4}, {1, 1 + 4}};
  EXPECT_EQ(router.route(flows), (Route{2, 3}));  // the link from (1, 0) to (1, 1) carries all
}

TEST(TorusRouter, CircuitsOfADimensionDecideWhatIsReachableThere) {
  const Torus torus({8, 8});
  const TorusRouter router(torus, {CircuitState::peer(2), CircuitState::ring()},
                           Antipodal::same_path);
  const auto route = [&](int from, int to) {
    const Flow flow{from, to};
    return router.route({&flow, 1});
  };
  EXPECT_EQ(route(0, 4), (Route{1, 1}));      // by the circuit
  EXPECT_EQ(route(0, 5), (Route{2, 1}));      // and a fixed link
  EXPECT_EQ(route(0, 2), std::nullopt);       // no way along dimension 0
  EXPECT_EQ(route(0, 8 * 2), (Route{2, 1}));  // dimension 1 is a ring
}

}  // namespace
}  // namespace shortcut::topology
