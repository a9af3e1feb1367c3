// The router against the closed forms of docs/model.md and against a breadth-first search that
// knows nothing about cycles and positions.
#include "topology/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "schedule/registry.hpp"

namespace shortcut::topology {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

schedule::Schedule reduce_scatter(std::string_view algorithm, int ranks) {
  const auto found = schedule::find_algorithm(algorithm);
  return schedule::make_schedule(*found.value(), schedule::Collective::reduce_scatter, ranks);
}

constexpr int kSizes[] = {8, 16, 32, 128};

TEST(Router, RecursiveDoublingOnTheRing) {
  for (const int n : kSizes) {
    const Router ring(n, CircuitState::ring(), Antipodal::same_path);
    const auto plan = reduce_scatter("recursive_doubling", n);
    ASSERT_EQ(plan.steps.size(), at(floor_log2(n)));
    for (int i = 0; i < floor_log2(n); ++i) {
      EXPECT_EQ(ring.route(plan.steps[at(i)].send_to), (Route{1 << i, 1 << i}))
          << "n=" << n << " i=" << i;
    }
  }
}

TEST(Router, SwingOnTheRing) {
  for (const int n : kSizes) {
    const Router ring(n, CircuitState::ring(), Antipodal::same_path);
    const auto plan = reduce_scatter("swing", n);
    ASSERT_EQ(plan.steps.size(), at(floor_log2(n)));
    for (int i = 0; i < floor_log2(n); ++i) {
      const int distance = std::abs(swing_distance(i));
      if (2 * distance >= n) continue;
      EXPECT_EQ(ring.route(plan.steps[at(i)].send_to), (Route{distance, (distance + 1) / 2}))
          << "n=" << n << " i=" << i;
    }
  }
}

TEST(Router, SwingDistances) {
  const int expected[] = {1, -1, 3, -5, 11, -21};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(swing_distance(i), expected[i]);
}

TEST(Router, BalancedAntipodalPairsHalveTheLastLoad) {
  for (const int n : kSizes) {
    const Router ring(n, CircuitState::ring(), Antipodal::balanced);
    const auto plan = reduce_scatter("recursive_doubling", n);
    const int last = floor_log2(n) - 1;
    for (int i = 0; i <= last; ++i) {
      const int load = i == last ? 1 << (i - 1) : 1 << i;
      EXPECT_EQ(ring.route(plan.steps[at(i)].send_to), (Route{1 << i, load}));
    }
  }
}

TEST(Router, EveryStepIsDirectOnItsOwnState) {
  for (const char* name : {"recursive_doubling", "swing"}) {
    for (const int n : {2, 4, 8, 16, 32, 128}) {
      for (const schedule::Step& step : reduce_scatter(name, n).steps) {
        ASSERT_TRUE(step.has_direct);
        const Router router(n, step.direct, Antipodal::same_path);
        EXPECT_EQ(router.route(step.send_to), (Route{1, 1}))
            << name << " n=" << n << " " << to_string(step.direct);
      }
    }
  }
}

/// Sizes of the parts that the links fall into, and how many pairs are connected.
std::multiset<int> part_sizes(const Router& router) {
  std::multiset<int> sizes;
  std::vector<bool> seen(at(router.nodes()), false);
  for (int u = 0; u < router.nodes(); ++u) {
    if (seen[at(u)]) continue;
    int size = 0;
    for (int v = 0; v < router.nodes(); ++v) {
      if (!router.distance(u, v)) continue;
      seen[at(v)] = true;
      ++size;
    }
    sizes.insert(size);
  }
  return sizes;
}

TEST(Router, PeerStatesAreFourCycles) {
  for (const int n : kSizes) {
    for (int i = 1; i < floor_log2(n); ++i) {
      const Router router(n, CircuitState::peer(i), Antipodal::same_path);
      const auto sizes = part_sizes(router);
      EXPECT_EQ(sizes.size(), at(n / 4));
      EXPECT_EQ(sizes.count(4), at(n / 4));
      // u, u^1, u^1^2^i, u^2^i: the far corner is two hops away.
      EXPECT_EQ(router.distance(0, 1 + (1 << i)), 2);
      EXPECT_EQ(router.distance(0, 1 << (i == 1 ? 2 : 1)), std::nullopt);
      for (const schedule::Step& step : reduce_scatter("recursive_doubling", n).steps) {
        const bool reachable = step.level == 0 || step.level == i;
        EXPECT_EQ(router.route(step.send_to).has_value(), reachable) << "n=" << n << " i=" << i;
      }
    }
  }
}

TEST(Router, SwingStatesAreOneRing) {
  for (const int n : kSizes) {
    for (int i = 1; i < floor_log2(n); ++i) {
      const Router router(n, CircuitState::swing(i), Antipodal::same_path);
      EXPECT_EQ(part_sizes(router), std::multiset<int>{n});
      int farthest = 0;
      for (int v = 0; v < n; ++v) farthest = std::max(farthest, router.distance(0, v).value());
      EXPECT_EQ(farthest, n / 2);  // a ring, not a path
    }
  }
}

std::vector<CircuitState> states(int nodes) {
  std::vector<CircuitState> all{CircuitState::ring()};
  for (int i = 0; i < 8; ++i) {
    for (const CircuitState state : {CircuitState::peer(i), CircuitState::swing(i)}) {
      if (can_hold(nodes, state)) all.push_back(state);
    }
    for (int a = 1; a < i; ++a) {
      if (can_hold(nodes, CircuitState::subring(a, i))) {
        all.push_back(CircuitState::subring(a, i));
      }
    }
  }
  return all;
}

TEST(Matching, IsAnInvolutionWithoutFixedPoints) {
  for (int n = 1; n <= 130; ++n) {
    std::vector<Matching> all{fixed_matching(n)};
    for (const CircuitState state : states(n)) {
      if (n > 1) all.push_back(switched_matching(n, state));
    }
    for (const Matching& peer : all) {
      ASSERT_EQ(peer.size(), at(n));
      for (int u = 0; u < n; ++u) {
        if (peer[at(u)] == kNobody) continue;
        EXPECT_NE(peer[at(u)], u) << "n=" << n;
        EXPECT_EQ(peer[at(peer[at(u)])], u) << "n=" << n;
      }
    }
  }
}

TEST(CircuitState, TextGoesBothWays) {
  for (const CircuitState state : states(128)) {
    const auto parsed = parse_circuit_state(to_string(state));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed.value(), state);
  }
  for (const char* text :
       {"", "rings", "peer", "peer:", "peer:-1", "peer:31", "peer:1x", "x:1", "subring:1",
        "subring:0-2", "subring:2-2", "subring:3-2", "subring:1-31"}) {
    EXPECT_FALSE(parse_circuit_state(text).ok()) << text;
  }
}

