#include "model/cost.hpp"

#include <gtest/gtest.h>

#include <random>

namespace shortcut::model {
namespace {

TEST(StepCost, HasTheFourTermsOfEquation1) {
  FabricParameters fabric;
  fabric.alpha_s_ns = 300;
  fabric.alpha_p_ns = 70;
  fabric.beta_ns_per_byte = 0.02;
  fabric.delta_ns = 9000;
  const Breakdown cost = step_cost(fabric, {5, 3}, 1000, true);
  EXPECT_DOUBLE_EQ(cost.startup_ns, 300);
  EXPECT_DOUBLE_EQ(cost.propagation_ns, 350);
  EXPECT_DOUBLE_EQ(cost.transmission_ns, 60);
  EXPECT_DOUBLE_EQ(cost.reconfiguration_ns, 9000);
  EXPECT_DOUBLE_EQ(cost.total_ns(), 9710);
  EXPECT_DOUBLE_EQ(step_cost(fabric, {5, 3}, 1000, false).total_ns(), 710);
}

TEST(StepCost, HopFactorCountsPropagationTwice) {
  FabricParameters fabric;
  fabric.hop_factor = 2;
  const Breakdown cost = step_cost(fabric, {4, 1}, 0, false);
  EXPECT_DOUBLE_EQ(cost.propagation_ns, 4000);
  EXPECT_DOUBLE_EQ(cost.startup_ns, 500);
  EXPECT_DOUBLE_EQ(cost.transmission_ns, 0);
}

TEST(StepLine, EqualsTheDirectPrice) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> time(0, 20'000);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 1000; ++round) {
    FabricParameters fabric;
    fabric.alpha_s_ns = time(random);
    fabric.alpha_p_ns = time(random);
    fabric.beta_ns_per_byte = unit(random) + 1e-4;
    fabric.delta_ns = time(random);
    fabric.hop_factor = 1 + round % 2;
    const topology::Route route{static_cast<int>(random() % 64), static_cast<int>(random() % 64)};
    const double share = unit(random);
    const double bytes = 1e8 * unit(random);
    const bool reconfigured = round % 3 == 0;
    const double direct = step_cost(fabric, route, share * bytes, reconfigured).total_ns();
    const double line = step_line(fabric, route, share, reconfigured).at(bytes);
    EXPECT_NEAR(line, direct, 1e-9 * direct);
  }
}

TEST(Line, AddsAndScales) {
  Line line{10, 2};
  line += Line{5, 1};
  EXPECT_DOUBLE_EQ(line.at(4), 27);
  EXPECT_DOUBLE_EQ(line.scaled(2).at(4), 54);
}

}  // namespace
}  // namespace shortcut::model
