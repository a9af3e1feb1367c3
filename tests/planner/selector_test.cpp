#include "planner/selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace shortcut::planner {
namespace {

using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

constexpr Collective kCollectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                       Collective::allgather};
constexpr int kRanks[] = {2, 3, 4, 6, 7, 8, 13, 16, 32};
constexpr double kSizes[] = {0,   1,     8,   64,    1000, 4096,  32'000,
                             1e5, 300e3, 1e6, 4.2e6, 33e6, 256e6, 4e9};

Options random_options(std::mt19937& random) {
  std::uniform_real_distribution<double> exponent(1, 5);
  Options options;
  options.fabric.alpha_s_ns = random() % 4 == 0 ? 0 : std::pow(10, exponent(random));
  options.fabric.alpha_p_ns = random() % 4 == 0 ? 0 : std::pow(10, exponent(random) - 1);
  options.fabric.delta_ns = random() % 4 == 0 ? 0 : std::pow(10, exponent(random) + 1);
  options.fabric.beta_ns_per_byte = std::pow(10, -exponent(random) / 2);
  options.fabric.hop_factor = 1 + static_cast<int>(random() % 2);
  options.fabric.antipodal =
      random() % 2 == 0 ? topology::Antipodal::same_path : topology::Antipodal::balanced;
  options.accounting = random() % 4 == 0 ? model::Accounting::paper : model::Accounting::exact;
  return options;
}

std::vector<double> probes(const SelectionTable& table) {
  std::vector<double> sizes(std::begin(kSizes), std::end(kSizes));
  for (const TableRow& row : table.rows()) {
    sizes.push_back(row.from_bytes * (1 - 1e-6));
    sizes.push_back(row.from_bytes * (1 + 1e-6));
  }
  return sizes;
}

void expect_table_is_choice(const Selector& selector, Collective collective, Operands operands,
                            CircuitState start) {
  const SelectionTable& table = selector.table(collective, operands, start);
  ASSERT_FALSE(table.rows().empty());
  EXPECT_EQ(table.rows().front().from_bytes, 0);
  for (std::size_t i = 1; i < table.rows().size(); ++i) {
    EXPECT_GT(table.rows()[i].from_bytes, table.rows()[i - 1].from_bytes);
  }
  for (const double bytes : probes(table)) {
    const auto all = selector.all_candidates(collective, operands, start, bytes);
    const Plan& plan = table.lookup(bytes);
    const int chosen = selector.choose(all, bytes);
    ASSERT_GE(chosen, 0);
    const Candidate& best = all[static_cast<std::size_t>(chosen)];
    // Plans of equal price may differ in form: what is compared is the price, and whether it is
    // Ring.
    const double expected = best.line.at(bytes);
    EXPECT_NEAR(plan.predicted_ns(bytes), expected, 1e-9 * expected)
        << bytes << " B: table " << describe(plan) << ", choice "
        << describe(expand(selector.options(), best, start));
    EXPECT_EQ(plan.start, start);
    double sum = 0;
    int reconfigurations = plan.restores ? 1 : 0;
    for (const PlannedStep& step : plan.steps) {
      if (step.at_once) continue;
      sum += step.repeat *
             model::step_cost(selector.options().fabric, step.route, step.share * bytes, false)
                 .total_ns();
      reconfigurations += step.reconfigured ? 1 : 0;
    }
    sum += reconfigurations * selector.options().fabric.delta_ns;
    EXPECT_NEAR(sum, plan.predicted_ns(bytes), 1e-9 * sum);
    EXPECT_EQ(reconfigurations, plan.reconfigurations);
  }
}

class TableTest : public testing::TestWithParam<Rule> {};

