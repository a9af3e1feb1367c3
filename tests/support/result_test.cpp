#include "support/result.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace shortcut {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<std::string> good = std::string("yes");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value(), "yes");
  const Result<std::string> bad = Error{"no"};
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "no");
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

TEST(Status, IsGoodUnlessAnError) {
  EXPECT_TRUE(Status{}.ok());
  const Status bad = Error{"no"};
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "no");
}

}  // namespace
}  // namespace shortcut
