#include "planner/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "planner/envelope.hpp"
#include "planner/torus_plan.hpp"
#include "schedule/torus.hpp"
#include "support/units.hpp"

namespace shortcut::planner {
namespace {

using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

bool is_ring(const Candidate& candidate) { return candidate.routed->algorithm().name == "ring"; }

}  // namespace

const Plan& SelectionTable::lookup(double bytes) const {
  const auto next = std::upper_bound(from_.begin() + 1, from_.end(), bytes);
  return rows_[static_cast<std::size_t>(next - from_.begin()) - 1].plan;
}

std::vector<SelectionTable::Threshold> SelectionTable::by_thresholds(double bytes) const {
  std::vector<Threshold> best;
  for (const auto& [algorithm, line] : thresholds_) {
    if (best.empty() || best.back().algorithm != algorithm) {
      best.push_back({algorithm, line.at(bytes)});
    } else {
      best.back().ns = std::min(best.back().ns, line.at(bytes));
    }
  }
  return best;
}

Status check_options(const Options& options) {
  if (options.algorithm != "auto") {
    const auto found = schedule::find_algorithm(options.algorithm);
    if (!found.ok()) return found.error();
  }
  if (!(options.min_gain > 0) || !std::isfinite(options.min_gain)) {
    return Error{fmt::format("min_gain {} is not a number above 0", options.min_gain)};
  }
  return {};
}

Selector::Selector(Options options, int ranks) : options_(std::move(options)), ranks_(ranks) {
  assert(check_options(options_).ok());
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
    auto& routed = routed_[static_cast<std::size_t>(collective)];
    for (const schedule::Algorithm& row : schedule::algorithms()) {
      if (ranks < 2 || !row.cannot(collective, ranks, true).empty()) continue;
      if (row.all_ports_only && !options_.all_ports) continue;
      const bool halves = collective != Collective::allreduce || schedule::can_scatter(row, ranks);
      if (options_.two_halves && !halves) continue;
      routed.emplace_back(row, collective, ranks, options_.fabric.antipodal,
                          options_.fabric.base_ring, options_.all_ports);
    }
    if (!searches_states(options_)) continue;
    auto& searches = searches_[static_cast<std::size_t>(collective)];
    for (const RoutedSchedule& each : routed) searches.emplace_back(options_, each);
  }
  prepare(CircuitState::ring());
}

void Selector::prepare(CircuitState start) {
  if (std::find(starts_.begin(), starts_.end(), start) != starts_.end()) return;
  starts_.push_back(start);
  for (std::size_t s = tables_.size(); s < starts_.size(); ++s) {
    auto& row = tables_.emplace_back();
    for (std::size_t slot = 0; slot < row.size(); ++slot) {
      row[slot] =
          build(static_cast<Collective>(slot / 3), static_cast<Operands>(slot % 3), starts_[s]);
      if (options_.restore != Restore::lazy) continue;
      for (const TableRow& entry : row[slot].rows()) {
        const bool known =
            std::find(starts_.begin(), starts_.end(), entry.plan.end) != starts_.end();
        if (!known) starts_.push_back(entry.plan.end);
      }
    }
  }
}

std::size_t Selector::start_index(CircuitState start) const {
  const auto found = std::find(starts_.begin(), starts_.end(), start);
  assert(found != starts_.end() && "a state that one of this selector's plans left");
  return static_cast<std::size_t>(found - starts_.begin());
}

const SelectionTable& Selector::table(Collective collective, Operands operands,
                                      CircuitState start) const {
  const std::size_t slot =
      static_cast<std::size_t>(collective) * 3 + static_cast<std::size_t>(operands);
  return tables_[start_index(start)][slot];
}

bool Selector::forced(Collective collective, Operands operands) const {
  const auto& routed = routed_[static_cast<std::size_t>(collective)];
  return std::any_of(routed.begin(), routed.end(), [&](const RoutedSchedule& each) {
    return each.algorithm().name == options_.algorithm &&
           each.algorithm().cannot(collective, ranks_, operands).empty();
  });
}

bool Selector::admits(const RoutedSchedule& routed, Operands operands) const {
  const schedule::Algorithm& row = routed.algorithm();
  if (!row.cannot(routed.collective(), ranks_, operands).empty()) return false;
  // Ring is always there: it is what the others are measured against. An algorithm that is asked
  // for but cannot serve this call leaves the choice free.
  return options_.algorithm == row.name || row.name == "ring" ||
         !forced(routed.collective(), operands);
}

