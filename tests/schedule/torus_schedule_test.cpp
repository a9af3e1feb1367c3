// Collectives on whole tori, on symbols: every order of dimensions, every algorithm, one lane or
// one per dimension, dimensions that scatter or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "schedule/torus.hpp"
#include "verifier.hpp"

namespace shortcut::schedule {
namespace {

constexpr Collective kCollectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                       Collective::allgather};

std::string text_of(const TorusRequest& request) {
  std::string text = std::string(to_string(request.collective)) + " on ";
  text += topology::format_dims(request.dims);
  for (const TorusLane& lane : request.lanes) {
    text += " [";
    for (const TorusPart& part : lane) {
      text += " " + std::to_string(part.dimension) + ":" + std::string(part.algorithm->name) +
              (part.scatters ? "" : "!");
    }
    text += " ]";
  }
  return text;
}

/// Any algorithm that can do the part.
const Algorithm* pick(std::mt19937& random, Collective collective, int size, bool scatters,
                      bool commutative) {
  std::vector<const Algorithm*> able;
  for (const Algorithm& row : algorithms()) {
    if (!row.cannot(collective, size, commutative).empty()) continue;
    if (collective == Collective::allreduce && scatters && !can_scatter(row, size)) continue;
    able.push_back(&row);
  }
  return able.empty() ? nullptr : able[random() % able.size()];
}

/// A request with random parts; lanes rotate the first one's order.
TorusRequest random_request(std::mt19937& random, Collective collective, std::vector<int> dims,
                            bool all_lanes) {
  TorusRequest request{.collective = collective, .dims = std::move(dims)};
  std::vector<int> order(request.dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t lane = 0; lane < (all_lanes ? order.size() : 1); ++lane) {
    TorusLane& parts = request.lanes.emplace_back();
    for (const int dimension : order) {
      const bool last = parts.size() + 1 == order.size();
      const bool scatters = collective != Collective::allreduce || (!last && random() % 4 != 0);
      const int size = request.dims[static_cast<std::size_t>(dimension)];
      parts.push_back({dimension, pick(random, collective, size, scatters, true), scatters});
    }
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  return request;
}

/// Steps that run at once: no rank sends twice, or receives twice, through one port, which is a
/// dimension and a direction (the shorter way round). A dimension of two has two links to one peer.
void expect_ports_apart(const Schedule& schedule, const topology::Torus& torus,
                        const std::string& what) {
  for (std::size_t first = 0; first < schedule.steps.size();) {
    std::map<std::tuple<int, int, int, bool>, int> uses;  // rank, dimension, direction, sends
    std::size_t end = first;
    do {
      const Step& step = schedule.steps[end];
      const int size = torus.size(step.dimension);
      for (int u = 0; u < torus.nodes(); ++u) {
        const int v = step.send_to[static_cast<std::size_t>(u)];
        if (v < 0) continue;
        const int ahead = torus.coordinate(v, step.dimension) - torus.coordinate(u, step.dimension);
        const int hops = (ahead + size) % size;
        ASSERT_TRUE(size == 2 || 2 * hops != size) << what << ": half-way round";
        const int way = size == 2 ? 0 : 2 * hops < size ? 1 : -1;
        ++uses[{u, step.dimension, way, true}];
        ++uses[{v, step.dimension, way, false}];
      }
    } while (++end < schedule.steps.size() && schedule.steps[end].joined);
    for (const auto& [port, count] : uses) {
      ASSERT_LE(count, std::get<2>(port) == 0 ? 2 : 1) << what << " step " << first;
    }
    first = end;
  }
}

TEST(TorusSchedule, IsProven) {
  std::mt19937 random(20261201);
  const std::vector<std::vector<int>> tori{{8},       {4, 4},    {8, 4},       {2, 8},
                                           {6, 4},    {3, 5},    {3, 3, 3},    {4, 2, 6},
                                           {4, 4, 4}, {2, 3, 4}, {2, 2, 2, 2}, {2, 3, 2, 3}};
  for (const auto& dims : tori) {
    for (const Collective collective : kCollectives) {
      for (const bool all_lanes : {false, true}) {
        for (int i = 0; i < 12; ++i) {
          const TorusRequest request = random_request(random, collective, dims, all_lanes);
          const Schedule schedule = make_torus_schedule(request).schedule;
          ASSERT_EQ(verify(schedule), "") << text_of(request);
        }
      }
    }
  }
}

/// Every lane with its mirrored twin: the same collective, and no port is used twice at once.
TEST(TorusSchedule, MirroredTwinsAreProvenAndUseTheOtherPorts) {
  const Algorithm* swing = find_algorithm("swing").value();
  const Algorithm* ring = find_algorithm("ring").value();
  for (const std::vector<int>& dims :
       {std::vector<int>{8}, {4, 4}, {16, 8}, {8, 4}, {4, 4, 4}, {8, 2}, {2, 2, 2, 2}}) {
    for (const Collective collective : kCollectives) {
      for (const Algorithm* algorithm : {swing, ring}) {
        TorusRequest request{.collective = collective, .dims = dims, .lanes = {}, .twins = true};
        const std::size_t count = dims.size();
        for (std::size_t lane = 0; lane < count; ++lane) {
          TorusLane& own = request.lanes.emplace_back();
          for (std::size_t k = 0; k < count; ++k) {
            own.push_back({static_cast<int>((lane + k) % count), algorithm, true});
          }
        }
        const Schedule schedule = make_torus_schedule(request).schedule;
        ASSERT_EQ(verify(schedule), "") << text_of(request);
        expect_ports_apart(schedule, topology::Torus(dims), text_of(request));
      }
    }
  }
}

TEST(TorusSchedule, EveryAlgorithmServesADimension) {
  std::set<std::string_view> seen;
  for (const std::vector<int>& dims :
       {std::vector<int>{4, 4}, {6, 4}, {9, 3}, {5, 8}, {2, 2, 2, 2}}) {
    for (const Collective collective : kCollectives) {
      for (const Algorithm& row : algorithms()) {
        TorusRequest request{.collective = collective, .dims = dims};
        TorusLane& lane = request.lanes.emplace_back();
        bool able = true;
        for (int k = static_cast<int>(dims.size()); k-- > 0;) {
          const int size = dims[static_cast<std::size_t>(k)];
          able &= row.cannot(collective, size, true).empty();
          const bool scatters = collective != Collective::allreduce || can_scatter(row, size);
          lane.push_back({k, &row, scatters});
        }
        if (!able) continue;
        seen.insert(row.name);
        EXPECT_EQ(verify(make_torus_schedule(request).schedule), "") << text_of(request);
      }
    }
  }
  EXPECT_EQ(seen.size(), algorithms().size());
}

TEST(TorusSchedule, KeepsRankOrder) {
  std::mt19937 random(7);
  for (const std::vector<int>& dims : {std::vector<int>{4, 4}, {6, 4}, {3, 3, 3}, {2, 2, 2, 2}}) {
    for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
      TorusRequest request{.collective = collective, .dims = dims};
      TorusLane& lane = request.lanes.emplace_back();
      for (int k = 0; k < static_cast<int>(dims.size()); ++k) {
        const int size = dims[static_cast<std::size_t>(k)];
        const bool last = k + 1 == static_cast<int>(dims.size());
        bool scatters = collective == Collective::reduce_scatter || !last;
        const Algorithm* row = pick(random, collective, size, scatters, false);
        if (row == nullptr) {  // no halves that keep the order: all of it at once
          scatters = false;
          row = pick(random, collective, size, scatters, false);
        }
        ASSERT_NE(row, nullptr);
        lane.push_back({k, row, scatters});
      }
      const Schedule schedule = make_torus_schedule(request).schedule;
      EXPECT_FALSE(schedule.algorithm->commutative_only);
      EXPECT_EQ(verify(schedule), "") << text_of(request);
      std::swap(lane.front(), lane.back());
      EXPECT_TRUE(make_torus_schedule(request).schedule.algorithm->commutative_only);
    }
  }
}

/// What runs at once in different lanes runs in different dimensions, so in different ports.
TEST(TorusSchedule, LanesNeverShareAPort) {
  std::mt19937 random(3);
  for (const std::vector<int>& dims : {std::vector<int>{4, 4}, {16, 8}, {6, 4}, {2, 3, 4}}) {
    for (const Collective collective : kCollectives) {
      const TorusRequest request = random_request(random, collective, dims, true);
      const Schedule schedule = make_torus_schedule(request).schedule;
      int dimension_of[8][8] = {};
      for (auto& phase : dimension_of) std::fill(std::begin(phase), std::end(phase), -1);
      for (const Step& step : schedule.steps) {
        int& dimension = dimension_of[step.phase][step.lane];
        EXPECT_TRUE(dimension < 0 || dimension == step.dimension);
        dimension = step.dimension;
      }
      for (const auto& phase : dimension_of) {
        std::set<int> used;
        for (std::size_t lane = 0; lane < request.lanes.size(); ++lane) {
          if (phase[lane] < 0) continue;
          EXPECT_TRUE(used.insert(phase[lane]).second) << text_of(request);
        }
      }
    }
  }
}

}  // namespace
}  // namespace shortcut::schedule
