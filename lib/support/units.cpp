#include "support/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include <fmt/format.h>

namespace shortcut {
namespace {

/// The number at the start of a text, and what follows it with the spaces between removed.
struct Quantity {
  double number = 0;
  std::string_view digits;
  std::string_view unit;
};

std::optional<Quantity> split(std::string_view text) {
  Quantity quantity;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, quantity.number);
  if (status != std::errc{} || !std::isfinite(quantity.number)) return std::nullopt;
  quantity.digits = text.substr(0, static_cast<std::size_t>(rest - text.data()));
  quantity.unit = text.substr(quantity.digits.size());
  while (!quantity.unit.empty() && quantity.unit.front() == ' ') quantity.unit.remove_prefix(1);
  return quantity;
}

struct ByteUnit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kByteTable{
    ByteUnit{"B", 1},
    ByteUnit{"kB", 1'000},
    ByteUnit{"MB", 1'000'000},
    ByteUnit{"GB", 1'000'000'000},
    ByteUnit{"TB", 1'000'000'000'000},
    ByteUnit{"KiB", std::uint64_t{1} << 10},
    ByteUnit{"MiB", std::uint64_t{1} << 20},
    ByteUnit{"GiB", std::uint64_t{1} << 30},
    ByteUnit{"TiB", std::uint64_t{1} << 40},
};

struct TimeUnit {
  std::string_view name;
  double ns;
};
constexpr std::array kTimeTable{
    TimeUnit{"ns", 1},          TimeUnit{"us", 1e3},
    TimeUnit{"\xC2\xB5s", 1e3}, TimeUnit{"\xCE\xBCs", 1e3},  // Greek mu, which looks the same
    TimeUnit{"ms", 1e6},        TimeUnit{"s", 1e9},
};

/// 1 unit = scale / ns_per_byte; both whole, so that round rates give exact results.
struct RateUnit {
  std::string_view name;
  double ns_per_byte;
  double scale;
};
constexpr std::array kRateTable{
    RateUnit{"kb/s", 8e6, 1}, RateUnit{"Mb/s", 8e3, 1}, RateUnit{"Gb/s", 8, 1},
    RateUnit{"Tb/s", 8, 1e3}, RateUnit{"kB/s", 1e6, 1}, RateUnit{"MB/s", 1e3, 1},
    RateUnit{"GB/s", 1, 1},   RateUnit{"TB/s", 1, 1e3},
};

template <class Table>
auto find_unit(const Table& table, std::string_view name) -> decltype(table.data()) {
  for (const auto& unit : table) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Error not_a(std::string_view text, std::string_view what, std::string_view units) {
  return Error{fmt::format("'{}' is not {}: a number followed by {}", text, what, units)};
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view kWhat = "a size (whole bytes, below 2^64)";
  const auto quantity = split(text);
  const ByteUnit* unit = quantity ? find_unit(kByteTable, quantity->unit) : nullptr;
  if (unit == nullptr) return not_a(text, kWhat, kByteUnits);

  // Whole numbers stay integers: a double is exact only up to 2^53.
  std::uint64_t count = 0;
  const std::string_view digits = quantity->digits;
  const char* const end = digits.data() + digits.size();
  const auto [rest, status] = std::from_chars(digits.data(), end, count);
  if (status == std::errc{} && rest == end) {
    if (count > std::numeric_limits<std::uint64_t>::max() / unit->bytes) {
      return not_a(text, kWhat, kByteUnits);
    }
    return count * unit->bytes;
  }
  const double bytes = quantity->number * static_cast<double>(unit->bytes);
  if (std::signbit(bytes) || bytes >= 0x1p64 || bytes != std::floor(bytes)) {
    return not_a(text, kWhat, kByteUnits);
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<double> parse_time_ns(std::string_view text) {
  constexpr std::string_view kWhat = "a time of at least 0 and at most 1e9 s";
  const auto quantity = split(text);
  const TimeUnit* unit = quantity ? find_unit(kTimeTable, quantity->unit) : nullptr;
  if (unit == nullptr) return not_a(text, kWhat, kTimeUnits);
  const double time_ns = quantity->number * unit->ns;
  constexpr double kLongestNs = 1e18;  // beyond it prices would lose all meaning, and overflow
  if (std::signbit(time_ns) || !(time_ns <= kLongestNs)) return not_a(text, kWhat, kTimeUnits);
  return time_ns;
}

Result<double> parse_rate_ns_per_byte(std::string_view text) {
  constexpr std::string_view kWhat = "a bandwidth above 0, from 1 b/s to 1e9 Tb/s";
  const auto quantity = split(text);
  const RateUnit* unit = quantity ? find_unit(kRateTable, quantity->unit) : nullptr;
  if (unit == nullptr || quantity->number <= 0) return not_a(text, kWhat, kRateUnits);
  const double beta_ns_per_byte = unit->ns_per_byte / (quantity->number * unit->scale);
  constexpr double kSlowest = 8e9;
  constexpr double kFastest = 8e-12;
  if (!(beta_ns_per_byte <= kSlowest && beta_ns_per_byte >= kFastest)) {
    return not_a(text, kWhat, kRateUnits);
  }
  return beta_ns_per_byte;
}

Result<double> parse_number(std::string_view text, double minimum, bool above) {
  const auto quantity = split(text);
  if (!quantity || quantity->digits.size() != text.size() || quantity->number < minimum ||
      (above && quantity->number == minimum)) {
    return Error{
        fmt::format("'{}' is not a number {} {}", text, above ? "above" : "of at least", minimum)};
  }
  return quantity->number;
}

Result<int> parse_integer(std::string_view text, int minimum, int maximum) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || rest != end || value < minimum || value > maximum) {
    return Error{fmt::format("'{}' is not an integer from {} to {}", text, minimum, maximum)};
  }
  return value;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto number = static_cast<double>(bytes);
  // 1023.95 would be printed as 1024.0.
  while (unit + 1 < kUnits.size() && number >= (unit == 0 ? 1024.0 : 1023.95)) {
    number /= 1024;
    ++unit;
  }
  if (number == std::floor(number)) return fmt::format("{:.0f} {}", number, kUnits[unit]);
  return fmt::format("{:.1f} {}", number, kUnits[unit]);
}

std::string format_time_ns(double time_ns) {
  constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::abs(time_ns) >= 999.95) {
    time_ns /= 1000;
    ++unit;
  }
  // Beyond a day of seconds nobody reads the digits.
  if (std::abs(time_ns) >= 99'999.95) return fmt::format("{:.3g} {}", time_ns, kUnits[unit]);
  return fmt::format("{:.1f} {}", time_ns, kUnits[unit]);
}

std::string format_rate_ns_per_byte(double beta_ns_per_byte) {
  constexpr std::array<std::string_view, 4> kUnits{"kb/s", "Mb/s", "Gb/s", "Tb/s"};
  std::size_t unit = 0;
  double rate = 8e6 / beta_ns_per_byte;
  while (unit + 1 < kUnits.size() && rate >= 1000) {
    rate /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", rate, kUnits[unit]);
}

}  // namespace shortcut
