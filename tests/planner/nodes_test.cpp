#include "planner/nodes.hpp"

#include <gtest/gtest.h>

namespace shortcut::planner {
namespace {

using schedule::Collective;

// 4 ranks on each of 8 nodes: two rounds of 300 ns and 0.04 ns a byte.
constexpr NodeParameters kNodes{4, 8, 300, 0.04};

TEST(Nodes, TreesTakeLogarithmicallyManyMessages) {
  EXPECT_DOUBLE_EQ(on_node_before(kNodes, Collective::allreduce).at(1000), 2 * (300 + 40));
  EXPECT_DOUBLE_EQ(on_node_after(kNodes, Collective::allreduce).at(1000), 2 * (300 + 40));
  EXPECT_DOUBLE_EQ(on_node_before({5, 8, 300, 0.04}, Collective::allreduce).at(0), 3 * 300);
  EXPECT_DOUBLE_EQ(on_node_before({1, 8, 300, 0.04}, Collective::allreduce).at(1000), 0);
}

TEST(Nodes, PartsAreTheNodesOwn) {
  // Three quarters of an eighth of the message.
  const double part = 600 + 0.75 / 8 * 800 * 0.04;
  EXPECT_DOUBLE_EQ(on_node_after(kNodes, Collective::reduce_scatter).at(800), part);
  EXPECT_DOUBLE_EQ(on_node_before(kNodes, Collective::allgather).at(800), part);
  EXPECT_DOUBLE_EQ(on_node_before(kNodes, Collective::reduce_scatter).at(800), 2 * (300 + 32));
  EXPECT_DOUBLE_EQ(on_node_after(kNodes, Collective::allgather).at(800), 2 * (300 + 32));
}

}  // namespace
}  // namespace shortcut::planner
