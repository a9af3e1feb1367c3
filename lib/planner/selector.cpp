#include "planner/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "support/units.hpp"

namespace shortcut::planner {
namespace {

using schedule::Collective;
using topology::CircuitState;

bool is_ring(const Candidate& candidate) { return candidate.routed->algorithm().name == "ring"; }

/// Slopes that differ by rounding only would cross far out, where prices are rounding too.
constexpr double kSlopeRounding = 1e-12;

/// Sizes at which the choice can change: crossings of pairs of lines that the rule compares.
std::vector<double> crossings(const std::vector<model::Line>& lines, std::size_t against) {
  std::vector<double> sizes;
  for (const model::Line& line : lines) {
    const double slope = line.per_byte_ns - lines[against].per_byte_ns;
    if (std::abs(slope) <= kSlopeRounding * std::abs(line.per_byte_ns)) continue;
    const double size = (lines[against].fixed_ns - line.fixed_ns) / slope;
    if (size > 0 && std::isfinite(size)) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

struct EnvelopePiece {
  double from = 0;
  std::size_t line = 0;
};

/// Lower envelope over sizes >= 0; of equal lines the first wins.
std::vector<EnvelopePiece> lower_envelope(const std::vector<model::Line>& lines) {
  std::vector<EnvelopePiece> pieces;
  std::size_t best = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool cheaper = lines[i].fixed_ns < lines[best].fixed_ns;
    const bool flatter =
        lines[i].fixed_ns == lines[best].fixed_ns && lines[i].per_byte_ns < lines[best].per_byte_ns;
    if (cheaper || flatter) best = i;
  }
  double from = 0;
  while (true) {
    pieces.push_back({from, best});
    double next_from = std::numeric_limits<double>::infinity();
    std::size_t next = best;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!(lines[i].per_byte_ns < lines[best].per_byte_ns * (1 - kSlopeRounding))) continue;
      const double size = (lines[i].fixed_ns - lines[best].fixed_ns) /
                          (lines[best].per_byte_ns - lines[i].per_byte_ns);
      const bool sooner = size < next_from;
      const bool flatter = size == next_from && lines[i].per_byte_ns < lines[next].per_byte_ns;
      if (sooner || flatter) {
        next_from = size;
        next = i;
      }
    }
    if (next == best) return pieces;
    best = next;
    from = std::max(from, next_from);
  }
}

}  // namespace

const Plan& SelectionTable::lookup(double bytes) const {
  const auto next = std::upper_bound(from_.begin() + 1, from_.end(), bytes);
  return rows_[static_cast<std::size_t>(next - from_.begin()) - 1].plan;
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
      routed.emplace_back(row, collective, ranks, options_.fabric.antipodal, options_.all_ports);
    }
  }
  starts_.push_back(CircuitState::ring());
  for (std::size_t s = 0; s < starts_.size(); ++s) {
    auto& row = tables_.emplace_back();
    for (std::size_t slot = 0; slot < row.size(); ++slot) {
      row[slot] = build(static_cast<Collective>(slot / 2), slot % 2 == 1, starts_[s]);
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

const SelectionTable& Selector::table(Collective collective, bool commutative,
                                      CircuitState start) const {
  const std::size_t slot = static_cast<std::size_t>(collective) * 2 + (commutative ? 1 : 0);
  return tables_[start_index(start)][slot];
}

std::vector<Candidate> Selector::all_candidates(Collective collective, bool commutative,
                                                CircuitState start) const {
  std::vector<Candidate> all;
  for (const RoutedSchedule& routed : routed_[static_cast<std::size_t>(collective)]) {
    if (!routed.algorithm().cannot(collective, ranks_, commutative).empty()) continue;
    // Ring is always there: it is what the others are measured against.
    const bool wanted = options_.algorithm == "auto" ||
                        options_.algorithm == routed.algorithm().name ||
                        routed.algorithm().name == "ring";
    if (!wanted) continue;
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

SelectionTable Selector::build(Collective collective, bool commutative, CircuitState start) const {
  SelectionTable table;
  const std::vector<Candidate> all = all_candidates(collective, commutative, start);
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
  if (plan.native()) return "no algorithm can serve this call; the MPI library's own runs it";
  const double own = plan.predicted_ns(bytes);
  if (plan.algorithm_name() == "ring") {
    return fmt::format("ring: nothing else is predicted below its {}", format_time_ns(own));
  }
  if (!table.has_ring()) {
    return fmt::format("{}: {}; ring cannot serve this operation", describe(plan),
                       format_time_ns(own));
  }
  const double ring = table.ring().at(bytes);
  return fmt::format("{}: {} against ring's {} ({:.2f}x), {} reconfiguration{}", describe(plan),
                     format_time_ns(own), format_time_ns(ring), ring / own, plan.reconfigurations,
                     plan.reconfigurations == 1 ? "" : "s");
}

}  // namespace shortcut::planner
