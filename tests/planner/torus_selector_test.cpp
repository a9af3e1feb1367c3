#include "planner/torus_selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "topology/torus_router.hpp"

namespace shortcut::planner {
namespace {

using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

constexpr Collective kCollectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                       Collective::allgather};
constexpr double kSizes[] = {8, 4096, 32e3, 1e6, 33e6};

Options options_with(double delta_ns, bool all_ports = false) {
  Options options;
  options.fabric.delta_ns = delta_ns;
  options.all_ports = all_ports;
  return options;
}

DimensionStates on_rings(const std::vector<int>& dims) {
  return DimensionStates(dims.size(), CircuitState::ring());
}

/// Step by step, phase by phase, straight from what the plan says of its steps.
double by_steps(const Options& options, const Plan& plan, double bytes) {
  std::vector<std::vector<double>> phases(2 * plan.torus->dims.size(), std::vector<double>(8, 0.0));
  for (const PlannedStep& step : plan.steps) {
    double& sum = phases[static_cast<std::size_t>(step.phase)][static_cast<std::size_t>(step.lane)];
    if (step.reconfigured) sum += options.fabric.delta_ns;
    if (step.at_once) continue;
    sum += model::step_cost(options.fabric, step.route, step.share * bytes, false).total_ns();
  }
  double all = plan.torus->restored > 0 ? options.fabric.delta_ns : 0;
  for (const auto& lanes : phases) all += *std::max_element(lanes.begin(), lanes.end());
  return all;
}

TEST(TorusSelector, PriceIsTheSumOfItsSteps) {
  for (const std::vector<int>& dims :
       {std::vector<int>{4, 4}, {8, 4}, {6, 4}, {3, 3, 3}, {2, 2, 2, 2}, {16, 8}, {5, 2}}) {
    for (const double delta : {0.0, 500.0, 10e3}) {
      for (const bool all_ports : {false, true}) {
        for (const Restore restore : {Restore::lazy, Restore::eager}) {
          Options options = options_with(delta, all_ports);
          options.restore = restore;
          TorusSelector selector(options, dims);
          for (const Collective collective : kCollectives) {
            for (const double bytes : kSizes) {
              const Plan plan =
                  selector.plan(collective, Operands::commutative, on_rings(dims), bytes);
              ASSERT_FALSE(plan.native());
              const double own = plan.predicted_ns(bytes);
              EXPECT_NEAR(by_steps(options, plan, bytes), own, 1e-9 * own) << describe(plan);
            }
          }
        }
      }
    }
  }
}

/// A plan's routes, against the router of the whole torus on the schedule's own patterns.
void expect_routes(const Options& options, const Plan& plan) {
  schedule::TorusRequest request{.collective = plan.schedule().collective,
                                 .dims = plan.torus->dims,
                                 .lanes = {},
                                 .twins = plan.torus->twins};
  request.lanes.resize(static_cast<std::size_t>(plan.torus->lanes));
  for (const PlannedPart& part : plan.torus->parts) {
    request.lanes[static_cast<std::size_t>(part.lane)].push_back(
        {part.dimension, &part.ring.algorithm(), part.scatters});
  }
  const schedule::Schedule schedule = schedule::make_torus_schedule(request).schedule;
  ASSERT_EQ(schedule.steps.size(), plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size();) {
    const PlannedStep& first = plan.steps[i];
    DimensionStates states = on_rings(plan.torus->dims);
    states[static_cast<std::size_t>(first.dimension)] = first.state;
    std::vector<topology::Flow> flows;
    do {
      const std::vector<int>& send_to = schedule.steps[i].send_to;
      for (int u = 0; u < schedule.ranks; ++u) {
        const int v = send_to[static_cast<std::size_t>(u)];
        if (v >= 0) flows.push_back({u, v});
      }
    } while (++i < plan.steps.size() && plan.steps[i].at_once);
    const topology::TorusRouter router(topology::Torus(plan.torus->dims), states,
                                       options.fabric.antipodal);
    EXPECT_EQ(router.route(flows), first.route) << describe(plan) << " before step " << i;
  }
}

TEST(TorusSelector, RoutesAreThoseOfTheTorus) {
  for (const std::vector<int>& dims :
       {std::vector<int>{4, 4}, {8, 4}, {6, 4}, {3, 3, 3}, {2, 2, 2, 2}, {16, 8}}) {
    for (const double delta : {100.0, 10e3}) {
      for (const bool all_ports : {false, true}) {
        const Options options = options_with(delta, all_ports);
        TorusSelector selector(options, dims);
        for (const Collective collective : kCollectives) {
          for (const double bytes : {4096.0, 1e6}) {
            for (const Plan& plan :
                 selector.alternatives(collective, Operands::exact, on_rings(dims), bytes)) {
              expect_routes(options, plan);
            }
          }
        }
      }
    }
  }
}

/// Every order of dimensions, each scattering or not, straight from the ring selectors.
double cheapest(const Options& options, const std::vector<int>& dims, Collective collective,
                double bytes) {
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  double least = std::numeric_limits<double>::infinity();
  Options halves = options;
  halves.two_halves = true;
  const auto lookup = [&](bool scatters, int size, double part) {
    const bool two = scatters && collective == Collective::allreduce;
    const Selector selector(two ? halves : options, size);
    return selector.select(collective, Operands::commutative, CircuitState::ring(), part)
        .predicted_ns(part);
  };
  do {
    const unsigned modes = collective == Collective::allreduce ? 1u << dims.size() : 1;
    for (unsigned whole = 0; whole < modes; ++whole) {
      double sum = 0;
      double part = bytes;
      for (std::size_t i = 0; i < dims.size(); ++i) {
        const int size = dims[static_cast<std::size_t>(order[i])];
        const bool scatters = (whole & (1u << i)) == 0;
        sum += lookup(scatters, size, part);
        if (scatters) part /= size;
      }
      least = std::min(least, sum);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(TorusSelector, OneLaneIsTheCheapestOrder) {
  for (const std::vector<int>& dims : {std::vector<int>{8, 4}, {6, 4}, {2, 16}, {3, 4, 8}}) {
    for (const double delta : {200.0, 5000.0}) {
      const Options options = options_with(delta);
      TorusSelector selector(options, dims);
      for (const Collective collective : kCollectives) {
        for (const double bytes : {64.0, 32e3, 4e6}) {
          const Plan plan = selector.plan(collective, Operands::commutative, on_rings(dims), bytes);
          const double expected = cheapest(options, dims, collective, bytes);
          EXPECT_NEAR(plan.predicted_ns(bytes), expected, 1e-9 * expected) << describe(plan);
        }
      }
    }
  }
}

TEST(TorusSelector, ManyDimensionsAreNoBurden) {
  const std::vector<int> dims(12, 2);
  TorusSelector selector(options_with(10e3), dims);
  const Plan plan = selector.plan(Collective::allreduce, Operands::exact, on_rings(dims), 1e6);
  EXPECT_EQ(plan.torus->parts.size(), dims.size());
}

TEST(TorusSelector, TableIsTheChoiceAtEverySize) {
  for (const bool all_ports : {false, true}) {
    const std::vector<int> dims{8, 4};
    TorusSelector selector(options_with(3000, all_ports), dims);
    for (const Collective collective : kCollectives) {
      const SelectionTable& table =
          selector.table(collective, Operands::commutative, on_rings(dims));
      EXPECT_GT(table.rows().size(), collective == Collective::allreduce ? 1u : 0u);
      for (double bytes = 1; bytes < 1e9; bytes *= 1.7) {
        const double found = table.lookup(bytes).predicted_ns(bytes);
        const double best = selector.plan(collective, Operands::commutative, on_rings(dims), bytes)
                                .predicted_ns(bytes);
        // Lanes have lines with bends, so that the bounds between them are near, not exact.
        EXPECT_LE(found, best * (all_ports ? 1.02 : 1 + 1e-9)) << bytes;
        EXPECT_GE(found, best * (1 - 1e-9)) << bytes;
      }
    }
  }
}

TEST(TorusSelector, StartsFromWhatTheSwitchesHold) {
  const std::vector<int> dims{8, 8};
  TorusSelector selector(options_with(1000), dims);
  DimensionStates held = on_rings(dims);
  for (int call = 0; call < 6; ++call) {
    const double bytes = call % 2 == 0 ? 1e6 : 64;
    const Plan& plan = selector.table(Collective::allreduce, Operands::exact, held).lookup(bytes);
    EXPECT_EQ(plan.torus->start, held);
    DimensionStates now = held;
    for (const PlannedStep& step : plan.steps) {
      CircuitState& state = now[static_cast<std::size_t>(step.dimension)];
      EXPECT_EQ(step.reconfigured, step.state != state);
      state = step.state;
    }
    EXPECT_EQ(plan.torus->end, now);
    held = now;
  }
  EXPECT_NE(held, on_rings(dims));
}

TEST(TorusSelector, ForcedAlgorithmsServeWhereTheyCan) {
  Options options = options_with(10e3);
  options.algorithm = "swing";
  const std::vector<int> dims{8, 6};
  TorusSelector selector(options, dims);
  const Plan plan = selector.plan(Collective::allreduce, Operands::exact, on_rings(dims), 1e5);
  for (const PlannedPart& part : plan.torus->parts) {
    EXPECT_EQ(part.ring.algorithm_name() == "swing", part.dimension == 0);
  }
  const std::string why =
      reason(selector.table(Collective::allreduce, Operands::exact, on_rings(dims)), plan, 1e5);
  EXPECT_NE(why.find("swing was asked for but cannot serve dimension 1"), std::string::npos) << why;
  options.algorithm = "recursive_doubling_full";  // has no halves: whole in each dimension
  TorusSelector full(options, dims);
  const Plan whole = full.plan(Collective::allreduce, Operands::exact, on_rings(dims), 1e5);
  for (const PlannedPart& part : whole.torus->parts) {
    EXPECT_EQ(part.ring.algorithm_name(), "recursive_doubling_full");
    EXPECT_FALSE(part.scatters);
  }
}

TEST(TorusSelector, InOrderOperandsGoFromNeighboursOutwards) {
  const std::vector<int> dims{4, 8};
  TorusSelector selector(options_with(10e3, true), dims);
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
    const Plan plan = selector.plan(collective, Operands::in_order, on_rings(dims), 1e5);
    ASSERT_FALSE(plan.native());
    EXPECT_FALSE(plan.algorithm().commutative_only);
    EXPECT_EQ(plan.torus->lanes, 1);
    EXPECT_EQ(plan.torus->parts[0].dimension, 0);
    EXPECT_FALSE(
        selector.ring_plan(collective, Operands::in_order, on_rings(dims), 1e5).has_value());
  }
}

/// All ports of a 16 x 8 torus against one port on one ring of its 128 ranks.
TEST(TorusSelector, AllPortsBeatOneLongRing) {
  constexpr double kBytes = 1 << 20;
  for (const double delta : {10e3, 1e9}) {  // the latter: nothing is ever rewired
    const Selector ring(options_with(delta), 128);
    const double one =
        ring.select(Collective::allreduce, Operands::exact, CircuitState::ring(), kBytes)
            .predicted_ns(kBytes);
    const std::vector<int> dims{16, 8};
    TorusSelector torus(options_with(delta, true), dims);
    const Plan plan = torus.plan(Collective::allreduce, Operands::exact, on_rings(dims), kBytes);
    EXPECT_GT(one / plan.predicted_ns(kBytes), 1.0);
    RecordProperty("factor", std::to_string(one / plan.predicted_ns(kBytes)));
    // Where bandwidth counts, all ports do.
    const Plan large = torus.plan(Collective::allreduce, Operands::exact, on_rings(dims), 1e8);
    EXPECT_EQ(large.torus->lanes, 2);
  }
}

}  // namespace
}  // namespace shortcut::planner
