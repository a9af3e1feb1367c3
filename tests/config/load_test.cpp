#include "config/load.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace shortcut::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A TOML file that lives as long as the test. ctest runs each test in a process of its own.
class LoadFile : public testing::Test {
 protected:
  LoadFile() : path_(testing::TempDir() + "shortcut_load_" + std::to_string(getpid()) + ".toml") {}
  ~LoadFile() override { std::filesystem::remove(path_); }

  Loaded load_text(const std::string& toml, Environment environment = {}) {
    std::ofstream(path_) << toml;
    environment["SHORTCUT_CONFIG"] = path_;
    return load(environment);
  }

  std::string path_;
};

TEST(Load, TakesTheEnvironment) {
  const Loaded loaded = load({{"SHORTCUT_DELTA", "1ms"}, {"HOME", "/"}, {"SHORTCUT_CHAIN", "1"}});
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.settings.delta_ns, 1e6);
  EXPECT_TRUE(loaded.settings.chain);
  EXPECT_EQ(loaded.settings.origin_of(Knob::delta).source, Source::environment);
}

TEST(Load, WarnsOncePerBadValueAndKeepsTheDefault) {
  const Loaded loaded = load({{"SHORTCUT_DELTA", "fast"}, {"SHORTCUT_FABRIC", "modeled"}});
  EXPECT_THAT(loaded.warnings, ElementsAre(StartsWith("SHORTCUT_DELTA: 'fast' is not a time")));
  EXPECT_EQ(loaded.settings.delta_ns, 10'000);
  EXPECT_EQ(loaded.settings.fabric, Fabric::modeled);
}

TEST(Load, WarnsOfUnknownVariablesExceptInternalOnes) {
  const Loaded loaded =
      load({{"SHORTCUT_DETLA", "1us"}, {"SHORTCUT_PRELOAD_X", "1"}, {"SHORTCUT_TEST_Y", "1"}});
  EXPECT_THAT(loaded.warnings,
              ElementsAre("there is no variable SHORTCUT_DETLA; did you mean SHORTCUT_DELTA?"));
}

TEST(Load, ReadsEnvironLists) {
  const char* const list[] = {"SHORTCUT_DELTA=1us", "SHORTCUT_DELTA=2us", "odd", "EMPTY=", nullptr};
  const Environment environment = environment_from(list);
  EXPECT_EQ(environment.size(), 2u);
  EXPECT_EQ(environment.at("SHORTCUT_DELTA"), "1us");
}

TEST_F(LoadFile, TheEnvironmentWinsOverTheFile) {
  const Loaded loaded = load_text("delta = '1ms'\nhop_factor = 2\nchain = true\nmin_gain = 1.25\n",
                                  {{"SHORTCUT_DELTA", "3us"}});
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.settings.delta_ns, 3000);
  EXPECT_EQ(loaded.settings.origin_of(Knob::delta).source, Source::environment);
  EXPECT_EQ(loaded.settings.hop_factor, 2);
  EXPECT_TRUE(loaded.settings.chain);
  EXPECT_EQ(loaded.settings.min_gain, 1.25);
  EXPECT_EQ(loaded.settings.origin_of(Knob::min_gain).source, Source::file);
}

TEST_F(LoadFile, KnowsWhatWasMeant) {
  const Loaded loaded = load_text(
      "SHORTCUT_DELTA = '1us'\nFABRIC = 'virtual'\n[shortcut]\nbandwidth = '1Gb/s'\n", {});
  EXPECT_THAT(loaded.warnings,
              testing::UnorderedElementsAre(
                  path_ + ":1: there is no setting 'SHORTCUT_DELTA'; did you mean delta?",
                  path_ + ":2: there is no setting 'FABRIC'; did you mean fabric?",
                  path_ + ":3: there are no tables, settings stand at the top of the file; "
                          "'[shortcut]' and what is in it are ignored"));
}

TEST_F(LoadFile, WarnsWithFileAndLine) {
  const Loaded loaded =
      load_text("# comment\nbandwith = '1Gb/s'\ndelta = [1]\nhop_factor = 3\nconfig = 'x'\n",
                {{"SHORTCUT_DELTA", "5us"}});
  EXPECT_THAT(loaded.warnings,
              testing::UnorderedElementsAre(
                  path_ + ":2: there is no setting 'bandwith'; did you mean bandwidth?",
                  path_ + ":3: 'delta' must be a text, a number or a truth value; using 5us",
                  path_ + ":4: hop_factor: '3' is not 1 or 2; using the default 1",
                  path_ + ":5: 'config' can only be set in the environment"));
}

TEST_F(LoadFile, WarnsOfSyntaxErrorsAndKeepsTheEnvironment) {
  const Loaded loaded = load_text("delta = '1ms'\nrule best\n", {{"SHORTCUT_RULE", "best"}});
  EXPECT_THAT(loaded.warnings, ElementsAre(StartsWith(path_ + ":2: ")));
  EXPECT_EQ(loaded.settings.delta_ns, 10'000);
}

TEST_F(LoadFile, WarnsOfAnUnknownAlgorithmWithFileAndLine) {
  const Loaded loaded = load_text("delta = '1ms'\nalgorithm = 'fancy'\n");
  EXPECT_THAT(loaded.warnings,
              ElementsAre(path_ + ":2: algorithm: 'fancy' is not auto, ring, recursive_doubling, "
                                  "recursive_doubling_full, swing, swing_full, bruck, "
                                  "neighbor_exchange, recursive_multiplying_3, "
                                  "recursive_multiplying_4, binomial or ring_both; using the "
                                  "default auto"));
  EXPECT_EQ(loaded.settings.algorithm, "auto");
}

TEST(Load, DoesNotSuggestFarNames) {
  EXPECT_THAT(load({{"SHORTCUT_FOO", "1"}}).warnings,
              ElementsAre("there is no variable SHORTCUT_FOO"));
  EXPECT_THAT(load({{"SHORTCUT_delta", "1"}}).warnings,
              ElementsAre("there is no variable SHORTCUT_delta; did you mean SHORTCUT_DELTA?"));
}

TEST(Load, WarnsOfADirectory) {
  const Loaded loaded = load({{"SHORTCUT_CONFIG", "/tmp"}});
  EXPECT_THAT(loaded.warnings,
              ElementsAre("SHORTCUT_CONFIG: '/tmp' is a directory, not a file; it is ignored"));
}

TEST(Load, WarnsOfAMissingFile) {
  const Loaded loaded = load({{"SHORTCUT_CONFIG", "/nonexistent.toml"}});
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("/nonexistent.toml")));
}

}  // namespace
}  // namespace shortcut::config
