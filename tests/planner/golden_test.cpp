// The planner against the golden values of the cost model (tests/data/model-golden.json).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "planner/selector.hpp"

namespace shortcut::planner {
namespace {

using nlohmann::json;
using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

const json& golden() {
  static const json data = [] {
    std::ifstream file(SHORTCUT_TEST_DATA "/model-golden.json");
    return json::parse(file);
  }();
  return data;
}

Options options_of(const json& row) {
  Options options;
  options.fabric.alpha_s_ns = row.at("alpha_s_ns");
  options.fabric.alpha_p_ns = row.at("alpha_p_ns");
  options.fabric.delta_ns = row.at("delta_ns");
  options.fabric.beta_ns_per_byte = 0.01;
  options.fabric.hop_factor = row.value("hop_factor", 1);
  options.restore = Restore::none;
  return options;
}

RoutedSchedule routed(std::string_view algorithm, Collective collective, int ranks) {
  return {*schedule::find_algorithm(algorithm).value(), collective, ranks,
          topology::Antipodal::same_path};
}

double ring_ns(const Options& options, Collective collective, int ranks, double bytes) {
  const RoutedSchedule ring = routed("ring", collective, ranks);
  const auto all = candidates(options, ring, CircuitState::ring());
  EXPECT_EQ(all.size(), 1u);
  return all.front().line.at(bytes);
}

void expect_close(double value, double expected, double relative = 1e-9) {
  EXPECT_NEAR(value, expected, relative * expected);
}

TEST(Golden, Thresholds) {
  ASSERT_FALSE(golden().at("threshold").empty());
  for (const json& row : golden().at("threshold")) {
    SCOPED_TRACE(row.dump());
    Options options = options_of(row);
    options.accounting = model::Accounting::paper;
    options.algorithm = "recursive_doubling";
    const int ranks = row.at("nodes");
    const double bytes = row.at("bytes");
    const double ring = ring_ns(options, Collective::reduce_scatter, ranks, bytes);
    expect_close(ring, row.at("ring_ns"));

    const RoutedSchedule doubling = routed("recursive_doubling", Collective::reduce_scatter, ranks);
    const auto all = candidates(options, doubling, CircuitState::ring());
    ASSERT_EQ(all.size(), row.at("threshold_ns").size());
    for (const Candidate& candidate : all) {
      expect_close(candidate.line.at(bytes),
                   row.at("threshold_ns").at(static_cast<std::size_t>(candidate.threshold)));
    }

    for (const Rule rule : {Rule::best, Rule::first_feasible}) {
      options.rule = rule;
      const Selector selector(options, ranks);
      const Plan& plan = selector.select(Collective::reduce_scatter, Operands::commutative,
                                         CircuitState::ring(), bytes);
      EXPECT_EQ(plan.algorithm_name(), "recursive_doubling");
      EXPECT_EQ(plan.threshold,
                row.at(rule == Rule::best ? "argmin_T" : "first_feasible_T").get<int>());
      if (rule == Rule::best) {
        // The golden value has four digits behind the point.
        EXPECT_NEAR(ring / plan.predicted_ns(bytes), row.at("speedup_argmin"), 0.5001e-4);
      }
    }
  }
}

/// Do the states form a threshold plan: ring below some level, the peer from there on, and the
/// mirror image of such in a second half? Level 0 runs on the fixed links, whatever the switch
/// holds.
bool is_threshold_plan(const std::vector<std::string>& states, int levels) {
  const auto half = [levels](auto begin) {
    for (int limit = 0; limit <= levels; ++limit) {
      bool fits = true;
      for (int level = 1; level < levels; ++level) {
        const std::string wanted = level < limit ? "ring" : "peer:" + std::to_string(level);
        fits &= *(begin + level) == wanted;
      }
      if (fits) return true;
    }
    return false;
  };
  const bool both = static_cast<int>(states.size()) == 2 * levels;
  return half(states.begin()) && (!both || half(states.rbegin()));
}

TEST(Golden, PeerOnlyPlansBoundTheThresholds) {
  int equal = 0;
  for (const json& row : golden().at("subring")) {
    SCOPED_TRACE(row.at("schedule").get<std::string>() + " n=" + row.at("nodes").dump() +
                 " m=" + row.at("bytes").dump());
    const Options options = options_of(row);
    const int ranks = row.at("nodes");
    const double bytes = row.at("bytes");
    const std::string name = row.at("schedule");
    const Collective collective =
        name == "reduce_scatter" ? Collective::reduce_scatter : Collective::allreduce;
    // Printed with three digits behind the point.
    EXPECT_NEAR(ring_ns(options, collective, ranks, bytes), row.at("ring_ns"), 0.5001e-3);

    const RoutedSchedule doubling =
        routed(name == "allreduce_full" ? "recursive_doubling_full" : "recursive_doubling",
               collective, ranks);
    const auto all = candidates(options, doubling, CircuitState::ring());
    const auto cheapest =
        std::min_element(all.begin(), all.end(), [bytes](const auto& left, const auto& right) {
          return left.line.at(bytes) < right.line.at(bytes);
        });
    ASSERT_NE(cheapest, all.end());
    const double ours = cheapest->line.at(bytes);
    const double bound = row.at("peer_only").at("ns");
    EXPECT_GE(ours, bound - 0.5001e-3);
    const std::vector<std::string> states = row.at("peer_only").at("states");
    if (is_threshold_plan(states, topology::floor_log2(ranks))) {
      ++equal;
      EXPECT_NEAR(ours, bound, 0.5001e-3);
    }
  }
  EXPECT_GT(equal, 0);
}

}  // namespace
}  // namespace shortcut::planner