std::vector<Candidate> Selector::all_candidates(Collective collective, Operands operands,
                                                CircuitState start, double bytes) const {
  std::vector<Candidate> all = thresholds(collective, operands, start);
  for (const StateSearch& search : searches_[static_cast<std::size_t>(collective)]) {
    if (search.routed().algorithm().reconfigures && admits(search.routed(), operands)) {
      all.push_back(search.at(bytes, start));
    }
  }
  return all;
}

std::vector<Candidate> Selector::thresholds(Collective collective, Operands operands,
                                            CircuitState start) const {
  std::vector<Candidate> all;
  for (const RoutedSchedule& routed : routed_[static_cast<std::size_t>(collective)]) {
    if (!admits(routed, operands)) continue;
    const std::vector<Candidate> own = candidates(options_, routed, start);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

int Selector::choose(const std::vector<Candidate>& all, double bytes) const {
  // A forced algorithm is taken whatever Ring would cost.
  const bool forced = options_.algorithm != "auto" &&
                      std::any_of(all.begin(), all.end(), [this](const Candidate& candidate) {
                        return candidate.routed->algorithm().name == options_.algorithm;
                      });
  const Candidate* ring = nullptr;
  for (const Candidate& candidate : all) {
    if (is_ring(candidate)) ring = &candidate;
  }
  const auto price_of = [&](const Candidate& candidate) {
    const bool scaled = ring != nullptr && !forced && !is_ring(candidate);
    return candidate.line.at(bytes) * (scaled ? options_.min_gain : 1.0);
  };
  int best = -1;
  double best_ns = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (forced && all[i].routed->algorithm().name != options_.algorithm) continue;
    const double ns = price_of(all[i]);
    if (options_.rule == Rule::first_feasible && ring != nullptr && !is_ring(all[i])) {
      // Each algorithm competes with its smallest feasible T: candidates come with T falling, so
      // one with a later feasible one of its algorithm behind it is out.
      const double limit = ring->line.at(bytes);
      if (ns > limit && !forced) continue;
      bool smaller = false;
      for (std::size_t j = i + 1; j < all.size() && all[j].routed == all[i].routed; ++j) {
        smaller |= price_of(all[j]) <= limit;
      }
      if (smaller) continue;
    }
    if (ns < best_ns) {
      best = static_cast<int>(i);
      best_ns = ns;
    }
  }
  return best;
}

SelectionTable Selector::build(Collective collective, Operands operands, CircuitState start) const {
  SelectionTable table = searches_[static_cast<std::size_t>(collective)].empty()
                             ? build_from_thresholds(collective, operands, start)
                             : build_from_search(collective, operands, start);
  table.asked_ = {{}, {}, options_.min_gain, options_.threshold};
  if (const auto found = schedule::find_algorithm(options_.algorithm); found.ok()) {
    table.asked_.algorithm = found.value()->name;
    const bool ports = found.value()->all_ports_only && !options_.all_ports;
    table.asked_.cannot = ports ? "needs both ports of every rank (ports = all)"
                                : found.value()->cannot(collective, ranks_, operands);
  }
  return table;
}

SelectionTable Selector::build_from_search(Collective collective, Operands operands,
                                           CircuitState start) const {
  SelectionTable table;
  const bool is_forced = forced(collective, operands);
  std::vector<const StateSearch*> searches;
  for (const StateSearch& search : searches_[static_cast<std::size_t>(collective)]) {
    if (!admits(search.routed(), operands)) continue;
    const std::string_view name = search.routed().algorithm().name;
    if (name == "ring") {
      table.has_ring_ = true;
      table.ring_ = search.at(1, start).line;
    }
    if (!is_forced || name == options_.algorithm) searches.push_back(&search);
  }
  const auto add = [&](double from, Plan plan) {
    table.from_.push_back(from);
    table.rows_.push_back({from, std::move(plan)});
  };
  if (searches.empty()) {
    Plan native;
    native.start = native.end = start;
    add(0, native);
    return table;
  }
  struct Priced {
    Candidate candidate;
    model::Line line;
  };
  const auto best = [&](double bytes) {
    Priced least;
    double least_ns = std::numeric_limits<double>::infinity();
    for (const StateSearch* search : searches) {
      Candidate found = search->at(bytes, start);
      const bool scaled = table.has_ring_ && !is_forced && !is_ring(found);
      const model::Line line = found.line.scaled(scaled ? options_.min_gain : 1.0);
      if (line.at(bytes) < least_ns) {
        least_ns = line.at(bytes);
        least = {std::move(found), line};
      }
    }
    return least;
  };
  for (const auto& piece : lower_envelope_of<Priced>(best)) {
    add(piece.from, expand(options_, piece.priced.candidate, start));
  }
  if (start == CircuitState::ring()) {
    for (const Candidate& candidate : thresholds(collective, operands, start)) {
      if (!candidate.routed->algorithm().reconfigures) continue;
      table.thresholds_.emplace_back(candidate.routed->algorithm().name, candidate.line);
    }
  }
  return table;
}

SelectionTable Selector::build_from_thresholds(Collective collective, Operands operands,
                                               CircuitState start) const {
  SelectionTable table;
  const std::vector<Candidate> all = thresholds(collective, operands, start);
  const auto add = [&](double from, const Candidate* candidate) {
    table.from_.push_back(from);
    table.rows_.push_back({from, candidate ? expand(options_, *candidate, start) : Plan{}});
    if (!candidate) table.rows_.back().plan.start = table.rows_.back().plan.end = start;
  };
  if (all.empty()) {
    add(0, nullptr);
    return table;
  }
  std::vector<model::Line> lines;
  std::vector<std::size_t> index;
  std::size_t ring = all.size();
  const bool forced = std::any_of(all.begin(), all.end(), [this](const Candidate& candidate) {
    return candidate.routed->algorithm().name == options_.algorithm;
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_ring(all[i])) {
      ring = i;
      table.ring_ = all[i].line;
      table.has_ring_ = true;
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (forced && all[i].routed->algorithm().name != options_.algorithm) continue;
    const bool scaled = table.has_ring_ && !forced && i != ring;
    lines.push_back(all[i].line.scaled(scaled ? options_.min_gain : 1.0));
    index.push_back(i);
  }
  if (options_.rule == Rule::best || !table.has_ring_ || (forced && options_.algorithm == "ring")) {
    for (const EnvelopePiece& piece : lower_envelope(lines)) {
      add(piece.from, &all[index[piece.line]]);
    }
    return table;
  }
  // first-feasible: feasibility changes where a line crosses Ring's, and between algorithms the
  // cheaper one changes where two lines cross; decide between any two crossings.
  lines.push_back(table.ring_);
  std::vector<double> sizes{0};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<double> own = crossings(lines, i);
    sizes.insert(sizes.end(), own.begin(), own.end());
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  int held = -2;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double middle = i + 1 < sizes.size() ? (sizes[i] + sizes[i + 1]) / 2 : sizes[i] * 2 + 1;
    const int chosen = choose(all, middle);
    if (chosen == held) continue;
    held = chosen;
    add(sizes[i], &all[static_cast<std::size_t>(chosen)]);
  }
  return table;
}

std::string reason(const SelectionTable& table, const Plan& plan, double bytes) {
  if (plan.torus) return torus_reason(table, plan, bytes);
  if (plan.native()) return "no algorithm can serve this call; the MPI library's own runs it";
  const SelectionTable::Asked& asked = table.asked();
  const bool forced = asked.algorithm == plan.algorithm_name();
  const double own = plan.predicted_ns(bytes);
  std::string text;
  if (!asked.cannot.empty()) {
    text = fmt::format("{} was asked for but {}; ", asked.algorithm, asked.cannot);
  }
  text += describe(plan) + ": ";
  if (forced) text += "asked for; ";
  if (plan.algorithm_name() == "ring") {
    if (forced) return text + format_time_ns(own);
    const std::string with =
        asked.threshold < 0 ? "" : fmt::format(" with threshold {}", asked.threshold);
    if (asked.min_gain == 1) {
      return fmt::format("{}nothing else{} is predicted below its {}", text, with,
                         format_time_ns(own));
    }
    return fmt::format("{}nothing else{} gains min_gain {} over its {}", text, with, asked.min_gain,
                       format_time_ns(own));
  }
  if (!table.has_ring()) {
    return fmt::format("{}{}; ring cannot serve this operation", text, format_time_ns(own));
  }
  const double ring = table.ring().at(bytes);
  text += fmt::format("{} against ring's {} ({:.2f}x), {} reconfiguration{}", format_time_ns(own),
                      format_time_ns(ring), ring / own, plan.reconfigurations,
                      plan.reconfigurations == 1 ? "" : "s");
  if (!forced && own > ring) text += fmt::format("; min_gain {} allows it", asked.min_gain);
  if (plan.threshold >= 0) return text;
  std::vector<std::string> others;
  for (const auto& [algorithm, ns] : table.by_thresholds(bytes)) {
    others.push_back(fmt::format("{} {}", algorithm, format_time_ns(ns)));
  }
  if (!others.empty()) text += fmt::format("; by thresholds {}", fmt::join(others, ", "));
  return text;
}

}  // namespace shortcut::planner
