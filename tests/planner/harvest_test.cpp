// Planning on circulants: published numbers, and the dynamic program against enumerations that know
// nothing of segments.
#include "planner/harvest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

namespace shortcut::planner {
namespace {

using Collective = CirculantCollective;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Collective kCollectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                       Collective::allgather, Collective::alltoall,
                                       Collective::broadcast};

std::size_t at(int index) { return static_cast<std::size_t>(index); }

model::FabricParameters parameters(double alpha_ns, double link_ns, double delta_ns) {
  model::FabricParameters fabric;
  fabric.alpha_s_ns = alpha_ns;
  fabric.alpha_p_ns = link_ns;
  fabric.beta_ns_per_byte = 0.01;
  fabric.delta_ns = delta_ns;
  return fabric;
}

model::FabricParameters random_parameters(std::mt19937& random) {
  std::uniform_real_distribution<double> exponent(0, 5);
  model::FabricParameters fabric =
      parameters(std::pow(10, exponent(random)), std::pow(10, exponent(random)),
                 random() % 8 == 0 ? 0 : std::pow(10, exponent(random)));
  fabric.beta_ns_per_byte = std::pow(10, exponent(random) - 5);
  fabric.hop_factor = 1 + static_cast<int>(random() % 2);
  return fabric;
}

CirculantPlan plan(const model::FabricParameters& fabric, const char* algorithm,
                   Collective collective, int nodes, double bytes,
                   CirculantForm form = CirculantForm::optimal) {
  return plan_on_circulants(fabric, *find_shift_algorithm(algorithm), collective, nodes, bytes,
                            form);
}

TEST(Harvest, PublishedAllGather) {
  constexpr double kBytes = 4 << 20;
  struct Row {
    double delta_ns, total_ns;
    int reconfigurations;
  };
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter}) {
    for (const Row& row : {Row{10, 44'638, 5}, Row{1'000, 49'293, 4}, Row{10'000, 73'357.95, 2}}) {
      const auto best = plan(parameters(500, 50, row.delta_ns), "cyclic", collective, 64, kBytes);
      EXPECT_NEAR(best.predicted_ns, row.total_ns, 1);
      EXPECT_EQ(best.reconfigurations, row.reconfigurations);
    }
    const auto fabric = parameters(500, 50, 10'000);
    EXPECT_NEAR(plan(fabric, "ring", collective, 64, kBytes).predicted_ns, 75'938, 1);
    const auto fixed = plan(fabric, "cyclic", collective, 64, kBytes, CirculantForm::fixed);
    EXPECT_NEAR(fixed.predicted_ns, 131'979, 1);
    EXPECT_EQ(fixed.steps[0].generator, 1);
  }
}

TEST(Harvest, PublishedAllReduce) {
  struct Row {
    double bytes, delta_ns, model_ns, published_ns;
    int reconfigurations;
  };
  for (const Row& row : {Row{16 << 10, 1'000, 19'430.08, 19'430.084, 4},
                         Row{1 << 20, 10'000, 75'389.44, 75'393.634, 2},
                         Row{4 << 20, 10'000, 156'614.72, 156'615.557, 4}}) {
    const auto best =
        plan(parameters(500, 500, row.delta_ns), "cyclic", Collective::allreduce, 64, row.bytes);
    EXPECT_NEAR(best.predicted_ns, row.model_ns, 1e-6);
    EXPECT_NEAR(best.predicted_ns, row.published_ns, 1e-4 * row.published_ns);
    EXPECT_EQ(best.reconfigurations, row.reconfigurations);
  }
}

/// Walks the circulant link by link.
topology::Route walk(int nodes, int generator, const Shift& shift) {
  std::vector<int> senders = shift.senders;
  for (int u = 0; shift.senders.empty() && u < nodes; ++u) senders.push_back(u);
  std::vector<int> load(at(nodes), 0);  // of the link u -> u + generator
  topology::Route route;
  for (const int sender : senders) {
    int here = sender;
    int hops = 0;
    while (here != (sender + shift.distance) % nodes) {
      ++load[at(here)];
      here = (here + generator) % nodes;
      if (++hops > nodes) return {};
    }
    route.hops = std::max(route.hops, hops);
  }
  route.congestion = *std::max_element(load.begin(), load.end());
  return route;
}

TEST(Harvest, RoutesEqualWalksLinkByLink) {
  for (int nodes = 2; nodes <= 33; ++nodes) {
    for (const ShiftAlgorithm& algorithm : shift_algorithms()) {
      for (const Collective collective : kCollectives) {
        if (!algorithm.cannot(collective, nodes).empty()) continue;
        for (const Shift& shift : algorithm.make(collective, nodes)) {
          for (int generator = 1; generator < nodes; ++generator) {
            const auto route = Circulant(nodes, generator).route(shift);
            EXPECT_EQ(route.value_or(topology::Route{}), walk(nodes, generator, shift))
                << algorithm.name << " n=" << nodes << " g=" << generator
                << " d=" << shift.distance;
          }
        }
      }
    }
  }
}

double cost(const model::FabricParameters& fabric, int nodes, double bytes, const Shift& shift,
            int generator) {
  const auto route = Circulant(nodes, generator).route(shift);
  if (!route) return kInfinity;
  return shift.repeat * (fabric.alpha_s_ns + fabric.hop_factor * route->hops * fabric.alpha_p_ns +
                         route->congestion * shift.share * bytes * fabric.beta_ns_per_byte);
}

/// The least of all sequences of generators, one for each step; delta where it changes. A branch is
/// left only when it is already as dear as a complete sequence.
double enumerate_generators(const model::FabricParameters& fabric, int nodes, double bytes,
                            const std::vector<Shift>& shifts) {
  std::vector<std::vector<double>> costs;
  for (const Shift& shift : shifts) {
    auto& row = costs.emplace_back(at(nodes), kInfinity);
    for (int g = 1; g < nodes; ++g) row[at(g)] = cost(fabric, nodes, bytes, shift, g);
  }
  double best = kInfinity;
  const std::function<void(std::size_t, int, double)> go = [&](std::size_t step, int held,
                                                               double ns) {
    if (ns >= best) return;
    if (step == shifts.size()) {
      best = ns;
      return;
    }
    for (int g = 1; g < nodes; ++g) {
      const double change = held != 0 && held != g ? fabric.delta_ns : 0;
      go(step + 1, g, ns + costs[step][at(g)] + change);
    }
  };
  go(0, 0, 0);
  return best;
}

/// The least over all ways to cut and, for each run by itself, all generators.
double enumerate_cuts(const model::FabricParameters& fabric, int nodes, double bytes,
                      const std::vector<Shift>& shifts, std::vector<double>& per_count) {
  const int steps = static_cast<int>(shifts.size());
  per_count.assign(at(steps), kInfinity);
  for (unsigned cuts = 0; cuts < 1u << (steps - 1); ++cuts) {
    double ns = 0;
    for (int first = 0; first < steps;) {
      int end = first + 1;
      while (end < steps && (cuts >> (end - 1) & 1) == 0) ++end;
      double least = kInfinity;
      for (int g = 1; g < nodes; ++g) {
        double own = 0;
        for (int i = first; i < end; ++i) own += cost(fabric, nodes, bytes, shifts[at(i)], g);
        least = std::min(least, own);
      }
      ns += least;
      first = end;
    }
    double& held = per_count[at(std::popcount(cuts))];
    held = std::min(held, ns);
  }
  double best = kInfinity;
  for (int k = 0; k < steps; ++k) best = std::min(best, per_count[at(k)] + k * fabric.delta_ns);
  return best;
}

TEST(Harvest, OptimalAmongAllSequencesOfGenerators) {
  std::mt19937 random(26);
  int enumerated = 0;
  for (int nodes = 2; nodes <= 32; ++nodes) {
    for (const ShiftAlgorithm& algorithm : shift_algorithms()) {
      for (const Collective collective : kCollectives) {
        if (!algorithm.cannot(collective, nodes).empty()) continue;
        const auto shifts = algorithm.make(collective, nodes);
        // All sequences of 10 steps only where there are few generators.
        if (shifts.size() > 5 && nodes > 8) continue;
        for (int round = 0; round < 2; ++round) {
          const auto fabric = random_parameters(random);
          const double bytes = std::pow(10, static_cast<double>(random() % 8));
          const double least = enumerate_generators(fabric, nodes, bytes, shifts);
          const auto best = plan_on_circulants(fabric, algorithm, collective, nodes, bytes,
                                               CirculantForm::optimal);
          EXPECT_NEAR(best.predicted_ns, least, 1e-9 * least)
              << algorithm.name << " n=" << nodes << " round " << round;
          ++enumerated;
        }
      }
    }
  }
  EXPECT_GT(enumerated, 300);
}

TEST(Harvest, ProgramEqualsAllCuts) {
  std::mt19937 random(27);
  for (int nodes = 2; nodes <= 32; ++nodes) {
    for (const char* name : {"cyclic", "bruck"}) {
      const ShiftAlgorithm& algorithm = *find_shift_algorithm(name);
      const auto shifts = algorithm.make(Collective::allreduce, nodes);
      for (int round = 0; round < 3; ++round) {
        const auto fabric = random_parameters(random);
        const double bytes = std::pow(10, static_cast<double>(random() % 8));
        std::vector<double> per_count;
        const double least = enumerate_cuts(fabric, nodes, bytes, shifts, per_count);
        const SegmentTable table = segments_on_circulants(fabric, nodes, bytes, shifts);
        const SegmentProgram program(table);
        for (int k = 0; k < table.steps; ++k) {
          EXPECT_NEAR(program.steps_ns(k), per_count[at(k)], 1e-9 * per_count[at(k)]) << "k=" << k;
          const auto segments = program.segments(k);
          ASSERT_EQ(segments.size(), at(k + 1));
          double sum = 0;
          for (const Segment& segment : segments) {
            sum += table.at(segment.first, segment.last).cost_ns;
          }
          EXPECT_NEAR(sum, program.steps_ns(k), 1e-9 * sum);
        }
        const auto best = plan_on_circulants(fabric, algorithm, Collective::allreduce, nodes, bytes,
                                             CirculantForm::optimal);
        EXPECT_NEAR(best.predicted_ns, least, 1e-9 * least) << name << " n=" << nodes;
      }
    }
  }
}

TEST(Harvest, ClosedFormEqualsTheSearch) {
  std::mt19937 random(28);
  for (const int nodes : {2, 4, 8, 16, 32, 64, 128, 256}) {
    for (const ShiftAlgorithm& algorithm : shift_algorithms()) {
      for (const Collective collective : kCollectives) {
        if (!algorithm.cannot(collective, nodes).empty()) continue;
        const auto shifts = algorithm.make(collective, nodes);
        if (!has_closed_form(nodes, shifts)) continue;
        for (int round = 0; round < 4; ++round) {
          const auto fabric = random_parameters(random);
          const double bytes = std::pow(10, static_cast<double>(random() % 8));
          const auto searched = segments_on_circulants(fabric, nodes, bytes, shifts);
          const auto closed = segments_in_closed_form(fabric, bytes, shifts);
          for (int first = 0; first < searched.steps; ++first) {
            for (int last = first; last < searched.steps; ++last) {
              const double wanted = searched.at(first, last).cost_ns;
              EXPECT_NEAR(closed.at(first, last).cost_ns, wanted, 1e-9 * wanted);
              EXPECT_EQ(closed.at(first, last).state, searched.at(first, last).state);
            }
          }
        }
      }
    }
  }
}

TEST(Harvest, ClosedFormIsEquation8ForRecursiveDoubling) {
  const auto fabric = parameters(321, 45, 0);
  constexpr double kBytes = 1e6;
  for (const int nodes : {2, 8, 64, 1024}) {
    const auto shifts = find_shift_algorithm("cyclic")->make(Collective::reduce_scatter, nodes);
    const auto table = segments_in_closed_form(fabric, kBytes, shifts);
    ASSERT_EQ(1 << table.steps, nodes);
    for (int a = 1; a <= table.steps; ++a) {
      for (int b = a; b <= table.steps; ++b) {
        const double length = b - a + 1;
        const double equation_8 = fabric.alpha_s_ns * length +
                                  fabric.alpha_p_ns * (std::exp2(length) - 1) +
                                  fabric.beta_ns_per_byte * kBytes * length / std::exp2(a);
        EXPECT_NEAR(table.at(a - 1, b - 1).cost_ns, equation_8, 1e-9 * equation_8);
        EXPECT_EQ(table.at(a - 1, b - 1).state, 1 << (a - 1));
      }
    }
  }
}

TEST(Harvest, FirstDistanceIsNotAlwaysTheBestGenerator) {
  // AllGather shrinks its distances: a segment stands on its last one.
  const auto slow = parameters(500, 50, 1e9);
  EXPECT_EQ(plan(slow, "cyclic", Collective::allgather, 64, 1e6).steps[0].generator, 1);
  // Five ranks, distances 1, 2, 4: generator 1 needs 1+2+4 hops, generator 2 only 3+1+2.
  const auto five = plan(slow, "bruck", Collective::alltoall, 5, 0, CirculantForm::fixed);
  int hops = 0;
  for (const CirculantStep& step : five.steps) hops += step.route.hops;
  EXPECT_EQ(five.steps[0].generator, 2);
  EXPECT_EQ(hops, 6);
}

TEST(Harvest, RingNeverReconfigures) {
  std::mt19937 random(29);
  for (const int nodes : {2, 5, 16, 31}) {
    const auto fabric = random_parameters(random);
    const auto best = plan(fabric, "ring", Collective::allreduce, nodes, 1e5);
    EXPECT_EQ(best.reconfigurations, 0);
    EXPECT_EQ(best.steps[0].generator, 1);
    EXPECT_EQ(best.steps[0].route, (topology::Route{1, 1}));
  }
}

TEST(Harvest, OptimalIsNeverDearerAndAddsUp) {
  std::mt19937 random(30);
  for (const int nodes : {2, 3, 7, 16, 24, 64}) {
    for (const ShiftAlgorithm& algorithm : shift_algorithms()) {
      for (const Collective collective : kCollectives) {
        if (!algorithm.cannot(collective, nodes).empty()) continue;
        const auto fabric = random_parameters(random);
        const double bytes = std::pow(10, static_cast<double>(random() % 8));
        double optimal = 0;
        for (const CirculantForm form :
             {CirculantForm::optimal, CirculantForm::fixed, CirculantForm::every_step}) {
          const auto own = plan_on_circulants(fabric, algorithm, collective, nodes, bytes, form);
          if (form == CirculantForm::optimal) optimal = own.predicted_ns;
          EXPECT_LE(optimal, own.predicted_ns * (1 + 1e-12));
          double sum = 0;
          int reconfigurations = 0;
          for (const CirculantStep& step : own.steps) {
            sum += step.repeat *
                   model::step_cost(fabric, step.route, step.flow_bytes, false).total_ns();
            reconfigurations += step.reconfigured ? 1 : 0;
            if (form == CirculantForm::every_step) {
              EXPECT_EQ(step.route, (topology::Route{1, 1}));
            }
          }
          EXPECT_EQ(reconfigurations, own.reconfigurations);
          EXPECT_NEAR(sum + reconfigurations * fabric.delta_ns, own.predicted_ns, 1e-9 * sum);
        }
      }
    }
  }
}

/// Blocks by their offset from the rank that holds them; all ranks alike, so one rank's view is
/// enough. A block moved by `distance` ends nearer to its rank by as much.
void expect_reduces(const std::vector<Shift>& shifts, int nodes) {
  std::set<int> held;
  for (int o = 0; o < nodes; ++o) held.insert(o);
  for (const Shift& shift : shifts) {
    const int count = static_cast<int>(std::lround(shift.share * nodes));
    // Blocks that can move onto a block still held: the farthest ones go first.
    std::set<int> moved;
    for (auto o = held.rbegin(); o != held.rend() && static_cast<int>(moved.size()) < count; ++o) {
      const bool lowest_bit = (*o & -*o) == shift.distance;
      if (lowest_bit || *o >= shift.distance) {
        const bool cyclic = shifts.front().distance == 1;
        if (!cyclic || lowest_bit) moved.insert(*o);
      }
    }
    EXPECT_EQ(static_cast<int>(moved.size()), count) << "n=" << nodes << " d=" << shift.distance;
    for (const int o : moved) held.erase(o);
    for (const int o : moved) EXPECT_TRUE(held.contains(o - shift.distance));
  }
  EXPECT_EQ(held, (std::set<int>{0}));
}

TEST(Harvest, StepsCarryEnoughBlocks) {
  for (int nodes = 2; nodes <= 40; ++nodes) {
    for (const char* name : {"cyclic", "bruck"}) {
      const ShiftAlgorithm& algorithm = *find_shift_algorithm(name);
      auto shifts = algorithm.make(Collective::reduce_scatter, nodes);
      expect_reduces(shifts, nodes);
      auto gather = algorithm.make(Collective::allgather, nodes);
      double total = 0;
      for (std::size_t i = 0; i < gather.size(); ++i) {
        total += gather[i].share;
        EXPECT_EQ(gather[i].distance, shifts[shifts.size() - 1 - i].distance);
        EXPECT_EQ(gather[i].share, shifts[shifts.size() - 1 - i].share);
      }
      EXPECT_NEAR(total, (nodes - 1.0) / nodes, 1e-12);
    }
    // All-to-all: the bits of every offset are travelled, in n-1 blocks or more.
    double carried = 0;
    for (const Shift& shift : find_shift_algorithm("bruck")->make(Collective::alltoall, nodes)) {
      carried += shift.share * nodes;
    }
    int bits = 0;
    for (int o = 1; o < nodes; ++o) bits += std::popcount(static_cast<unsigned>(o));
    EXPECT_NEAR(carried, bits, 1e-9);
    for (const char* name : {"binomial", "binomial_halving"}) {
      std::set<int> reached{0};
      for (const Shift& shift : find_shift_algorithm(name)->make(Collective::broadcast, nodes)) {
        std::set<int> next = reached;
        for (const int u : shift.senders) {
          EXPECT_TRUE(reached.contains(u));
          EXPECT_TRUE(next.insert((u + shift.distance) % nodes).second);
        }
        reached = next;
      }
      EXPECT_EQ(reached.size(), at(nodes)) << name << " n=" << nodes;
    }
  }
}

}  // namespace
}  // namespace shortcut::planner
