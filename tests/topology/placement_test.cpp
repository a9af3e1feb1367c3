#include "topology/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shortcut::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Placement, ExpressionsAreReadAndRefused) {
  EXPECT_EQ(parse_map("rank").value().kind, MapExpression::Kind::rank);
  EXPECT_EQ(parse_map("auto").value().kind, MapExpression::Kind::nodes);
  EXPECT_THAT(parse_map("axes:1,0").value().axes, ElementsAre(1, 0));
  EXPECT_EQ(parse_map("file:/a/b").value().path, "/a/b");
  for (const char* wrong : {"", "ranks", "axes:", "axes:1,,0", "axes:1,-1", "axes:x", "file:"}) {
    const auto found = parse_map(wrong);
    ASSERT_FALSE(found.ok()) << wrong;
    EXPECT_EQ(found.error().message,
              "'" + std::string(wrong) + "' is not rank, auto, axes:0,1,... or file:PATH");
  }
}

TEST(Placement, AxesCountUpInTheirOrder) {
  const Torus torus({4, 2});  // endpoint = x + 4 y
  EXPECT_THAT(map_by_axes(torus, {0, 1}).value(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(map_by_axes(torus, {1, 0}).value(), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  for (const std::vector<int>& wrong : {std::vector<int>{0}, {0, 0}, {1, 2}, {0, 1, 2}}) {
    const auto found = map_by_axes(torus, wrong);
    ASSERT_FALSE(found.ok());
    EXPECT_THAT(found.error().message, HasSubstr("each dimension of 4x2 once (0 to 1)"));
  }
}

TEST(Placement, RanksOfANodeBecomeNeighbours) {
  // Dealt round two nodes like cards.
  EXPECT_THAT(map_by_nodes({7, 3, 7, 3, 7, 3}, {}), ElementsAre(0, 3, 1, 4, 2, 5));
  // The same, by core within a node.
  EXPECT_THAT(map_by_nodes({7, 3, 7, 3}, {1, 0, 0, 1}), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(map_by_nodes({5, 5, 5}, {}), ElementsAre(0, 1, 2));
}

TEST(Placement, FilesNameAnEndpointPerRank) {
  const Torus torus({2, 3});
  EXPECT_THAT(map_from_text(torus, "5 # the last\n\n4\n1,1\n2\n1\n0\n").value(),
              ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_THAT(map_from_text(torus, "0\n1\n2\n3\n4\n5").value(), ElementsAre(0, 1, 2, 3, 4, 5));
  const auto error = [&](std::string_view text) {
    const auto found = map_from_text(torus, text);
    return found.ok() ? std::string("none") : found.error().message;
  };
  EXPECT_EQ(error("0\n1\n0\n"), "line 3: endpoint 0 has a rank already, of line 1");
  EXPECT_EQ(error("0\n6\n"), "line 2: '6' is no endpoint of 2x3: 0 to 5, or 2 coordinates");
  EXPECT_EQ(error("2,0\n"), "line 1: '2,0' is no endpoint of 2x3: 0 to 5, or 2 coordinates");
  EXPECT_EQ(error("a\n"), "line 1: 'a' is no endpoint of 2x3: 0 to 5, or 2 coordinates");
  EXPECT_EQ(error("0\n1\n2\n3\n4\n"), "5 lines with an endpoint, but 2x3 has 6");
  EXPECT_EQ(error(""), "0 lines with an endpoint, but 2x3 has 6");
}

TEST(Placement, LinesPlanesAndWholeToriAreRecognised) {
  const Torus torus({4, 2, 3});                        // id = x + 4 y + 8 z
  const auto line = recognise(torus, {9, 11, 8, 10});  // y = 0, z = 1, out of order
  ASSERT_TRUE(line.has_value());
  EXPECT_THAT(line->dims, ElementsAre(4));
  EXPECT_THAT(line->endpoint, ElementsAre(1, 3, 0, 2));
  const auto plane = recognise(torus, {2, 6, 10, 14, 18, 22});  // x = 2
  ASSERT_TRUE(plane.has_value());
  EXPECT_THAT(plane->dims, ElementsAre(2, 3));
  EXPECT_THAT(plane->endpoint, ElementsAre(0, 1, 2, 3, 4, 5));
  std::vector<int> all(24);
  for (int i = 0; i < 24; ++i) all[static_cast<std::size_t>(i)] = i;
  EXPECT_THAT(recognise(torus, all)->dims, ElementsAre(4, 2, 3));
  EXPECT_THAT(recognise(torus, {5})->dims, ElementsAre());
  EXPECT_FALSE(recognise(torus, {0, 1}).has_value());           // half of a ring
  EXPECT_FALSE(recognise(torus, {0, 5, 2, 7}).has_value());     // a zigzag: all x, all y, half
  EXPECT_FALSE(recognise(torus, {0, 1, 2, 3, 4}).has_value());  // one too many
}

}  // namespace
}  // namespace shortcut::topology
