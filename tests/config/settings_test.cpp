#include "config/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shortcut::config {
namespace {

using testing::HasSubstr;

TEST(Settings, HaveTheDocumentedDefaults) {
  const Settings settings;
  EXPECT_EQ(settings.fabric, Fabric::static_);
  EXPECT_EQ(settings.algorithm, "auto");
  EXPECT_EQ(settings.threshold, kThresholdAuto);
  EXPECT_EQ(settings.rule, Rule::best);
  EXPECT_EQ(settings.alpha_s_ns, 500);
  EXPECT_EQ(settings.alpha_p_ns, 500);
  EXPECT_EQ(settings.beta_ns_per_byte, 0.01);
  EXPECT_EQ(settings.delta_ns, 10'000);
  EXPECT_EQ(settings.hop_factor, 1);
  EXPECT_EQ(settings.min_gain, 1.0);
  EXPECT_EQ(settings.accounting, Accounting::exact);
  EXPECT_EQ(settings.antipodal, Antipodal::same_path);
  EXPECT_EQ(settings.restore, Restore::lazy);
  EXPECT_EQ(settings.time_scale, 1.0);
  EXPECT_FALSE(settings.modeled_steps);
  EXPECT_EQ(settings.compute, Compute::ignored);
  EXPECT_EQ(settings.report, "");
  EXPECT_EQ(settings.log, Log::warn);
  EXPECT_FALSE(settings.disable);
  EXPECT_FALSE(settings.chain);
  EXPECT_EQ(settings.segment_bytes, 0u);
  EXPECT_EQ(settings.origin_of(Knob::delta).source, Source::default_text);
  EXPECT_EQ(settings.origin_of(Knob::delta).text, "10us");
}

TEST(Set, ChangesAValueAndItsOrigin) {
  Settings settings;
  ASSERT_TRUE(set(settings, "delta", "2.5ms").ok());
  EXPECT_EQ(settings.delta_ns, 2.5e6);
  EXPECT_EQ(settings.origin_of(Knob::delta).source, Source::argument);
  EXPECT_EQ(settings.origin_of(Knob::delta).text, "2.5ms");
  ASSERT_TRUE(set(settings, "rule", "first-feasible").ok());
  EXPECT_EQ(settings.rule, Rule::first_feasible);
  ASSERT_TRUE(set(settings, "threshold", "30").ok());
  EXPECT_EQ(settings.threshold, 30);
  EXPECT_FALSE(settings == Settings{});
}

TEST(Set, LeavesTheSettingsAloneIfItCannot) {
  Settings settings;
  const struct {
    const char* name;
    const char* text;
    const char* message;
  } bad[] = {
      {"fabric", "optical", "'optical' is not static, modeled or virtual"},
      {"rule", "", "'' is not best or first-feasible"},
      {"threshold", "31", "'31' is not auto or an integer from 0 to 30"},
      {"threshold", "-1", "'-1' is not auto or an integer from 0 to 30"},
      {"hop_factor", "3", "'3' is not 1 or 2"},
      {"time_scale", "0", "'0' is not a number above 0"},
      {"min_gain", "-0.5", "'-0.5' is not a number above 0"},
      {"chain", "maybe", "'maybe' is not 0 or 1"},
      {"algorithm", "", "'' is not auto, ring"},
      {"delta", "10", "'10' is not a time of at least 0"},
      {"detla", "10us", "there is no setting 'detla'; did you mean 'delta'?"},
  };
  for (const auto& [name, text, message] : bad) {
    const Status status = set(settings, name, text);
    ASSERT_FALSE(status.ok()) << name << "=" << text;
    EXPECT_THAT(status.error().message, HasSubstr(message));
  }
  EXPECT_EQ(settings, Settings{});
}

TEST(Serialise, RoundTripsExactly) {
  Settings settings;
  settings.delta_ns = 1.0 / 3;
  settings.beta_ns_per_byte = 0.1 + 0.2;
  settings.segment_bytes = ~std::uint64_t{0};
  settings.threshold = 5;
  settings.chain = true;
  ASSERT_TRUE(set(settings, "report", "a\tb\\n\nc", Source::environment).ok());
  ASSERT_TRUE(set(settings, "fabric", "virtual", Source::file).ok());
  const Settings copy = deserialise(serialise(settings));
  EXPECT_EQ(copy, settings);
  EXPECT_EQ(copy.report, "a\tb\\n\nc");
  EXPECT_EQ(copy.origin_of(Knob::report).source, Source::environment);
  EXPECT_EQ(copy.origin_of(Knob::fabric).source, Source::file);
  EXPECT_EQ(serialise(copy), serialise(settings));
}

TEST(Deserialise, SurvivesGarbage) {
  for (const char* text : {"", "\n\n", "delta", "delta\tfile", "delta\tfile\tx\tx", "x\ty\tz\tw\n",
                           "threshold\tfile\tone\t\\"}) {
    EXPECT_EQ(deserialise(text), Settings{}) << text;
  }
}

TEST(ListKnobs, DescribesEveryKnob) {
  Settings settings;
  ASSERT_TRUE(set(settings, "alpha_s", "1us", Source::environment).ok());
  const auto knobs = list_knobs(settings);
  ASSERT_EQ(knobs.size(), kKnobCount);
  for (const KnobInfo& knob : knobs) {
    EXPECT_FALSE(knob.type.empty() || knob.allowed.empty() || knob.help.empty()) << knob.name;
  }
  const KnobInfo& alpha_s = knobs[static_cast<std::size_t>(Knob::alpha_s)];
  EXPECT_EQ(alpha_s.environment, "SHORTCUT_ALPHA_S");
  EXPECT_EQ(alpha_s.type, "time");
  EXPECT_EQ(alpha_s.default_text, "500ns");
  EXPECT_EQ(alpha_s.value, "1us");
  EXPECT_EQ(alpha_s.source, Source::environment);
}

}  // namespace
}  // namespace shortcut::config
