#include "support/nearest.hpp"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace shortcut {
namespace {

constexpr std::array<std::string_view, 4> kNames{"ring", "swing", "bandwidth", "delta"};

constexpr std::array<std::string_view, 1> kShort{"log"};

TEST(NearestName, FindsMisspellings) {
  EXPECT_EQ(nearest_name("rign", kNames), "ring");
  EXPECT_EQ(nearest_name("swin", kNames), "swing");
  EXPECT_EQ(nearest_name("bandwith", kNames), "bandwidth");
  EXPECT_EQ(nearest_name("detla", kNames), "delta");
}

TEST(NearestName, IsEmptyIfNothingIsNear) {
  EXPECT_EQ(nearest_name("something_else", kNames), "");
  EXPECT_EQ(nearest_name("foo", std::span<const std::string_view>(kShort)), "");
  EXPECT_EQ(nearest_name("x", std::span<const std::string>{}), "");
}

}  // namespace
}  // namespace shortcut
