#include "report/report.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "config/kinds.hpp"
#include "support/units.hpp"

namespace shortcut::report {
namespace {

struct Row {
  long calls = 0;
  double bytes = 0;
  double predicted_ns = 0;
  double measured_ns = 0;
  int ranks = 0;
  std::string algorithm;
  std::string label;
  int threshold = 0;
  std::vector<std::string> states;
  std::string reason;
};

// Calls are told apart by collective, power-of-two size class and plan text: plans die with their
// communicator, the table does not.
using Key = std::tuple<std::string, int, std::uint64_t, std::string>;

struct Table {
  std::mutex mutex;
  std::map<Key, Row> rows;
  std::map<std::pair<std::string, std::string>, long> native;
  std::string fabric = "static";
};

Table& table() {
  static Table instance;
  return instance;
}

std::uint64_t size_class(double bytes) { return std::bit_floor(static_cast<std::uint64_t>(bytes)); }

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

void write_table(const Table& all) {
  std::string text = fmt::format("\nShortcut report (rank 0, fabric {})\n", all.fabric);
  if (all.rows.empty()) text += "  no collective ran through Shortcut\n";
  if (!all.rows.empty()) {
    text += fmt::format("  {:<21}{:>6} {:>10} {:>8} {:>12} {:>12} {:>12}  {:<32}  {}\n",
                        "collective", "ranks", "size from", "calls", "bytes", "predicted",
                        "measured", "algorithm", "states");
  }
  for (const auto& [key, row] : all.rows) {
    const double calls = static_cast<double>(row.calls);
    text += fmt::format("  {:<21}{:>6} {:>10} {:>8} {:>12.0f} {:>12} {:>12}  {:<32}  {}\n",
                        std::get<0>(key), row.ranks, format_bytes(std::get<2>(key)), row.calls,
                        row.bytes, format_time_ns(row.predicted_ns / calls),
                        format_time_ns(row.measured_ns / calls), row.label, joined(row.states));
  }
  if (!all.rows.empty()) text += "  (times are means per call)\n";
  for (const auto& [what, calls] : all.native) {
    text +=
        fmt::format("  {} calls of {} not run by Shortcut: {}\n", calls, what.first, what.second);
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const Table& all, const config::Settings& settings) {
  nlohmann::ordered_json out;
  out["fabric"] = all.fabric;
  for (const config::KnobInfo& knob : config::list_knobs(settings)) {
    out["configuration"][knob.name] = knob.value;
  }
  out["collectives"] = nlohmann::ordered_json::array();
  for (const auto& [key, row] : all.rows) {
    nlohmann::ordered_json one;
    one["collective"] = std::get<0>(key);
    one["ranks"] = row.ranks;
    one["size_class"] = format_bytes(std::get<2>(key));
    one["size_class_bytes"] = std::get<2>(key);
    one["algorithm"] = row.algorithm;
    one["plan"] = row.label;
    one["threshold"] =
        row.threshold < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row.threshold);
    one["states"] = row.states;
    one["calls"] = row.calls;
    one["bytes"] = row.bytes;
    one["predicted_ns"] = row.predicted_ns;
    one["measured_ns"] = row.measured_ns;
    one["reason"] = row.reason;
    out["collectives"].push_back(std::move(one));
  }
  out["native"] = nlohmann::ordered_json::array();
  for (const auto& [what, calls] : all.native) {
    out["native"].push_back(
        {{"collective", what.first}, {"calls", calls}, {"reason", what.second}});
  }
  return out;
}

}  // namespace

void record(const Entry& entry) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const std::uint64_t from = size_class(entry.bytes);
  const std::string level =
      entry.per_node > 1 ? fmt::format("two-level, {} a node: ", entry.per_node) : "";
  std::string label = level + planner::describe(*entry.plan);
  if (!entry.plan->native() && entry.plan->start != topology::CircuitState::ring()) {
    label += " from " + to_string(entry.plan->start);
  }
  Row& row = all.rows[{std::string(entry.collective), entry.ranks, from, label}];
  if (row.calls == 0) {
    row.ranks = entry.ranks;
    row.algorithm = entry.plan->algorithm_name();
    row.label = std::move(label);
    row.threshold = entry.plan->threshold;
    row.states = planner::state_list(*entry.plan);
    row.reason = level + planner::reason(*entry.table, *entry.plan, entry.bytes);
  }
  ++row.calls;
  row.bytes += entry.bytes;
  row.predicted_ns += entry.predicted_ns;
  row.measured_ns += entry.measured_ns;
  all.fabric = entry.fabric;
}

void record_native(std::string_view collective, std::string_view reason) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  ++all.native[{std::string(collective), std::string(reason)}];
}

void write(const config::Settings& settings) {
  if (settings.report.empty()) return;
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (settings.report == "-") {
    write_table(all);
    return;
  }
  std::ofstream file(settings.report);
  file << to_json(all, settings).dump(2) << '\n';
  file.flush();
  if (!file) {
    std::fprintf(stderr, "shortcut: cannot write the report to SHORTCUT_REPORT='%s'\n",
                 settings.report.c_str());
  }
}

}  // namespace shortcut::report
