// The optimal planner against golden values, against every sequence of states, against every
// matching of the switched ports, and against the threshold rule.
#include "planner/state_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "planner/selector.hpp"

namespace shortcut::planner {
namespace {

using nlohmann::json;
using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const schedule::Algorithm& row(std::string_view name) {
  return *schedule::find_algorithm(name).value();
}

double optimal_ns(const Options& options, std::string_view algorithm, Collective collective,
                  int ranks, double bytes, CircuitState start = CircuitState::ring()) {
  const RoutedSchedule routed(row(algorithm), collective, ranks, options.fabric.antipodal,
                              options.fabric.base_ring);
  return StateSearch(options, routed).at(bytes, start).line.at(bytes);
}

Options random_options(std::mt19937& random) {
  std::uniform_real_distribution<double> exponent(0, 1);
  const auto power = [&](double from, double to) {
    return std::pow(10, from + (to - from) * exponent(random));
  };
  Options options;
  options.fabric.alpha_s_ns = random() % 4 == 0 ? 0 : power(1, 4);
  options.fabric.alpha_p_ns = random() % 4 == 0 ? 0 : power(0, 4);
  options.fabric.delta_ns = random() % 8 == 0 ? 0 : power(2, 6);
  options.fabric.beta_ns_per_byte = power(-3, 0);
  options.fabric.hop_factor = 1 + static_cast<int>(random() % 2);
  options.fabric.antipodal =
      random() % 2 == 0 ? topology::Antipodal::same_path : topology::Antipodal::balanced;
  options.fabric.base_ring =
      random() % 4 == 0 ? topology::BaseRing::twisted : topology::BaseRing::plain;
  options.restore = static_cast<Restore>(random() % 3);
  return options;
}

TEST(StateSearch, GoldenValues) {
  std::ifstream file(SHORTCUT_TEST_DATA "/model-golden.json");
  const json golden = json::parse(file);
  int rows = 0;
  for (const json& entry : golden.at("subring")) {
    const std::string name = entry.at("schedule");
    SCOPED_TRACE(name + " n=" + entry.at("nodes").dump() + " m=" + entry.at("bytes").dump());
    Options options;
    options.fabric = {.alpha_s_ns = entry.at("alpha_s_ns"),
                      .alpha_p_ns = entry.at("alpha_p_ns"),
                      .delta_ns = entry.at("delta_ns")};
    const Collective collective =
        name == "reduce_scatter" ? Collective::reduce_scatter : Collective::allreduce;
    const double bytes = entry.at("bytes");
    const RoutedSchedule plain(
        row(name == "allreduce_full" ? "recursive_doubling_full" : "recursive_doubling"),
        collective, entry.at("nodes"), topology::Antipodal::same_path);
    for (const char* family : {"peer_only", "with_subrings", "with_subrings_twisted_ring"}) {
      SCOPED_TRACE(family);
      const json& wanted = entry.at(family);
      const bool twisted = std::string_view(family) == "with_subrings_twisted_ring";
      options.subrings = std::string_view(family) != "peer_only";
      options.fabric.base_ring = twisted ? topology::BaseRing::twisted : topology::BaseRing::plain;
      const RoutedSchedule routed(plain.algorithm(), collective, plain.ranks(),
                                  topology::Antipodal::same_path, options.fabric.base_ring);
      for (const bool eager : {false, true}) {
        options.restore = eager ? Restore::eager : Restore::none;
        const double ns =
            StateSearch(options, routed).at(bytes, CircuitState::ring()).line.at(bytes);
        const double want = wanted.at(eager ? "ns_with_restore" : "ns");
        EXPECT_NEAR(ns, want, 1e-6 * want) << (eager ? "eager" : "none");
      }
      // What the golden states cost, priced by themselves.
      std::vector<CircuitState> states;
      for (const json& text : wanted.at("states")) {
        states.push_back(topology::parse_circuit_state(text.get<std::string>()).value());
      }
      options.restore = Restore::none;
      const auto priced = price(options, routed, states, CircuitState::ring());
      ASSERT_TRUE(priced.has_value());
      EXPECT_NEAR(priced->line.at(bytes), wanted.at("ns").get<double>(),
                  1e-6 * wanted.at("ns").get<double>());
      ++rows;
    }
  }
  EXPECT_EQ(rows, 45);
}

/// Every sequence of states, depth first; a branch ends when it is dearer than the best so far.
class Enumeration {
 public:
  Enumeration(const Options& options, const RoutedSchedule& routed,
              std::vector<CircuitState> states)
      : options_(options), routed_(routed), states_(std::move(states)) {
    for (std::size_t i = 0; i < routed.steps().size(); ++i) {
      for (const CircuitState state : states_) routes_.push_back(routed.route(i, state));
    }
  }

