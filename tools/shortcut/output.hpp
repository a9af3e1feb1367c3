// Files that the subcommands write, and the short texts of quantities on axes.
#pragma once

#include <string>
#include <string_view>

#include "planner/selector.hpp"
#include "support/result.hpp"

namespace shortcut::cli {

/// The error names the option and the file.
Status write_file(std::string_view option, const std::string& path, std::string_view text);

std::string rounded_bytes(double bytes);  ///< "32768 B" as "32 KiB", beyond 2^63 in powers of ten
/// A headed list of the plans of a table, each from its size on.
std::string choice_by_size(const planner::SelectionTable& table);
std::string short_bytes(double bytes);  ///< decimal: "32 kB"
std::string short_time(double ns);      ///< "100 ns", "2.5 us"

}  // namespace shortcut::cli
