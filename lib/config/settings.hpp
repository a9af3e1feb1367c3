#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/kinds.hpp"
#include "support/result.hpp"

// The settings of one process. Layers take values from here; only config/ knows how they are
// spelt. Members and defaults come from config/knobs.def.

namespace shortcut::config {

enum class Source { default_text, file, environment, argument };
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<Source>{"default", "file",
                                                                    "environment", "argument"};

/// One enumerator per knob, in the order of knobs.def; an index into Settings::origin.
enum class Knob : std::size_t {
#define SHORTCUT_KNOB(name, member, Kind, default_text, help) name,
#include "config/knobs.def"
#undef SHORTCUT_KNOB
};

inline constexpr std::size_t kKnobCount = 0
#define SHORTCUT_KNOB(name, member, Kind, default_text, help) +1
#include "config/knobs.def"
#undef SHORTCUT_KNOB
    ;

/// Who set a knob, and what they wrote.
struct Origin {
  Source source = Source::default_text;
  std::string text;
};

inline constexpr int kThresholdAuto = -1;

struct Settings {
#define SHORTCUT_KNOB(name, member, Kind, default_text, help) Kind::Value member{};
#include "config/knobs.def"
#undef SHORTCUT_KNOB

  std::array<Origin, kKnobCount> origin;

  /// Every knob at its default.
  Settings();

  [[nodiscard]] const Origin& origin_of(Knob knob) const {
    return origin[static_cast<std::size_t>(knob)];
  }
};

/// Same values; who set them does not matter.
bool operator==(const Settings& left, const Settings& right);

/// Sets the knob called `name` from what a user wrote. The error names the value and what is
/// allowed, or the nearest knob if there is none of that name; the settings then stay as they are.
Status set(Settings& settings, std::string_view name, std::string_view text,
           Source source = Source::argument);

/// A text that rank 0 can publish; deserialise() gives back equal settings, origins included.
std::string serialise(const Settings& settings);

/// The inverse of serialise(). Knobs that are not in the text keep their defaults, as do those
/// that cannot be read (which happens only if the two sides run different versions).
Settings deserialise(std::string_view text);

inline constexpr std::string_view kEnvironmentPrefix = "SHORTCUT_";

/// "alpha_s" -> "SHORTCUT_ALPHA_S".
std::string environment_name(std::string_view knob_name);

/// The names of all knobs, in the order of knobs.def.
std::span<const std::string_view> knob_names();

/// A knob as `shortcut info` shows it.
struct KnobInfo {
  std::string name;
  std::string environment;   // SHORTCUT_DELTA
  std::string type;          // time, rate, enum, ...
  std::string default_text;  // as declared: "10us"
  std::string allowed;
  std::string help;
  std::string value;  // as written by whoever set it
  Source source = Source::default_text;
};

/// All knobs in the order of knobs.def.
std::vector<KnobInfo> list_knobs(const Settings& settings);

}  // namespace shortcut::config
