#include "topology/torus.hpp"

#include <gtest/gtest.h>

namespace shortcut::topology {
namespace {

TEST(TorusTest, IdsAndCoordinatesAreInverse) {
  for (const std::vector<int>& dims :
       {std::vector<int>{16}, {4, 4}, {8, 4}, {6, 4}, {3, 3, 3}, {2, 2, 2, 2}, {5, 1, 2}}) {
    const Torus torus(dims);
    for (int id = 0; id < torus.nodes(); ++id) EXPECT_EQ(torus.id(torus.coordinates(id)), id);
  }
}

TEST(TorusTest, FixedMatchingIsEquation14) {
  const Torus torus({8, 4, 2});
  for (int k = 0; k < torus.dimensions(); ++k) {
    const Matching fixed = torus.fixed_matching(k);
    const int g = torus.multiplier(k);
    for (int id = 0; id < torus.nodes(); ++id) {
      const int want = id % (2 * g) < g ? id + g : id - g;
      EXPECT_EQ(fixed[static_cast<std::size_t>(id)], want) << "dimension " << k << " id " << id;
    }
  }
}

TEST(TorusTest, FixedLinksFormHypercubesAndTheSwitchedJoinThemToATorus) {
  const Torus torus({4, 6});
  for (int k = 0; k < 2; ++k) {
    const Matching switched = torus.switched_matching(k, CircuitState::ring());
    for (int id = 0; id < torus.nodes(); ++id) {
      const int x = torus.coordinate(id, k);
      const int d = torus.size(k);
      const int other = x % 2 == 1 ? (x + 1) % d : (x + d - 1) % d;
      EXPECT_EQ(switched[static_cast<std::size_t>(id)], torus.with_coordinate(id, k, other));
    }
  }
}

TEST(TorusTest, DimsAreReadAndRefused) {
  EXPECT_EQ(parse_dims("16x8").value(), (std::vector<int>{16, 8}));
  EXPECT_EQ(parse_dims("4x4x4", 64).value(), (std::vector<int>{4, 4, 4}));
  for (const char* wrong : {"", "x", "4x", "4x0", "-4", "4y4", "4x4 ", "99999x99999"}) {
    const auto read = parse_dims(wrong);
    ASSERT_FALSE(read.ok()) << wrong;
    EXPECT_NE(read.error().message.find(std::string("'") + wrong + "'"), std::string::npos);
  }
  EXPECT_EQ(parse_dims("4x4", 15).error().message, "dimensions '4x4' make 16 endpoints, not 15");
}

TEST(TorusTest, BalancedDims) {
  EXPECT_EQ(balanced_dims(64, 2), (std::vector<int>{8, 8}));
  EXPECT_EQ(balanced_dims(64, 3), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(balanced_dims(24, 2), (std::vector<int>{6, 4}));
  EXPECT_EQ(balanced_dims(7, 3), (std::vector<int>{7}));
  EXPECT_EQ(balanced_dims(1, 2), (std::vector<int>{1}));
}

TEST(TorusTest, SwitchCountsOfSectionVB) {
  // Equal sizes d = n^(1/D): 2 D n^((D-1)/D) switches of radix d / 2.
  for (const std::vector<int>& dims : {std::vector<int>{16, 16}, {8, 8, 8}, {4, 4, 4, 4}}) {
    const Torus torus(dims);
    int switches = 0;
    for (int k = 0; k < torus.dimensions(); ++k) {
      const SwitchCount count = count_switches(torus, k, 1, true).value();
      EXPECT_EQ(count.radix, dims[0] / 2);
      switches += count.switches;
    }
    EXPECT_EQ(switches, 2 * torus.dimensions() * torus.nodes() / dims[0]);
  }
  const Torus torus({16, 16});
  EXPECT_EQ(count_switches(torus, 0, 4, true).value().switches, 8);
  EXPECT_EQ(count_switches(torus, 0, 4, true).value().radix, 32);
  EXPECT_FALSE(count_switches(torus, 0, 3, true).ok());
  EXPECT_FALSE(count_switches(Torus({3, 3}), 0, 1, true).ok());
  // The last endpoint of an odd ring has both ports on the switch.
  EXPECT_EQ(count_switches(Torus({3, 3}), 0, 3, false).value().radix, 12);
  EXPECT_EQ(count_switches(Torus({4, 3}), 0, 3, false).value().radix, 12);
}

TEST(TorusTest, WhichStatesParityClassesHold) {
  EXPECT_FALSE(fits_parity(switched_matching(16, CircuitState::ring())));
  for (int i = 1; i < 4; ++i)
    EXPECT_TRUE(fits_parity(switched_matching(16, CircuitState::peer(i))));
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(fits_parity(switched_matching(16, CircuitState::swing(i))));
}

}  // namespace
}  // namespace shortcut::topology
