// The routers' congestion against maximum concurrent flow, and plans over topologies that have no
// router.
//
// With C the congestion of a router that sends every flow over one shortest path, and theta of the
// linear program: 1/theta(any) <= 1/theta(shortest) <= C. Where every flow has only one shortest
// path, 1/theta(shortest) == C; where it has only one path at all, 1/theta(any) == C.
#include "planner/concurrent_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "planner/harvest.hpp"
#include "topology/router.hpp"

namespace shortcut::planner {
namespace {

using topology::Antipodal;
using topology::kNobody;
using topology::Matching;
using topology::Router;

constexpr double kClose = 1e-7;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

ConcurrentFlow solve(const FlowNetwork& network, const std::vector<int>& send_to, FlowPaths paths) {
  const auto flow = maximum_concurrent_flow(network, send_to, paths);
  EXPECT_TRUE(flow.ok());
  return flow.ok() ? flow.value() : ConcurrentFlow{};
}

std::vector<int> shift_pattern(int nodes, const Shift& shift) {
  std::vector<int> send_to(at(nodes), kNobody);
  for (int u = 0; shift.senders.empty() && u < nodes; ++u) {
    send_to[at(u)] = (u + shift.distance) % nodes;
  }
  for (const int u : shift.senders) send_to[at(u)] = (u + shift.distance) % nodes;
  return send_to;
}

std::vector<int> random_permutation(int nodes, std::mt19937& random) {
  std::vector<int> order(at(nodes));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Some pairs, some left alone.
Matching random_matching(int nodes, std::mt19937& random) {
  const std::vector<int> order = random_permutation(nodes, random);
  Matching matching(at(nodes), kNobody);
  for (int i = 0; i + 1 < nodes; i += 2) {
    if (random() % 4 == 0) continue;
    matching[at(order[at(i)])] = order[at(i + 1)];
    matching[at(order[at(i + 1)])] = order[at(i)];
  }
  return matching;
}

/// Links of the cycle or path that u is on, laid out anew: the endpoints met by walking.
struct Component {
  int size = 0;
  bool cycle = false;
};
Component component_of(const Matching& fixed, const Matching& switched, int start) {
  std::vector<bool> met(fixed.size(), false);
  std::vector<int> open{start};
  met[at(start)] = true;
  Component component;
  int ends = 0;
  while (!open.empty()) {
    const int u = open.back();
    open.pop_back();
    ++component.size;
    int links = 0;
    for (const int v :
         {fixed[at(u)], fixed[at(u)] == switched[at(u)] ? kNobody : switched[at(u)]}) {
      if (v == kNobody) continue;
      ++links;
      if (!met[at(v)]) open.push_back(v);
      met[at(v)] = true;
    }
    ends += links < 2 ? 1 : 0;
  }
  component.cycle = ends == 0;
  return component;
}

TEST(ConcurrentFlow, BoundsTheRouterOnRandomMatchings) {
  std::mt19937 random(61);
  int one_path = 0;
  int one_shortest = 0;
  int split = 0;
  int unreachable = 0;
  for (int round = 0; round < 400; ++round) {
    const int nodes = 4 + static_cast<int>(random() % 7);
    const bool full = nodes % 2 == 0 && round % 2 == 0;
    Matching fixed = topology::fixed_matching(nodes);
    Matching switched = random_matching(nodes, random);
    if (full) {
      const int states = 1 + topology::floor_log2(nodes);
      const int state = static_cast<int>(random() % 64) % states;
      switched =
          topology::switched_matching(nodes, state <= 0 ? topology::CircuitState::ring()
                                                        : topology::CircuitState::peer(state - 1));
    }
    // Flows within components, mostly.
    std::vector<int> send_to = random_permutation(nodes, random);
    const auto antipodal = round % 3 == 0 ? Antipodal::balanced : Antipodal::same_path;
    const Router router(fixed, switched, antipodal);
    if (round % 10 != 0) {
      for (int u = 0; u < nodes; ++u) {
        if (!router.distance(u, send_to[at(u)])) send_to[at(u)] = kNobody;
      }
    }
    int flows = 0;
    bool single_path = true;
    bool single_shortest = true;
    for (int u = 0; u < nodes; ++u) {
      const int v = send_to[at(u)];
      if (v == kNobody || v == u) continue;
      ++flows;
      const Component component = component_of(fixed, switched, u);
      single_path &= !component.cycle;
      const auto hops = router.distance(u, v);
      single_shortest &= !component.cycle || (hops && 2 * *hops != component.size);
    }
    if (flows == 0) continue;
    const FlowNetwork network = matched_network(fixed, switched);
    const ConcurrentFlow any = solve(network, send_to, FlowPaths::any);
    const ConcurrentFlow shortest = solve(network, send_to, FlowPaths::shortest);
    const auto route = router.route(send_to);
    if (!route) {
      EXPECT_EQ(any.theta, 0);
      ++unreachable;
      continue;
    }
    ASSERT_GT(any.theta, 0);
    EXPECT_EQ(any.hops, route->hops);
    EXPECT_LE(1 / any.theta, 1 / shortest.theta + kClose);
    EXPECT_LE(1 / shortest.theta, route->congestion + kClose);
    if (single_shortest) {
      EXPECT_NEAR(1 / shortest.theta, route->congestion, kClose);
      ++one_shortest;
    }
    if (single_path) {
      EXPECT_NEAR(1 / any.theta, route->congestion, kClose);
      ++one_path;
    } else if (1 / any.theta < route->congestion - kClose) {
      ++split;
    }
  }
  EXPECT_GT(one_path, 20);
  EXPECT_GT(one_shortest, 100);
  EXPECT_GT(split, 20);
  EXPECT_GT(unreachable, 5);
}

TEST(ConcurrentFlow, ShiftsOnTheRing) {
  for (const int nodes : {4, 6, 8, 10, 12}) {
    const int both_ways[] = {1, -1};
    const FlowNetwork ring = circulant_network(nodes, both_ways);
    const Router router(nodes, topology::CircuitState::ring(), Antipodal::same_path);
    for (int d = 1; d < nodes; ++d) {
      const auto pattern = shift_pattern(nodes, {d, 1});
      const int congestion = router.route(pattern)->congestion;
      // Split so that both directions are loaded alike: d (n-d) / n.
      EXPECT_NEAR(1 / solve(ring, pattern, FlowPaths::any).theta,
                  static_cast<double>(d * (nodes - d)) / nodes, kClose);
      const double shortest = 1 / solve(ring, pattern, FlowPaths::shortest).theta;
      if (2 * d == nodes) {
        // Half-way round there are two shortest paths.
        EXPECT_NEAR(shortest, d / 2.0, kClose);
        EXPECT_LT(shortest, congestion);
      } else {
        EXPECT_NEAR(shortest, congestion, kClose);
        EXPECT_EQ(congestion, std::min(d, nodes - d));
      }
    }
  }
}

TEST(ConcurrentFlow, EqualsTheRouteOnDirectedCirculants) {
  // With one link out of every node there is one path.
  int unreachable = 0;
  for (int nodes = 2; nodes <= 12; ++nodes) {
    for (int generator = 1; generator < nodes; ++generator) {
      const int generators[] = {generator};
      const FlowNetwork network = circulant_network(nodes, generators);
      std::vector<Shift> shifts;
      for (int d = 1; d < nodes; ++d) shifts.push_back({d, 1});
      for (const char* name : {"binomial", "binomial_halving"}) {
        const auto own = find_shift_algorithm(name)->make(CirculantCollective::broadcast, nodes);
        shifts.insert(shifts.end(), own.begin(), own.end());
      }
      for (const Shift& shift : shifts) {
        const auto flow = solve(network, shift_pattern(nodes, shift), FlowPaths::any);
        const auto route = Circulant(nodes, generator).route(shift);
        if (!route) {
          EXPECT_EQ(flow.theta, 0);
          ++unreachable;
          continue;
        }
        EXPECT_NEAR(1 / flow.theta, route->congestion, kClose)
            << "n=" << nodes << " g=" << generator << " d=" << shift.distance;
        EXPECT_EQ(flow.hops, route->hops);
      }
    }
  }
  EXPECT_GT(unreachable, 0);
}

TEST(ConcurrentFlow, TorusAndExpanderRespectTheCut) {
  // All links together carry at most their number; every flow needs its distance. Shifts on a torus
  // along a row reach the bound of a ring of its own.
  const FlowNetwork torus = torus_network(4, 4);
  EXPECT_EQ(torus.links.size(), 64u);
  const FlowNetwork kautz = kautz_network(12, 2);
  EXPECT_LE(kautz.links.size(), 24u);
  std::mt19937 random(62);
  for (const FlowNetwork* network : {&torus, &kautz}) {
    for (int round = 0; round < 5; ++round) {
      auto pattern = random_permutation(network->nodes, random);
      const ConcurrentFlow flow = solve(*network, pattern, FlowPaths::any);
      ASSERT_GT(flow.theta, 0);
      int distance = 0;
      for (int u = 0; u < network->nodes; ++u) {
        std::vector<int> alone(at(network->nodes), kNobody);
        if (pattern[at(u)] == u) continue;
        alone[at(u)] = pattern[at(u)];
        distance += solve(*network, alone, FlowPaths::shortest).hops;
      }
      EXPECT_GE(1 / flow.theta, distance / static_cast<double>(network->links.size()) - kClose);
      EXPECT_LE(1 / flow.theta, 1 / solve(*network, pattern, FlowPaths::shortest).theta + kClose);
    }
  }
  // The next row: one link straight, or three the other way, or around through other columns.
  const auto next_row = solve(torus, shift_pattern(16, {4, 1}), FlowPaths::shortest);
  EXPECT_NEAR(next_row.theta, 1, kClose);
  EXPECT_EQ(next_row.hops, 1);
}

TEST(ConcurrentFlow, PlansOverTopologiesPricedByIt) {
  // Cyclic recursive doubling on 12 nodes with two ports out of each: two-way ring, directed
  // torus-like circulants, expander. The dynamic program against all sequences of topologies.
  constexpr int kNodes = 12;
  std::vector<FlowNetwork> networks;
  for (const std::vector<int>& generators :
       {std::vector<int>{1, -1}, {1, 3}, {1, 4}, {2, -2}, {4, 1}, {8, 1}}) {
    networks.push_back(circulant_network(kNodes, generators));
  }
  networks.push_back(kautz_network(kNodes, 2));
  const auto shifts =
      find_shift_algorithm("cyclic")->make(CirculantCollective::reduce_scatter, kNodes);
  std::vector<std::vector<ConcurrentFlow>> flows;
  for (const Shift& shift : shifts) {
    auto& row = flows.emplace_back();
    for (const FlowNetwork& network : networks) {
      row.push_back(solve(network, shift_pattern(kNodes, shift), FlowPaths::any));
    }
  }
  std::mt19937 random(63);
  std::uniform_real_distribution<double> exponent(0, 5);
  for (int round = 0; round < 50; ++round) {
    model::FabricParameters fabric;
    fabric.alpha_p_ns = std::pow(10, exponent(random));
    fabric.delta_ns = std::pow(10, exponent(random));
    const double bytes = std::pow(10, exponent(random) + 2);
    std::vector<std::vector<double>> costs;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      auto& row = costs.emplace_back();
      for (const ConcurrentFlow& flow : flows[i]) {
        row.push_back(step_cost_ns(fabric, flow, shifts[i].share * bytes));
      }
    }
    const SegmentTable table = segments_by_search(costs);
    const SegmentProgram program(table);
    const int count = program.best(fabric.delta_ns);
    const double planned = program.steps_ns(count) + count * fabric.delta_ns;

    double least = std::numeric_limits<double>::infinity();
    const std::size_t states = networks.size();
    const auto sequences =
        static_cast<std::size_t>(std::pow(static_cast<double>(states), shifts.size()) + 0.5);
    for (std::size_t code = 0; code < sequences; ++code) {
      double ns = 0;
      std::size_t rest = code;
      std::size_t held = rest % states;
      for (std::size_t i = 0; i < shifts.size(); ++i) {
        const std::size_t state = rest % states;
        rest /= states;
        ns += costs[i][state] + (state != held ? fabric.delta_ns : 0);
        held = state;
      }
      least = std::min(least, ns);
    }
    EXPECT_NEAR(planned, least, 1e-9 * least);
  }
}

}  // namespace
}  // namespace shortcut::planner
