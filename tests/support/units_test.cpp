#include "support/units.hpp"

#include <gtest/gtest.h>

namespace shortcut {
namespace {

TEST(ParseBytes, UnderstandsEveryUnit) {
  EXPECT_EQ(parse_bytes("0B").value(), 0u);
  EXPECT_EQ(parse_bytes("32kB").value(), 32'000u);
  EXPECT_EQ(parse_bytes("32 KiB").value(), 32'768u);
  EXPECT_EQ(parse_bytes("3MB").value(), 3'000'000u);
  EXPECT_EQ(parse_bytes("1MiB").value(), 1u << 20);
  EXPECT_EQ(parse_bytes("1GB").value(), 1'000'000'000u);
  EXPECT_EQ(parse_bytes("2GiB").value(), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1TB").value(), 1'000'000'000'000u);
  EXPECT_EQ(parse_bytes("1TiB").value(), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_bytes("1.5kB").value(), 1'500u);
  EXPECT_EQ(parse_bytes("18446744073709551615B").value(), 18446744073709551615u);
}

TEST(ParseBytes, RefusesAnythingElse) {
  for (const char* text :
       {"", "32", "kB", "32 kb", "32KB", "32kB ", "32kBx", "-1B", "-0.0B", "0.5B", "1e30TB",
        "18446744073709551616B", "18446744073709551615kB", "nanB", "infB", " 1B"}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

TEST(ParseBytes, NamesTheValueAndWhatIsAllowed) {
  const auto message = parse_bytes("32").error().message;
  EXPECT_EQ(message,
            "'32' is not a size (whole bytes, below 2^64): a number followed by B, kB, MB, GB, TB, "
            "KiB, MiB, GiB or TiB");
}

TEST(ParseTime, UnderstandsEveryUnit) {
  EXPECT_EQ(parse_time_ns("0ns").value(), 0);
  EXPECT_EQ(parse_time_ns("500ns").value(), 500);
  EXPECT_EQ(parse_time_ns("10us").value(), 10'000);
  EXPECT_EQ(parse_time_ns("10\xC2\xB5s").value(), 10'000);
  EXPECT_EQ(parse_time_ns("10\xCE\xBCs").value(), 10'000);
  EXPECT_EQ(parse_time_ns("2.5 ms").value(), 2'500'000);
  EXPECT_EQ(parse_time_ns("1s").value(), 1e9);
}

TEST(ParseTime, RefusesAnythingElse) {
  for (const char* text :
       {"", "10", "us", "-1us", "10usec", "10us ", "infs", "nans", "1e308s", "1.1e9s"}) {
    EXPECT_FALSE(parse_time_ns(text).ok()) << text;
  }
}

TEST(ParseRate, IsExactForRoundRates) {
  EXPECT_EQ(parse_rate_ns_per_byte("800Gb/s").value(), 0.01);
  EXPECT_EQ(parse_rate_ns_per_byte("0.8Tb/s").value(), 0.01);
  EXPECT_EQ(parse_rate_ns_per_byte("100GB/s").value(), 0.01);
  EXPECT_EQ(parse_rate_ns_per_byte("8kb/s").value(), 1e6);
  EXPECT_EQ(parse_rate_ns_per_byte("8Mb/s").value(), 1e3);
  EXPECT_EQ(parse_rate_ns_per_byte("1kB/s").value(), 1e6);
  EXPECT_EQ(parse_rate_ns_per_byte("1MB/s").value(), 1e3);
  EXPECT_EQ(parse_rate_ns_per_byte("1TB/s").value(), 1e-3);
}

TEST(ParseRate, RefusesAnythingElse) {
  for (const char* text : {"", "800", "800Gb", "0Gb/s", "-1Gb/s", "1e-320kb/s", "1e308Tb/s",
                           "nanGb/s", "1Gbps", "1e-300Gb/s", "2e9Tb/s"}) {
    EXPECT_FALSE(parse_rate_ns_per_byte(text).ok()) << text;
  }
}

TEST(ParseNumber, TakesTheWholeTextWithinBounds) {
  EXPECT_EQ(parse_number("1.5", 0).value(), 1.5);
  EXPECT_EQ(parse_number("0", 0).value(), 0);
  EXPECT_FALSE(parse_number("0", 0, true).ok());
  EXPECT_FALSE(parse_number("1.5x", 0).ok());
  EXPECT_FALSE(parse_number("1.5 ", 0).ok());
  EXPECT_FALSE(parse_number("-1", 0).ok());
  EXPECT_FALSE(parse_number("inf", 0).ok());
  EXPECT_EQ(parse_integer("30", 0, 30).value(), 30);
  EXPECT_FALSE(parse_integer("31", 0, 30).ok());
  EXPECT_FALSE(parse_integer("3.0", 0, 30).ok());
}

TEST(Format, IsShort) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(32 << 10), "32 KiB");
  EXPECT_EQ(format_bytes((1 << 20) + (1 << 19)), "1.5 MiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_time_ns(0), "0.0 ns");
  EXPECT_EQ(format_time_ns(34'000), "34.0 us");
  EXPECT_EQ(format_time_ns(999.99), "1.0 us");
  EXPECT_EQ(format_time_ns(1.25e9), "1.2 s");
  EXPECT_EQ(format_time_ns(1e12), "1000.0 s");
  EXPECT_EQ(format_time_ns(1.234e21), "1.23e+12 s");
  EXPECT_EQ(format_rate_ns_per_byte(0.01), "800 Gb/s");
}

}  // namespace
}  // namespace shortcut
