#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.hpp"

// The only parsers and printers of quantities. A quantity is a decimal number, optional spaces and
// a unit; the unit is required and case-sensitive, and nothing may follow it. Decimal prefixes are
// powers of 1000 (kB = 1000 B), binary prefixes powers of 1024 (KiB = 1024 B).

namespace shortcut {

inline constexpr std::string_view kByteUnits = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB";
inline constexpr std::string_view kTimeUnits = "ns, us, \xC2\xB5s, ms or s";
inline constexpr std::string_view kRateUnits =
    "kb/s, Mb/s, Gb/s, Tb/s (bits), kB/s, MB/s, GB/s or TB/s (bytes)";

/// A size in bytes; must come out as a whole number ("1.5kB" is 1500).
Result<std::uint64_t> parse_bytes(std::string_view text);

/// A time in nanoseconds, from 0 to 1e18 (1e9 s).
Result<double> parse_time_ns(std::string_view text);

/// A bandwidth from 1 b/s to 1e9 Tb/s as its inverse, in nanoseconds per byte. "800Gb/s" is 0.01.
Result<double> parse_rate_ns_per_byte(std::string_view text);

/// A plain finite number, the whole text; `minimum` is allowed itself unless `above` is set.
Result<double> parse_number(std::string_view text, double minimum, bool above = false);

/// A plain integer in [minimum, maximum], the whole text.
Result<int> parse_integer(std::string_view text, int minimum, int maximum);

/// Short and human: "0 B", "32 KiB", "1.5 MiB". Rounded to one decimal.
std::string format_bytes(std::uint64_t bytes);

/// Short and human, one decimal: "34.0 us", "500.0 ns", "1.2 s".
std::string format_time_ns(double time_ns);

/// Short and human: "800 Gb/s".
std::string format_rate_ns_per_byte(double beta_ns_per_byte);

}  // namespace shortcut
