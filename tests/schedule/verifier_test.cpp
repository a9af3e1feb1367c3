#include "schedule/verifier.hpp"

#include <gtest/gtest.h>

namespace shortcut::schedule {
namespace {

constexpr Collective kCollectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                       Collective::allgather};

class EveryAlgorithm : public testing::TestWithParam<std::string_view> {
 protected:
  const Algorithm& row() const { return *find_algorithm(GetParam()).value(); }
};

TEST_P(EveryAlgorithm, IsProvenUpTo64Ranks) {
  for (const Collective collective : kCollectives) {
    if (!row().offers(collective)) continue;
    for (int n = 1; n <= 64; ++n) {
      if (!row().cannot(collective, n, true).empty()) continue;
      const Schedule schedule = make_schedule(row(), collective, n);
      EXPECT_EQ(verify(schedule), "") << row().name << " " << to_string(collective) << " n=" << n;
      if (n == 1) {
        EXPECT_EQ(schedule.step_count(), 0);
      }
    }
  }
}

TEST_P(EveryAlgorithm, HoldsForSampledRankCounts) {
  std::vector<int> counts{65, 96, 100, 127, 128, 129, 255, 256, 257, 384, 511, 512};
  // The programs of some are O(n) a rank.
  const bool long_programs =
      row().name == "ring" || row().name == "ring_both" || row().name == "neighbor_exchange";
  if (row().largest_factor == 3) counts.insert(counts.end(), {81, 108, 243, 432, 729, 2187, 3888});
  if (!long_programs) {
    for (const int n : {1000, 1023, 1024, 1025, 1536, 2047, 2048, 3001, 4095, 4096}) {
      counts.push_back(n);
    }
  }
  for (const Collective collective : kCollectives) {
    for (const int n : counts) {
      if (!row().cannot(collective, n, true).empty()) continue;
      EXPECT_EQ(verify(make_schedule(row(), collective, n)), "")
          << row().name << " " << to_string(collective) << " n=" << n;
    }
  }
}

TEST_P(EveryAlgorithm, IsProvenOnATwistedRing) {
  for (const Collective collective : kCollectives) {
    for (int n = 2; n <= 512; n *= 2) {
      if (!row().cannot(collective, n, true).empty()) continue;
      const Schedule schedule = make_schedule(
          row(), {.collective = collective, .ranks = n, .base = topology::BaseRing::twisted});
      EXPECT_EQ(verify(schedule), "") << row().name << " " << to_string(collective) << " n=" << n;
    }
  }
}

TEST_P(EveryAlgorithm, OutlinesAreSchedulesWithoutPatterns) {
  for (const Collective collective : kCollectives) {
    for (int n = 1; n <= 64; ++n) {
      if (!row().cannot(collective, n, true).empty()) continue;
      const Request request{.collective = collective, .ranks = n, .outline = true};
      const Schedule outline = make_schedule(row(), request);
      const Schedule schedule = make_schedule(row(), collective, n);
      ASSERT_EQ(outline.steps.size(), schedule.steps.size());
      for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        Step step = schedule.steps[i];
        const Step& ours = outline.steps[i];
        EXPECT_EQ(std::tie(ours.share, ours.action, ours.repeat, ours.has_direct, ours.level),
                  std::tie(step.share, step.action, step.repeat, step.has_direct, step.level))
            << row().name << " " << to_string(collective) << " n=" << n;
        if (step.has_direct) {
          EXPECT_EQ(ours.direct, step.direct);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const Algorithm& row : algorithms()) names.push_back(row.name);
                           return names;
                         }()),
                         [](const auto& test) { return std::string(test.param); });

TEST(Registry, RingAndRecursiveDoublingServeEveryRankCount) {
  for (const Collective collective : kCollectives) {
    for (int n = 1; n <= 4096; ++n) {
      EXPECT_EQ(find_algorithm("ring").value()->cannot(collective, n, true), "");
      EXPECT_EQ(find_algorithm("recursive_doubling").value()->cannot(collective, n, false), "");
    }
  }
}

TEST(Registry, KnowsTheRankCounts) {
  const auto cannot = [](std::string_view name, int ranks) {
    return !find_algorithm(name).value()->cannot(Collective::allreduce, ranks, true).empty();
  };
  for (int n = 1; n <= 64; ++n) {
    EXPECT_EQ(cannot("neighbor_exchange", n), n > 1 && n % 2 != 0);
    EXPECT_EQ(cannot("ring_both", n), n == 2);
    EXPECT_EQ(cannot("swing_full", n), !topology::is_power_of_two(n));
    int rest = n;
    while (rest % 2 == 0) rest /= 2;
    while (rest % 3 == 0) rest /= 3;
    EXPECT_EQ(cannot("recursive_multiplying_3", n), rest != 1);
    EXPECT_EQ(cannot("recursive_multiplying_4", n), rest != 1);
    EXPECT_FALSE(cannot("bruck", n));
    EXPECT_FALSE(cannot("binomial", n));
  }
  for (const Algorithm& row : algorithms()) {
    const bool keeps_order = row.cannot(Collective::allreduce, 8, false).empty();
    EXPECT_EQ(keeps_order, !row.commutative_only) << row.name;
  }
}

TEST(Registry, SaysWhatItCannotDo) {
  const Algorithm& swing = *find_algorithm("swing").value();
  EXPECT_NE(swing.cannot(Collective::allreduce, 6, true), "");
  EXPECT_NE(swing.cannot(Collective::allreduce, 8, false), "");
  EXPECT_EQ(swing.cannot(Collective::allgather, 8, false), "");
  const Algorithm& full = *find_algorithm("recursive_doubling_full").value();
  EXPECT_NE(full.cannot(Collective::reduce_scatter, 8, true), "");
  const auto unknown = find_algorithm("rign");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("rign"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("swing"), std::string::npos);
}

TEST(Registry, StepsAndBytesAreWhatTheAlgorithmsPromise) {
  for (const int n : {2, 8, 64}) {
    const int levels = topology::floor_log2(n);
    for (const Algorithm& row : algorithms()) {
      for (const Collective collective : kCollectives) {
        if (!row.cannot(collective, n, true).empty()) continue;
        const int halves = collective == Collective::allreduce ? 2 : 1;
        const Schedule schedule = make_schedule(row, collective, n);
        double bytes = 0;
        for (const Step& step : schedule.steps) bytes += step.share * step.repeat;
        const double share = (n - 1.0) / n;
        int steps = levels;
        if (schedule.blocks == 1) {
          // The full vector in every step; of radix 4, three exchanges for two levels.
          steps = row.name == "binomial"                  ? 2 * levels
                  : row.name == "recursive_multiplying_4" ? levels / 2 * 3 + levels % 2
                                                          : levels;
          EXPECT_EQ(schedule.step_count(), steps) << row.name << " " << n;
          EXPECT_DOUBLE_EQ(bytes, steps) << row.name << " " << n;
          continue;
        }
        if (row.name == "ring") steps = n - 1;
        if (row.name == "neighbor_exchange") steps = n / 2;
        if (row.name == "ring_both") steps = 2 * (n / 2);  // both ways counted
        EXPECT_EQ(schedule.step_count(), halves * steps) << row.name << " " << n;
        EXPECT_NEAR(bytes, halves * share, 1e-12) << row.name << " " << n;
      }
    }
  }
}

// The verifier itself: each of these schedules is wrong in one way.

RankSchedule original(const Schedule& schedule, int rank) {
  return find_algorithm("recursive_doubling").value()->for_rank(schedule, rank);
}

std::string verify_broken(RankSchedule (*for_rank)(const Schedule&, int),
                          void (*change)(Schedule&) = nullptr) {
  Algorithm row = *find_algorithm("recursive_doubling").value();
  row.for_rank = for_rank;
  Schedule schedule = make_schedule(row, Collective::allreduce, 8);
  if (change != nullptr) change(schedule);
  return verify(schedule);
}

TEST(Verifier, SeesWrongSides) {
  const std::string found = verify_broken([](const Schedule& schedule, int rank) {
    RankSchedule program = original(schedule, rank);
    program[1].received_is_left = !program[1].received_is_left;
    return program;
  });
  EXPECT_NE(found.find("rank order"), std::string::npos) << found;
}

TEST(Verifier, SeesJoinedStepsThatAreNot) {
  // Radix 3 sends what was held at the start of a level; step by step it counts twice.
  Algorithm row = *find_algorithm("recursive_multiplying_3").value();
  row.for_rank = [](const Schedule& schedule, int rank) {
    RankSchedule program =
        find_algorithm("recursive_multiplying_3").value()->for_rank(schedule, rank);
    for (RankStep& step : program) step.joined = false;
    return program;
  };
  Schedule schedule = make_schedule(row, Collective::allreduce, 9);
  EXPECT_NE(verify(schedule).find("joined otherwise"), std::string::npos);
  for (Step& step : schedule.steps) step.joined = false;
  EXPECT_NE(verify(schedule).find("twice"), std::string::npos) << verify(schedule);
}

TEST(Verifier, SeesWrongCycles) {
  Schedule schedule =
      make_schedule(*find_algorithm("neighbor_exchange").value(), Collective::allgather, 10);
  ASSERT_EQ(verify(schedule), "");
  schedule.steps.back().repeat = 1;
  EXPECT_NE(verify(schedule), "");
}

TEST(Verifier, SeesRangesThatDiffer) {
  const std::string found = verify_broken([](const Schedule& schedule, int rank) {
    RankSchedule program = original(schedule, rank);
    if (rank == 3) program[2].recv.first ^= 1;
    return program;
  });
  EXPECT_NE(found.find("ranges differ"), std::string::npos) << found;
}

TEST(Verifier, SeesEarlyGathers) {
  const std::string found = verify_broken(
      [](const Schedule& schedule, int rank) {
        RankSchedule program = original(schedule, rank);
        program[2].action = Action::gather;
        return program;
      },
      [](Schedule& schedule) { schedule.steps[2].action = Action::gather; });
  EXPECT_NE(found.find("incomplete"), std::string::npos) << found;
}

TEST(Verifier, SeesDoubleCounting) {
  const std::string found = verify_broken(
      [](const Schedule& schedule, int rank) {
        RankSchedule program = original(schedule, rank);
        program[3].action = Action::reduce;
        return program;
      },
      [](Schedule& schedule) { schedule.steps[3].action = Action::reduce; });
  EXPECT_NE(found.find("twice"), std::string::npos) << found;
}

TEST(Verifier, SeesWrongShares) {
  const std::string found =
      verify_broken(original, [](Schedule& schedule) { schedule.steps[1].share = 0.5; });
  EXPECT_NE(found.find("share"), std::string::npos) << found;
}

TEST(Verifier, SeesMissingSteps) {
  const std::string found = verify_broken(
      [](const Schedule& schedule, int rank) {
        RankSchedule program = original(schedule, rank);
        program.resize(schedule.steps.size());
        return program;
      },
      [](Schedule& schedule) { schedule.steps.pop_back(); });
  EXPECT_NE(found.find("not complete at the end"), std::string::npos) << found;
}

}  // namespace
}  // namespace shortcut::schedule
