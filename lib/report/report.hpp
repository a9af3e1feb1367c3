// What was chosen, how often, and what came of it: a process-wide table, written at the end.
#pragma once

#include <string_view>

#include "config/settings.hpp"
#include "planner/selector.hpp"

namespace shortcut::report {

/// One call that ran through us.
struct Entry {
  std::string_view collective;
  int ranks = 0;
  const planner::Plan* plan = nullptr;
  const planner::SelectionTable* table = nullptr;
  double bytes = 0;
  double measured_ns = 0;
  std::string_view fabric;
  int per_node = 1;  ///< above 1: the plan is for nodes of so many ranks, this many share each
  double predicted_ns = 0;
};

void record(const Entry& entry);
/// One call that went to PMPI, and why.
void record_native(std::string_view collective, std::string_view reason);

/// Writes the report as the settings say: nothing, a table on standard output, or a JSON file.
void write(const config::Settings& settings);

}  // namespace shortcut::report
