#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.hpp"

// What a knob can hold. A kind has the value type and four functions: parse() reads what a user
// writes, encode()/decode() are an exact, unit-less text form for publishing, allowed() is the
// phrase for help and messages.

namespace shortcut::config {

enum class Fabric { static_, modeled, virtual_ };
enum class Planner { threshold, optimal };
enum class BaseRing { plain, twisted };
enum class Rule { best, first_feasible };
enum class Accounting { exact, paper };
enum class Antipodal { same_path, balanced };
enum class Ports { one, all };
enum class Restore { none, eager, lazy };
enum class Hierarchy { auto_, flat, two_level };
enum class Compute { measured, ignored };
enum class Log { quiet, warn, info, debug };

/// Names of an enum's values, in the order of their declaration.
template <class E>
inline constexpr std::array<std::string_view, 0> kEnumNames{};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Fabric>{"static", "modeled", "virtual"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Planner>{"threshold", "optimal"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<BaseRing>{"plain", "twisted"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Rule>{"best", "first-feasible"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Accounting>{"exact", "paper"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Antipodal>{"same_path", "balanced"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Ports>{"1", "all"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Restore>{"none", "eager", "lazy"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Hierarchy>{"auto", "flat", "two_level"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Compute>{"measured", "ignored"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<Log>{"quiet", "warn", "info", "debug"};

/// The name users write for a value: name_of(Fabric::static_) is "static".
template <class E>
constexpr std::string_view name_of(E value) {
  return kEnumNames<E>[static_cast<std::size_t>(value)];
}

template <class E>
struct EnumKind {
  using Value = E;
  static constexpr std::string_view kType = "enum";
  static std::string allowed() {
    std::string text;
    const std::size_t count = kEnumNames<E>.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text += i + 1 == count ? " or " : ", ";
      text += kEnumNames<E>[i];
    }
    return text;
  }
  static Result<E> parse(std::string_view text) {
    for (std::size_t i = 0; i < kEnumNames<E>.size(); ++i) {
      if (kEnumNames<E>[i] == text) return static_cast<E>(i);
    }
    return Error{"'" + std::string(text) + "' is not " + allowed()};
  }
  static std::string encode(E value) { return std::string(name_of(value)); }
  static Result<E> decode(std::string_view text) { return parse(text); }
};

/// Shared by all kinds whose value is a double.
struct DoubleCode {
  using Value = double;
  static std::string encode(double value);
  static Result<double> decode(std::string_view text);
};

/// Shared by all kinds whose value is an int.
struct IntCode {
  using Value = int;
  static std::string encode(int value);
  static Result<int> decode(std::string_view text);
};

struct TextCode {
  using Value = std::string;
  static std::string encode(const std::string& value) { return value; }
  static Result<std::string> decode(std::string_view text) { return std::string(text); }
};

struct TimeKind : DoubleCode {
  static constexpr std::string_view kType = "time";
  static std::string allowed();
  static Result<double> parse(std::string_view text);
};

struct RateKind : DoubleCode {
  static constexpr std::string_view kType = "rate";
  static std::string allowed();
  static Result<double> parse(std::string_view text);
};

/// A factor above 0.
struct ScaleKind : DoubleCode {
  static constexpr std::string_view kType = "number";
  static std::string allowed();
  static Result<double> parse(std::string_view text);
};

/// A factor of at least 0.
struct GainKind : DoubleCode {
  static constexpr std::string_view kType = "number";
  static std::string allowed();
  static Result<double> parse(std::string_view text);
};

/// -1 is auto.
struct ThresholdKind : IntCode {
  static constexpr std::string_view kType = "integer";
  static std::string allowed();
  static Result<int> parse(std::string_view text);
};

struct HopFactorKind : IntCode {
  static constexpr std::string_view kType = "integer";
  static std::string allowed();
  static Result<int> parse(std::string_view text);
};

struct BoolKind {
  using Value = bool;
  static constexpr std::string_view kType = "bool";
  static std::string allowed();
  static Result<bool> parse(std::string_view text);
  static std::string encode(bool value) { return value ? "1" : "0"; }
  static Result<bool> decode(std::string_view text) { return parse(text); }
};

struct BytesKind {
  using Value = std::uint64_t;
  static constexpr std::string_view kType = "size";
  static std::string allowed();
  static Result<std::uint64_t> parse(std::string_view text);
  static std::string encode(std::uint64_t value);
  static Result<std::uint64_t> decode(std::string_view text);
};

/// auto, or a name from the registry of algorithms.
struct AlgorithmKind : TextCode {
  static constexpr std::string_view kType = "name";
  static std::string allowed();
  static Result<std::string> parse(std::string_view text);
};

/// The shape of the fabric.
struct DimsKind : TextCode {
  static constexpr std::string_view kType = "shape";
  static std::string allowed();
  static Result<std::string> parse(std::string_view text);
};

/// Ranks to endpoints: topology/placement.hpp.
struct MapKind : TextCode {
  static constexpr std::string_view kType = "map";
  static std::string allowed();
  static Result<std::string> parse(std::string_view text);
};

/// At least 1.
struct CountKind : IntCode {
  static constexpr std::string_view kType = "integer";
  static std::string allowed();
  static Result<int> parse(std::string_view text);
};

/// 0 is auto.
struct NodeRanksKind : IntCode {
  static constexpr std::string_view kType = "integer";
  static std::string allowed();
  static Result<int> parse(std::string_view text);
};

struct TextKind : TextCode {
  static constexpr std::string_view kType = "text";
  static std::string allowed();
  static Result<std::string> parse(std::string_view text) { return std::string(text); }
};

struct PathKind : TextCode {
  static constexpr std::string_view kType = "path";
  static std::string allowed();
  static Result<std::string> parse(std::string_view text) { return std::string(text); }
};

}  // namespace shortcut::config
