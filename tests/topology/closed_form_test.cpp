// Closed forms against the router, for every step on every state, n up to 1,024.
#include "topology/closed_form.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace shortcut::topology {
namespace {

std::vector<CircuitState> all_states(int nodes) {
  std::vector<CircuitState> states{CircuitState::ring()};
  const int levels = floor_log2(nodes);
  for (int i = 0; i < levels; ++i) {
    states.push_back(CircuitState::peer(i));
    states.push_back(CircuitState::swing(i));
    for (int b = i + 1; b < levels && i >= 1; ++b) states.push_back(CircuitState::subring(i, b));
  }
  return states;
}

std::vector<int> pattern(Pattern kind, int nodes, int step) {
  std::vector<int> send_to;
  for (int u = 0; u < nodes; ++u) {
    send_to.push_back(kind == Pattern::exclusive_or ? u ^ (1 << step) : swing_peer(nodes, step, u));
  }
  return send_to;
}

TEST(ClosedForm, EqualsTheRouter) {
  int compared = 0;
  for (int n = 2; n <= 1024; n *= 2) {
    for (const BaseRing base : {BaseRing::plain, BaseRing::twisted}) {
      for (const Antipodal antipodal : {Antipodal::same_path, Antipodal::balanced}) {
        const RingShape shape{n, antipodal, base};
        for (const CircuitState state : all_states(n)) {
          ASSERT_TRUE(can_hold(n, state)) << n << " " << to_string(state);
          const Router router(n, state, antipodal, base);
          for (const Pattern kind : {Pattern::exclusive_or, Pattern::swing}) {
            if (!has_closed_form(shape, kind, state)) continue;
            for (int step = 0; step < floor_log2(n); ++step) {
              ++compared;
              const auto ours = closed_form(shape, kind, step, state);
              const auto routed = router.route(pattern(kind, n, step));
              ASSERT_EQ(ours.has_value(), routed.has_value())
                  << "n=" << n << " " << to_string(state) << " step " << step;
              if (!routed) continue;
              ASSERT_EQ(ours->hops, routed->hops)
                  << "n=" << n << " " << to_string(state) << " step " << step;
              ASSERT_EQ(ours->congestion, routed->congestion)
                  << "n=" << n << " " << to_string(state) << " step " << step;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST(ClosedForm, NeighboursOnTheBaseRingAreOneHopApart) {
  for (const BaseRing base : {BaseRing::plain, BaseRing::twisted}) {
    for (int n = 2; n <= 1024; ++n) {
      const std::vector<int> order = ring_order(n, base);
      std::vector<int> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (int u = 0; u < n; ++u) ASSERT_EQ(sorted[static_cast<std::size_t>(u)], u);
      std::vector<int> send_to(order.size());
      for (std::size_t p = 0; p < order.size(); ++p) {
        send_to[static_cast<std::size_t>(order[p])] = order[(p + 1) % order.size()];
      }
      const RingShape shape{n, Antipodal::same_path, base};
      ASSERT_EQ(Router(n, CircuitState::ring(), Antipodal::same_path, base).route(send_to),
                closed_form(shape, Pattern::neighbours, -1, CircuitState::ring()))
          << "n=" << n;
    }
  }
}

TEST(Subring, DoublesItsHopsAndHalvesTheLast) {
  // Written out: 128 endpoints, steps 4 to 6 on subring:4-6, and what the twisted ring saves.
  const RingShape shape{128, Antipodal::same_path, BaseRing::twisted};
  const CircuitState state = CircuitState::subring(4, 6);
  EXPECT_EQ(closed_form(shape, Pattern::exclusive_or, 0, state), (Route{1, 1}));
  EXPECT_EQ(closed_form(shape, Pattern::exclusive_or, 3, state), std::nullopt);
  EXPECT_EQ(closed_form(shape, Pattern::exclusive_or, 4, state), (Route{2, 2}));
  EXPECT_EQ(closed_form(shape, Pattern::exclusive_or, 5, state), (Route{4, 4}));
  EXPECT_EQ(closed_form(shape, Pattern::exclusive_or, 6, state), (Route{4, 4}));
  EXPECT_EQ(closed_form(shape, Pattern::exclusive_or, 6, CircuitState::ring()), (Route{32, 32}));
}

}  // namespace
}  // namespace shortcut::topology
