#include "shortcut/output.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>

#include "support/units.hpp"

namespace shortcut::cli {

Status write_file(std::string_view option, const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool good = file != nullptr;
  int why = errno;
  if (good) {
    good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (!good) why = errno;
    if (std::fclose(file) != 0 && good) {
      good = false;
      why = errno;
    }
  }
  if (good) return {};
  return Error{fmt::format("{}: cannot write '{}': {}", option, path, std::strerror(why))};
}

namespace {

std::string scaled(double value, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= 999.5) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, units[unit]);
}

}  // namespace

std::string rounded_bytes(double bytes) {
  if (bytes >= 0x1p63) return fmt::format("{:.3g} B", bytes);
  return format_bytes(static_cast<std::uint64_t>(std::round(bytes)));
}

std::string choice_by_size(const planner::SelectionTable& table) {
  std::string text = "\nchoice by size, at this delta\n";
  std::string previous;
  for (const planner::TableRow& entry : table.rows()) {
    const std::string choice = planner::describe(entry.plan);
    if (choice == previous) continue;
    text += fmt::format("  from {:>10}  {}\n", rounded_bytes(std::ceil(entry.from_bytes)), choice);
    previous = choice;
  }
  return text;
}

std::string short_bytes(double bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  return scaled(bytes, kUnits);
}

std::string short_time(double ns) {
  static constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  return scaled(ns, kUnits);
}

}  // namespace shortcut::cli