TEST_P(TableTest, EqualsTheChoiceAtEverySize) {
  std::mt19937 random(2026);
  for (const int ranks : kRanks) {
    for (int round = 0; round < 8; ++round) {
      Options options = random_options(random);
      options.rule = GetParam();
      options.restore = static_cast<Restore>(round % 3);
      options.all_ports = round % 3 == 1;
      options.min_gain = round % 4 == 3 ? 1.4567 : 1.0;  // no ratio of hop counts: no ties
      SCOPED_TRACE("n=" + std::to_string(ranks) + " round " + std::to_string(round));
      const Selector selector(options, ranks);
      for (const Collective collective : kCollectives) {
        for (const Operands operands :
             {Operands::in_order, Operands::commutative, Operands::exact}) {
          for (const CircuitState start : selector.starts()) {
            SCOPED_TRACE(std::string(to_string(collective)) + " operands " +
                         std::to_string(static_cast<int>(operands)) + " from " + to_string(start));
            expect_table_is_choice(selector, collective, operands, start);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, TableTest, testing::Values(Rule::best, Rule::first_feasible),
                         [](const auto& test) {
                           return test.param == Rule::best ? "best" : "first_feasible";
                         });

TEST(Selector, BestIsTheCheapestOfAll) {
  std::mt19937 random(5);
  for (const int ranks : kRanks) {
    const Selector selector(random_options(random), ranks);
    for (const Collective collective : kCollectives) {
      for (const double bytes : kSizes) {
        const auto all =
            selector.all_candidates(collective, Operands::commutative, CircuitState::ring(), bytes);
        double least = INFINITY;
        for (const Candidate& candidate : all) least = std::min(least, candidate.line.at(bytes));
        const Plan& plan =
            selector.select(collective, Operands::commutative, CircuitState::ring(), bytes);
        EXPECT_NEAR(plan.predicted_ns(bytes), least, 1e-9 * least);
      }
    }
  }
}

TEST(Selector, FirstFeasibleIsTheSmallestThresholdOfTheCheapestAlgorithm) {
  std::mt19937 random(6);
  for (const int ranks : kRanks) {
    for (int round = 0; round < 10; ++round) {
      Options options = random_options(random);
      options.rule = Rule::first_feasible;
      const Selector selector(options, ranks);
      for (const Collective collective : kCollectives) {
        for (const double bytes : kSizes) {
          const auto all = selector.all_candidates(collective, Operands::commutative,
                                                   CircuitState::ring(), bytes);
          double ring = 0;
          std::vector<const Candidate*> smallest;  // per algorithm
          for (const Candidate& candidate : all) {
            if (candidate.routed->algorithm().name == "ring") ring = candidate.line.at(bytes);
          }
          for (const Candidate& candidate : all) {
            if (candidate.line.at(bytes) > ring) continue;
            auto same = std::find_if(smallest.begin(), smallest.end(), [&](const auto* other) {
              return other->routed == candidate.routed;
            });
            if (same == smallest.end()) {
              smallest.push_back(&candidate);
            } else if (candidate.threshold < (*same)->threshold) {
              *same = &candidate;
            }
          }
          double least = INFINITY;
          for (const Candidate* candidate : smallest) {
            least = std::min(least, candidate->line.at(bytes));
          }
          const int chosen = selector.choose(all, bytes);
          EXPECT_NEAR(all[static_cast<std::size_t>(chosen)].line.at(bytes), least, 1e-9 * least)
              << "n=" << ranks << " " << to_string(collective) << " " << bytes << " B";
        }
      }
    }
  }
}

TEST(Selector, KeepsRingUnlessTheGainExceedsTheMinimum) {
  std::mt19937 random(8);
  int rings = 0;
  int others = 0;
  for (const int ranks : kRanks) {
    for (int round = 0; round < 6; ++round) {
      Options options = random_options(random);
      options.min_gain = 1.5;
      const Selector selector(options, ranks);
      for (const Collective collective : kCollectives) {
        const SelectionTable& table =
            selector.table(collective, Operands::commutative, CircuitState::ring());
        ASSERT_TRUE(table.has_ring());
        for (const double bytes : probes(table)) {
          const auto all = selector.all_candidates(collective, Operands::commutative,
                                                   CircuitState::ring(), bytes);
          double least = INFINITY;
          for (const Candidate& candidate : all) least = std::min(least, candidate.line.at(bytes));
          if (least == 0) continue;  // nothing costs anything
          const double gain = table.ring().at(bytes) / least;
          if (std::abs(gain - 1.5) < 1e-9) continue;
          const bool ring = table.lookup(bytes).algorithm_name() == "ring";
          EXPECT_EQ(ring, gain < 1.5) << "n=" << ranks << " " << bytes << " B, gain " << gain;
          (ring ? rings : others) += 1;
        }
      }
    }
  }
  EXPECT_GT(rings, 0);
  EXPECT_GT(others, 0);
}

TEST(Selector, EagerRestoreChargesOneDelta) {
  std::mt19937 random(9);
  for (const int ranks : {4, 6, 8, 32}) {
    Options none = random_options(random);
    none.fabric.delta_ns = 5000;
    none.restore = Restore::none;
    Options eager = none;
    eager.restore = Restore::eager;
    int restored = 0;
    for (const Collective collective : kCollectives) {
      const RoutedSchedule routed(*schedule::find_algorithm("recursive_doubling").value(),
                                  collective, ranks, none.fabric.antipodal);
      const auto without = candidates(none, routed, CircuitState::ring());
      const auto with = candidates(eager, routed, CircuitState::ring());
      ASSERT_EQ(without.size(), with.size());
      for (std::size_t i = 0; i < with.size(); ++i) {
        const bool away = without[i].end != CircuitState::ring();
        restored += away ? 1 : 0;
        EXPECT_EQ(with[i].end, CircuitState::ring());
        EXPECT_NEAR(with[i].line.fixed_ns, without[i].line.fixed_ns + (away ? 5000 : 0), 1e-6);
        EXPECT_EQ(with[i].reconfigurations, without[i].reconfigurations + (away ? 1 : 0));
        EXPECT_EQ(expand(eager, with[i], CircuitState::ring()).restores, away);
      }
    }
    EXPECT_GT(restored, 0);
    EXPECT_EQ(Selector(none, ranks).starts().size(), 1u);
    EXPECT_EQ(Selector(eager, ranks).starts().size(), 1u);
  }
}

TEST(Selector, LazyRestoreHasTablesForEveryStateThatPlansLeave) {
  std::mt19937 random(10);
  std::size_t most = 0;
  for (const int ranks : kRanks) {
    for (int round = 0; round < 5; ++round) {
      Options options = random_options(random);
      options.accounting = model::Accounting::exact;
      options.restore = Restore::lazy;
      const Selector selector(options, ranks);
      const auto& starts = selector.starts();
      most = std::max(most, starts.size());
      for (const CircuitState start : starts) {
        for (const Collective collective : kCollectives) {
          for (const Operands operands :
               {Operands::in_order, Operands::commutative, Operands::exact}) {
            for (const TableRow& row : selector.table(collective, operands, start).rows()) {
              EXPECT_NE(std::find(starts.begin(), starts.end(), row.plan.end), starts.end());
            }
            for (const double bytes : kSizes) {
              const double here =
                  selector.select(collective, operands, start, bytes).predicted_ns(bytes);
              const double ring = selector.select(collective, operands, CircuitState::ring(), bytes)
                                      .predicted_ns(bytes);
              EXPECT_LE(here, (ring + options.fabric.delta_ns) * (1 + 1e-9))
                  << "n=" << ranks << " from " << to_string(start) << " " << bytes << " B";
            }
          }
        }
      }
    }
  }
  EXPECT_GT(most, 1u);
}

TEST(Selector, NonCommutativeReductionsKeepRankOrder) {
  std::mt19937 random(12);
  for (const int ranks : kRanks) {
    const Selector selector(random_options(random), ranks);
    for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
      const SelectionTable& table =
          selector.table(collective, Operands::in_order, CircuitState::ring());
      EXPECT_FALSE(table.has_ring());
      for (const TableRow& row : table.rows()) {
        ASSERT_FALSE(row.plan.native());
        EXPECT_FALSE(row.plan.algorithm().commutative_only) << row.plan.algorithm_name();
      }
    }
    EXPECT_TRUE(
        selector.table(Collective::allgather, Operands::in_order, CircuitState::ring()).has_ring());
  }
}

TEST(Selector, OrdinaryClustersGetStaticPlansOnly) {
  std::mt19937 random(13);
  for (const int ranks : kRanks) {
    Options options = random_options(random);
    options.reconfigurable = false;
    options.fabric.delta_ns = 0;  // would tempt
    const Selector selector(options, ranks);
    EXPECT_EQ(selector.starts(), std::vector<CircuitState>{CircuitState::ring()});
    for (const Collective collective : kCollectives) {
      for (const Operands operands : {Operands::in_order, Operands::commutative, Operands::exact}) {
        for (const TableRow& row :
             selector.table(collective, operands, CircuitState::ring()).rows()) {
          EXPECT_EQ(row.plan.reconfigurations, 0);
          for (const PlannedStep& step : row.plan.steps) {
            EXPECT_EQ(step.state, CircuitState::ring());
            EXPECT_FALSE(step.reconfigured);
          }
        }
      }
    }
  }
}

TEST(Selector, ASingleRankIsLeftToTheMpiLibrary) {
  const Selector selector(Options{}, 1);
  for (const Collective collective : kCollectives) {
    const Plan& plan =
        selector.select(collective, Operands::commutative, CircuitState::ring(), 1000);
    EXPECT_TRUE(plan.native());
    EXPECT_EQ(plan.algorithm_name(), "native");
  }
}

TEST(Selector, TakesAForcedAlgorithm) {
  std::mt19937 random(14);
  for (const Rule rule : {Rule::best, Rule::first_feasible}) {
    for (const schedule::Algorithm& row : schedule::algorithms()) {
      for (const int ranks : kRanks) {
        Options options = random_options(random);
        options.rule = rule;
        options.min_gain = 1e6;
        options.algorithm = row.name;
        options.all_ports = row.all_ports_only;
        const Selector selector(options, ranks);
        for (const Collective collective : kCollectives) {
          const bool serves = row.cannot(collective, ranks, true).empty();
          const SelectionTable& table =
              selector.table(collective, Operands::exact, CircuitState::ring());
          for (const double bytes : kSizes) {
            EXPECT_EQ(table.lookup(bytes).algorithm_name(), serves ? row.name : "ring")
                << "n=" << ranks << " " << to_string(collective) << " " << bytes << " B";
          }
        }
      }
    }
  }
}

TEST(Selector, TakesAForcedThreshold) {
  Options options;
  options.algorithm = "recursive_doubling";
  for (int threshold = 0; threshold <= 7; ++threshold) {
    options.threshold = threshold;
    const Selector selector(options, 32);
    const Plan& plan =
        selector.select(Collective::allreduce, Operands::commutative, CircuitState::ring(), 1e6);
    EXPECT_EQ(plan.threshold, std::min(threshold, 5));
    EXPECT_EQ(plan.threshold_gather, std::min(threshold, 5));
  }
}

std::string reason_for(const Options& options, int ranks, Collective collective, double bytes,
                       Operands operands = Operands::commutative) {
  const Selector selector(options, ranks);
  const SelectionTable& table = selector.table(collective, operands, CircuitState::ring());
  return reason(table, table.lookup(bytes), bytes);
}

TEST(Reason, SaysWhatWasAskedFor) {
  Options options;
  options.reconfigurable = false;
  options.algorithm = "ring";
  EXPECT_EQ(reason_for(options, 8, Collective::allreduce, 8), "ring: asked for; 14.0 us");
  options.algorithm = "recursive_doubling";
  EXPECT_EQ(reason_for(options, 8, Collective::allreduce, 8),
            "recursive_doubling static: asked for; 10.0 us against ring's 14.0 us (1.40x), "
            "0 reconfigurations");
  EXPECT_EQ(reason_for(options, 8, Collective::allreduce, 8, Operands::in_order),
            "recursive_doubling static: asked for; 10.0 us; ring cannot serve this operation");
  // Dearer than ring, and taken all the same: nothing about min_gain.
  EXPECT_EQ(reason_for(options, 8, Collective::allreduce, 1e8).find("min_gain"), std::string::npos);
}

TEST(Reason, SaysWhyWhatWasAskedForCannotServe) {
  Options options;
  options.reconfigurable = false;
  options.algorithm = "swing";
  EXPECT_EQ(reason_for(options, 7, Collective::allreduce, 1e9),
            "swing was asked for but needs a power of two of ranks; ring: nothing else is "
            "predicted below its 17.2 ms");
  options.algorithm = "ring";
  EXPECT_EQ(reason_for(options, 4, Collective::allreduce, 8, Operands::in_order),
            "ring was asked for but needs a commutative operation; recursive_doubling_full static: "
            "2.5 us; ring cannot serve this operation");
}

TEST(Reason, SaysWhenMinGainDecides) {
  Options options;
  options.reconfigurable = false;
  options.min_gain = 100;
  EXPECT_EQ(reason_for(options, 8, Collective::allreduce, 8),
            "ring: nothing else gains min_gain 100 over its 14.0 us");
  options.min_gain = 1;
  options.threshold = 2;
  EXPECT_EQ(reason_for(options, 7, Collective::allreduce, 1e9),
            "ring: nothing else with threshold 2 is predicted below its 17.2 ms");
  options.threshold = -1;
  options.min_gain = 1e-3;
  EXPECT_NE(reason_for(options, 7, Collective::allreduce, 1e9).find("; min_gain 0.001 allows it"),
            std::string::npos);
}

TEST(CheckOptions, NamesTheFieldAndTheValue) {
  Options options;
  EXPECT_TRUE(check_options(options).ok());
  options.algorithm = "rign";
  ASSERT_FALSE(check_options(options).ok());
  EXPECT_NE(check_options(options).error().message.find("rign"), std::string::npos);
  options = {};
  options.min_gain = 0;
  ASSERT_FALSE(check_options(options).ok());
  EXPECT_NE(check_options(options).error().message.find("min_gain"), std::string::npos);
}

}  // namespace
}  // namespace shortcut::planner