TEST(Folding, RanksAndCoresAgree) {
  for (int n = 1; n <= 130; ++n) {
    const Folding folding(n);
    EXPECT_TRUE(is_power_of_two(folding.cores));
    int extras = 0;
    for (int r = 0; r < n; ++r) {
      extras += folding.is_extra(r) ? 1 : 0;
      const int home = folding.rank_of(folding.core_of(r));
      EXPECT_EQ(home, folding.is_extra(r) ? r - 1 : r) << "n=" << n;
    }
    EXPECT_EQ(extras, folding.extras());
  }
}

/// The independent reference: a graph and a breadth-first search.
struct Graph {
  std::vector<std::set<int>> next;

  explicit Graph(int nodes) : next(at(nodes)) {}
  void join(const Matching& peer) {
    for (std::size_t u = 0; u < peer.size(); ++u) {
      if (peer[u] != kNobody) next[u].insert(peer[u]);
    }
  }
  struct Search {
    std::vector<int> distance, paths, before;
  };
  Search from(int start) const {
    Search found{std::vector<int>(next.size(), -1), std::vector<int>(next.size(), 0),
                 std::vector<int>(next.size(), -1)};
    std::queue<int> open;
    open.push(start);
    found.distance[at(start)] = 0;
    found.paths[at(start)] = 1;
    while (!open.empty()) {
      const int u = open.front();
      open.pop();
      for (const int v : next[at(u)]) {
        if (found.distance[at(v)] < 0) {
          found.distance[at(v)] = found.distance[at(u)] + 1;
          found.before[at(v)] = u;
          open.push(v);
        }
        if (found.distance[at(v)] == found.distance[at(u)] + 1) {
          found.paths[at(v)] += found.paths[at(u)];
        }
      }
    }
    return found;
  }
};