  double least(double bytes, CircuitState start) {
    bytes_ = bytes;
    least_ = kInfinity;
    visited_ = 0;
    follow(0, start, 0);
    return least_;
  }
  long visited() const { return visited_; }

 private:
  void follow(std::size_t i, CircuitState held, double ns) {
    ++visited_;
    if (ns >= least_) return;
    if (i == routed_.steps().size()) {
      const bool away = options_.restore == Restore::eager && held != CircuitState::ring();
      least_ = std::min(least_, ns + (away ? options_.fabric.delta_ns : 0));
      return;
    }
    const RoutedStep& step = routed_.steps()[i];
    for (std::size_t k = 0; k < states_.size(); ++k) {
      const auto& route = routes_[i * states_.size() + k];
      if (!route) continue;
      const double price =
          model::step_cost(options_.fabric, *route, step.share * bytes_, false).total_ns() *
          step.repeat;
      follow(i + 1, states_[k], ns + price + (states_[k] == held ? 0 : options_.fabric.delta_ns));
    }
  }

  const Options& options_;
  const RoutedSchedule& routed_;
  std::vector<CircuitState> states_;
  std::vector<std::optional<topology::Route>> routes_;
  double bytes_ = 0;
  double least_ = 0;
  long visited_ = 0;
};

struct Case {
  const char* algorithm;
  Collective collective;
  int most_ranks;
};

TEST(StateSearch, EqualsEverySequenceOfStates) {
  const Case cases[] = {{"recursive_doubling", Collective::reduce_scatter, 32},
                        {"recursive_doubling", Collective::allgather, 32},
                        {"recursive_doubling_full", Collective::allreduce, 32},
                        {"swing", Collective::reduce_scatter, 32},
                        {"recursive_doubling", Collective::allreduce, 8},
                        {"swing", Collective::allreduce, 16},
                        {"ring", Collective::allreduce, 8}};
  std::mt19937 random(20261201);
  long visited = 0;
  int off_ring = 0;
  for (int round = 0; round < 1000; ++round) {
    const Options options = random_options(random);
    const double bytes = std::pow(10, static_cast<double>(random() % 8001) / 1000);
    for (const Case& each : cases) {
      constexpr int kRanks[] = {2, 4, 6, 8, 12, 16, 24, 32};
      int ranks = kRanks[random() % 8];
      while (ranks > each.most_ranks ||
             !row(each.algorithm).cannot(each.collective, ranks, true).empty()) {
        ranks = kRanks[random() % 8];
      }
      const RoutedSchedule routed(row(each.algorithm), each.collective, ranks,
                                  options.fabric.antipodal, options.fabric.base_ring);
      const StateSearch search(options, routed);
      const auto& states = search.states();
      const CircuitState start =
          random() % 2 == 0 ? CircuitState::ring() : states[random() % states.size()];
      const Candidate found = search.at(bytes, start);
      const double ns = found.line.at(bytes);
      Enumeration all(options, routed, states);
      const double least = all.least(bytes, start);
      visited += all.visited();
      ASSERT_NEAR(ns, least, 1e-9 * least)
          << each.algorithm << " " << to_string(each.collective) << " n=" << ranks << " round "
          << round << " from " << to_string(start);
      // The path that is returned has that price, and its steps run where it says.
      const auto priced = price(options, routed, found.states, start);
      ASSERT_TRUE(priced.has_value());
      EXPECT_NEAR(priced->line.at(bytes), ns, 1e-9 * ns);
      EXPECT_EQ(priced->reconfigurations, found.reconfigurations);
      EXPECT_EQ(priced->end, found.end);
      EXPECT_EQ(priced->threshold, found.threshold);
      off_ring += found.threshold < 0 ? 1 : 0;
    }
  }
  std::printf("%ld partial sequences, %d of 7000 plans that no threshold describes\n", visited,
              off_ring);
  EXPECT_GT(off_ring, 300);
}

TEST(StateSearch, AStartingStateOfAnotherAlgorithmServesTheFixedLinksOnly) {
  Options options;
  options.fabric.delta_ns = 1e9;
  const RoutedSchedule routed(row("recursive_doubling"), Collective::reduce_scatter, 16,
                              topology::Antipodal::same_path);
  const Candidate found = StateSearch(options, routed).at(1000, CircuitState::swing(3));
  EXPECT_EQ(found.reconfigurations, 1);
  EXPECT_EQ(found.states.front(), CircuitState::swing(3));
  EXPECT_EQ(found.states.back(), CircuitState::subring(1, 3));  // one change, and shorter than ring
}

/// Every perfect matching of n ports, as circuits beside the fixed ones.
template <class Visit>
void every_matching(topology::Matching& peer, const Visit& visit) {
  const auto free = std::find(peer.begin(), peer.end(), topology::kNobody);
  if (free == peer.end()) return visit(peer);
  const int u = static_cast<int>(free - peer.begin());
  for (int v = u + 1; v < static_cast<int>(peer.size()); ++v) {
    if (peer[static_cast<std::size_t>(v)] != topology::kNobody) continue;
    peer[static_cast<std::size_t>(u)] = v;
    peer[static_cast<std::size_t>(v)] = u;
    every_matching(peer, visit);
    peer[static_cast<std::size_t>(u)] = peer[static_cast<std::size_t>(v)] = topology::kNobody;
  }
}

TEST(StateSearch, NoMatchingOfEightPortsBeatsIt) {
  const int n = 8;
  const schedule::Schedule schedule =
      schedule::make_schedule(row("recursive_doubling"), Collective::reduce_scatter, n);
  std::mt19937 random(105);
  for (const auto antipodal : {topology::Antipodal::same_path, topology::Antipodal::balanced}) {
    const topology::Matching plain = topology::switched_matching(n, CircuitState::ring());
    std::vector<std::vector<std::optional<topology::Route>>> matchings;
    std::size_t ring = 0;
    topology::Matching peer(static_cast<std::size_t>(n), topology::kNobody);
    every_matching(peer, [&](const topology::Matching& switched) {
      if (switched == plain) ring = matchings.size();
      const topology::Router router(topology::fixed_matching(n), switched, antipodal);
      auto& routes = matchings.emplace_back();
      for (const schedule::Step& step : schedule.steps)
        routes.push_back(router.route(step.send_to));
    });
    ASSERT_EQ(matchings.size(), 105u);
    for (int round = 0; round < 1000; ++round) {
      Options options = random_options(random);
      options.fabric.antipodal = antipodal;
      options.fabric.base_ring = topology::BaseRing::plain;
      options.restore = Restore::none;
      const double bytes = std::pow(10, static_cast<double>(random() % 8001) / 1000);
      std::vector<double> ns(matchings.size(), kInfinity);  // held after the steps so far
      ns[ring] = 0;
      for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const double change = *std::min_element(ns.begin(), ns.end()) + options.fabric.delta_ns;
        for (std::size_t k = 0; k < matchings.size(); ++k) {
          const auto& route = matchings[k][i];
          ns[k] = !route ? kInfinity
                         : std::min(ns[k], change) +
                               model::step_cost(options.fabric, *route,
                                                schedule.steps[i].share * bytes, false)
                                   .total_ns();
        }
      }
      const double least = *std::min_element(ns.begin(), ns.end());
      const double ours =
          optimal_ns(options, "recursive_doubling", Collective::reduce_scatter, n, bytes);
      ASSERT_NEAR(ours, least, 1e-9 * least) << "round " << round;
    }
  }
}

TEST(StateSearch, NeverWorseThanTheThresholds) {
  int cells = 0;
  int better = 0;
  double most = 1;
  std::string where;
  const double delays[] = {0, 100, 1000, 4000, 10'000, 20'000, 50'000, 100'000, 1e6, 1e7};
  const double hops[] = {10, 50, 100, 200, 500, 1000, 2000, 5000, 10'000, 20'000};
  for (const int ranks : {8, 16, 32, 64, 128, 256, 512, 1024}) {
    for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
      Options options;
      for (const double delta : delays) {
        for (const double alpha_p : hops) {
          options.fabric.delta_ns = delta;
          options.fabric.alpha_p_ns = alpha_p;
          std::vector<std::unique_ptr<RoutedSchedule>> routed;
          std::vector<Candidate> thresholds;
          std::vector<StateSearch> searches;
          for (const schedule::Algorithm& each : schedule::algorithms()) {
            if (!each.cannot(collective, ranks, true).empty()) continue;
            routed.push_back(std::make_unique<RoutedSchedule>(each, collective, ranks,
                                                              options.fabric.antipodal));
            const auto own = candidates(options, *routed.back(), CircuitState::ring());
            thresholds.insert(thresholds.end(), own.begin(), own.end());
            searches.emplace_back(options, *routed.back());
          }
          for (const double bytes : {64.0, 1000.0, 32e3, 100e3, 1e6, 8e6, 64e6}) {
            double by_threshold = kInfinity;
            double optimal = kInfinity;
            for (const Candidate& candidate : thresholds) {
              by_threshold = std::min(by_threshold, candidate.line.at(bytes));
            }
            for (const StateSearch& search : searches) {
              optimal = std::min(optimal, search.at(bytes, CircuitState::ring()).line.at(bytes));
            }
            ++cells;
            ASSERT_LE(optimal, by_threshold * (1 + 1e-12));
            better += optimal < by_threshold * (1 - 1e-9) ? 1 : 0;
            if (by_threshold / optimal > most) {
              most = by_threshold / optimal;
              where = "n=" + std::to_string(ranks) + " " + std::string(to_string(collective)) +
                      " alpha_p=" + std::to_string(alpha_p) + " delta=" + std::to_string(delta) +
                      " bytes=" + std::to_string(bytes);
            }
          }
        }
      }
    }
  }
  std::printf(
      "%d cells: better than the best threshold of any algorithm in %.1f %%, at most "
      "%.2fx (%s)\n",
      cells, 100.0 * better / cells, most, where.c_str());
  EXPECT_GE(cells, 10'000);
  EXPECT_GT(better, 0);
}

TEST(StateSearch, OptionsThatAskForTheThresholdRule) {
  Options options;
  EXPECT_TRUE(searches_states(options));
  const auto without = [&](auto change) {
    Options changed = options;
    change(changed);
    return !searches_states(changed);
  };
  EXPECT_TRUE(without([](Options& o) { o.planner = Planner::threshold; }));
  EXPECT_TRUE(without([](Options& o) { o.threshold = 2; }));
  EXPECT_TRUE(without([](Options& o) { o.rule = Rule::first_feasible; }));
  EXPECT_TRUE(without([](Options& o) { o.accounting = model::Accounting::paper; }));
  EXPECT_TRUE(without([](Options& o) { o.reconfigurable = false; }));
}

TEST(StateSearch, DescribesWhatNoThresholdDescribes) {
  Options options;
  const Selector selector(options, 128);
  const Plan& plan =
      selector.select(Collective::allreduce, Operands::commutative, CircuitState::ring(), 32'000);
  EXPECT_EQ(describe(plan), "recursive_doubling_full optimal (ring x4, subring:4-6 x3)");
  EXPECT_EQ(plan.threshold, -1);
  EXPECT_NEAR(plan.predicted_ns(32'000), 34'000, 1e-6);
  const auto& table =
      selector.table(Collective::allreduce, Operands::commutative, CircuitState::ring());
  EXPECT_EQ(reason(table, plan, 32'000),
            "recursive_doubling_full optimal (ring x4, subring:4-6 x3): 34.0 us against ring's "
            "254.6 us (7.49x), 1 reconfiguration; by thresholds recursive_doubling 81.6 us, "
            "recursive_doubling_full 48.3 us, swing 70.9 us");
  // What thresholds describe is said as ever.
  options.fabric.delta_ns = 1;
  const Selector fast(options, 128);
  EXPECT_EQ(describe(fast.select(Collective::allreduce, Operands::commutative, CircuitState::ring(),
                                 32'000)),
            "recursive_doubling_full T=1");
}

/// The table against the search at ten thousand sizes, for every starting state.
TEST(SelectionTable, EqualsADenseSweep) {
  std::mt19937 random(99);
  std::size_t rows = 0;
  std::size_t starts = 0;
  for (const int ranks : {2, 6, 8, 13, 32, 128}) {
    for (int round = 0; round < 4; ++round) {
      Options options = random_options(random);
      options.restore = round % 2 == 0 ? Restore::lazy : Restore::eager;
      options.min_gain = round == 3 ? 1.2345 : 1.0;
      const Selector selector(options, ranks);
      starts += selector.starts().size();
      using Kind = std::pair<Collective, Operands>;
      for (const auto& [collective, operands] :
           {Kind{Collective::allreduce, Operands::commutative},
            Kind{Collective::allreduce, Operands::exact},
            Kind{Collective::reduce_scatter, Operands::commutative}}) {
        for (const CircuitState start : selector.starts()) {
          const SelectionTable& table = selector.table(collective, operands, start);
          rows += table.rows().size();
          const int points = start == CircuitState::ring() ? 10'000 : 500;
          const auto routed = [&, kind = collective](const schedule::Algorithm& each) {
            return std::make_unique<RoutedSchedule>(each, kind, ranks, options.fabric.antipodal,
                                                    options.fabric.base_ring);
          };
          std::vector<std::unique_ptr<RoutedSchedule>> owned;
          std::vector<StateSearch> searches;
          for (const schedule::Algorithm& each : schedule::algorithms()) {
            if (!each.cannot(collective, ranks, operands).empty()) continue;
            owned.push_back(routed(each));
            searches.emplace_back(options, *owned.back());
          }
          for (int i = 0; i < points; ++i) {
            const double bytes = i == 0 ? 0 : std::pow(10, 12.0 * i / points);
            double least = kInfinity;
            double wanted = 0;
            for (const StateSearch& search : searches) {
              const double ns = search.at(bytes, start).line.at(bytes);
              const bool ring = search.routed().algorithm().name == "ring";
              const double compared = ns * (ring ? 1.0 : options.min_gain);
              if (compared < least) {
                least = compared;
                wanted = ns;
              }
            }
            const Plan& plan = table.lookup(bytes);
            const double ours = plan.predicted_ns(bytes) *
                                (plan.algorithm_name() == "ring" ? 1.0 : options.min_gain);
            ASSERT_NEAR(ours, least, 1e-9 * least)
                << "n=" << ranks << " round " << round << " " << to_string(collective) << " from "
                << to_string(start) << " " << bytes << " B, wanted " << wanted;
          }
        }
      }
    }
  }
  std::printf("%zu rows, %zu starting states\n", rows, starts);
}

}  // namespace
}  // namespace shortcut::planner
