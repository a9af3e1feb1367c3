#include "config/kinds.hpp"

#include <limits>

#include <fmt/format.h>

#include "schedule/registry.hpp"
#include "support/units.hpp"
#include "topology/placement.hpp"

namespace shortcut::config {
namespace {

constexpr int kThresholdMaximum = 30;
constexpr int kMostCounted = 1 << 20;
constexpr std::string_view kAuto = "auto";

}  // namespace

// fmt prints the shortest text that reads back as the same double.
std::string DoubleCode::encode(double value) { return fmt::format("{}", value); }
Result<double> DoubleCode::decode(std::string_view text) {
  return parse_number(text, std::numeric_limits<double>::lowest());
}

std::string IntCode::encode(int value) { return fmt::format("{}", value); }
Result<int> IntCode::decode(std::string_view text) {
  return parse_integer(text, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}

std::string TimeKind::allowed() { return fmt::format("number >= 0 and {}", kTimeUnits); }
Result<double> TimeKind::parse(std::string_view text) { return parse_time_ns(text); }

std::string RateKind::allowed() { return fmt::format("number > 0 and {}", kRateUnits); }
Result<double> RateKind::parse(std::string_view text) { return parse_rate_ns_per_byte(text); }

std::string ScaleKind::allowed() { return "number > 0"; }
Result<double> ScaleKind::parse(std::string_view text) { return parse_number(text, 0, true); }

std::string GainKind::allowed() { return "number above 0"; }
Result<double> GainKind::parse(std::string_view text) { return parse_number(text, 0, true); }

std::string ThresholdKind::allowed() {
  return fmt::format("{} or an integer from 0 to {}; from log2 of the ranks on: never", kAuto,
                     kThresholdMaximum);
}
Result<int> ThresholdKind::parse(std::string_view text) {
  if (text == kAuto) return -1;
  auto value = parse_integer(text, 0, kThresholdMaximum);
  if (!value) return Error{fmt::format("'{}' is not {}", text, allowed())};
  return value;
}

std::string DimsKind::allowed() { return "ring, auto, cart or sizes like 16x8, each at least 1"; }
Result<std::string> DimsKind::parse(std::string_view text) {
  const bool named = text == "ring" || text == kAuto || text == "cart";
  if (!named && !topology::parse_dims(text).ok()) {
    return Error{fmt::format("'{}' is not {}", text, allowed())};
  }
  return std::string(text);
}

std::string MapKind::allowed() { return "rank, auto, axes:0,1,... or file:PATH"; }
Result<std::string> MapKind::parse(std::string_view text) {
  const auto map = topology::parse_map(text);
  if (!map.ok()) return map.error();
  return std::string(text);
}

std::string CountKind::allowed() { return fmt::format("an integer from 1 to {}", kMostCounted); }
Result<int> CountKind::parse(std::string_view text) {
  auto value = parse_integer(text, 1, kMostCounted);
  if (!value) return Error{fmt::format("'{}' is not {}", text, allowed())};
  return value;
}

std::string NodeRanksKind::allowed() {
  return fmt::format("{} or {}", kAuto, CountKind::allowed());
}
Result<int> NodeRanksKind::parse(std::string_view text) {
  if (text == kAuto) return 0;
  auto value = parse_integer(text, 1, kMostCounted);
  if (!value) return Error{fmt::format("'{}' is not {}", text, allowed())};
  return value;
}

std::string HopFactorKind::allowed() { return "1 or 2"; }
Result<int> HopFactorKind::parse(std::string_view text) {
  auto value = parse_integer(text, 1, 2);
  if (!value) return Error{fmt::format("'{}' is not {}", text, allowed())};
  return value;
}

std::string BoolKind::allowed() { return "0 or 1 (also false, no, off; true, yes, on)"; }
Result<bool> BoolKind::parse(std::string_view text) {
  for (const std::string_view no : {"0", "false", "no", "off"}) {
    if (text == no) return false;
  }
  for (const std::string_view yes : {"1", "true", "yes", "on"}) {
    if (text == yes) return true;
  }
  return Error{fmt::format("'{}' is not {}", text, allowed())};
}

std::string BytesKind::allowed() { return fmt::format("number and {}", kByteUnits); }
Result<std::uint64_t> BytesKind::parse(std::string_view text) { return parse_bytes(text); }
std::string BytesKind::encode(std::uint64_t value) { return fmt::format("{}B", value); }
Result<std::uint64_t> BytesKind::decode(std::string_view text) { return parse_bytes(text); }

std::string AlgorithmKind::allowed() {
  std::string names(kAuto);
  for (const schedule::Algorithm& row : schedule::algorithms()) {
    names += &row == &schedule::algorithms().back() ? " or " : ", ";
    names += row.name;
  }
  return names;
}
Result<std::string> AlgorithmKind::parse(std::string_view text) {
  if (text == kAuto || schedule::find_algorithm(text).ok()) return std::string(text);
  return Error{fmt::format("'{}' is not {}", text, allowed())};
}

std::string TextKind::allowed() { return "any text, may be empty"; }

std::string PathKind::allowed() { return "the path of a file, may be empty"; }

}  // namespace shortcut::config