void compare(const Graph& graph, const Router& router, std::mt19937& random) {
  const int n = router.nodes();
  std::vector<Graph::Search> searches;
  for (int u = 0; u < n; ++u) searches.push_back(graph.from(u));
  for (int u = 0; u < n; ++u) {
    for (int v = 0; v < n; ++v) {
      const int distance = searches[at(u)].distance[at(v)];
      ASSERT_EQ(router.distance(u, v).value_or(-1), distance) << "n=" << n;
    }
  }
  std::uniform_int_distribution<int> pick(-1, n - 1);
  for (int round = 0; round < 12; ++round) {
    // By turns: anything at all; only what is reachable; of that, nothing that has two shortest
    // paths.
    std::vector<int> send_to(at(n));
    bool reachable = true;
    bool unique = true;
    for (int u = 0; u < n; ++u) {
      for (int attempt = 0;; ++attempt) {
        const int v = attempt < 200 ? pick(random) : kNobody;
        send_to[at(u)] = v;
        if (v == kNobody) break;
        if (round % 3 > 0 && searches[at(u)].distance[at(v)] < 0) continue;
        if (round % 3 > 1 && searches[at(u)].paths[at(v)] > 1) continue;
        break;
      }
      const int v = send_to[at(u)];
      if (v == kNobody) continue;
      reachable &= searches[at(u)].distance[at(v)] >= 0;
      unique &= searches[at(u)].paths[at(v)] <= 1;
    }
    const auto route = router.route(send_to);
    ASSERT_EQ(route.has_value(), reachable) << "n=" << n;
    if (!route) continue;
    int hops = 0;
    int congestion = 0;
    std::map<std::pair<int, int>, int> load;
    for (int u = 0; u < n; ++u) {
      if (send_to[at(u)] == kNobody) continue;
      const Graph::Search& search = searches[at(u)];
      hops = std::max(hops, search.distance[at(send_to[at(u)])]);
      for (int v = send_to[at(u)]; v != u; v = search.before[at(v)]) {
        congestion = std::max(congestion, ++load[{search.before[at(v)], v}]);
      }
    }
    ASSERT_EQ(route->hops, hops) << "n=" << n;
    if (unique) {
      ASSERT_EQ(route->congestion, congestion) << "n=" << n;
    }
  }
}

TEST(Router, AgreesWithASearchOnEveryState) {
  std::mt19937 random(7);
  for (int n = 2; n <= 32; ++n) {
    for (const CircuitState state : states(n)) {
      SCOPED_TRACE(to_string(state));
      Graph graph(n);
      if (state == CircuitState::ring()) {
        for (int u = 0; u < n; ++u) {
          graph.next[at(u)] = {(u + 1) % n, (u + n - 1) % n};
        }
      } else {
        graph.join(fixed_matching(n));
        graph.join(switched_matching(n, state));
      }
      for (const Antipodal antipodal : {Antipodal::same_path, Antipodal::balanced}) {
        compare(graph, Router(n, state, antipodal), random);
      }
    }
  }
}

TEST(Router, AgreesWithASearchOnRandomMatchings) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 32);
    Graph graph(n);
    Matching ports[2];
    for (Matching& peer : ports) {
      std::vector<int> order(at(n));
      for (int u = 0; u < n; ++u) order[at(u)] = u;
      std::shuffle(order.begin(), order.end(), random);
      peer.assign(at(n), kNobody);
      for (int k = 0; k + 1 < n; k += 2) {
        if (random() % 5 == 0) continue;  // ports without a partner
        peer[at(order[at(k)])] = order[at(k + 1)];
        peer[at(order[at(k + 1)])] = order[at(k)];
      }
      graph.join(peer);
    }
    compare(graph, Router(ports[0], ports[1], Antipodal::same_path), random);
  }
}

}  // namespace
TEST(RouterTest, OnePeriodGivesWhatAllFlowsGive) {
  for (const int n : {2, 4, 8, 12, 16, 32, 64, 7, 13}) {
    for (const auto antipodal :
         {shortcut::topology::Antipodal::same_path, shortcut::topology::Antipodal::balanced}) {
      const shortcut::topology::Router ring(n, shortcut::topology::CircuitState::ring(), antipodal);
      for (const auto& row : shortcut::schedule::algorithms()) {
        const auto collective = shortcut::schedule::Collective::allreduce;
        if (!row.cannot(collective, n, true).empty()) continue;
        const auto schedule = make_schedule(row, collective, n);
        for (const auto& step : schedule.steps) {
          EXPECT_EQ(ring.route(step.send_to, step.period), ring.route(step.send_to))
              << row.name << " n=" << n;
        }
      }
    }
  }
}

TEST(RouterTest, LoadsOfPatternsAtOnceAddUpPerDirection) {
  constexpr int n = 9;
  const Router ring(n, CircuitState::ring(), Antipodal::same_path);
  std::vector<int> right(n);
  std::vector<int> left(n);
  std::vector<int> far(n);
  for (int u = 0; u < n; ++u) {
    right[static_cast<std::size_t>(u)] = (u + 1) % n;
    left[static_cast<std::size_t>(u)] = (u + n - 1) % n;
    far[static_cast<std::size_t>(u)] = (u + 3) % n;
  }
  const auto together = [&ring](std::initializer_list<std::span<const int>> patterns) {
    return ring.route_together(std::vector<std::span<const int>>(patterns));
  };
  EXPECT_EQ(together({right}), ring.route(right));
  EXPECT_EQ(together({right, left}), (Route{1, 1}));  // each direction of a link has its own load
  EXPECT_EQ(together({right, far}), (Route{3, 4}));
  EXPECT_EQ(together({left, far}), (Route{3, 3}));
}

}  // namespace shortcut::topology
