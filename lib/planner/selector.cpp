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
using schedule::Operands;
using topology::CircuitState;

bool is_ring(const Candidate& candidate) { return candidate.routed->algorithm().name == "ring"; }

/// Slopes that differ by rounding only would cross far out, where prices are rounding too.
constexpr double kSlopeRounding = 1e-12;

/// Up to rounding.
bool same_line(const model::Line& left, const model::Line& right) {
  const auto close = [](double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
  };
  return close(left.fixed_ns, right.fixed_ns) && close(left.per_byte_ns, right.per_byte_ns);
}

template <class Priced>
struct PricedPiece {
  double from = 0;
  Priced priced;
};

/// The lower envelope of lines that can only be asked for one size at a time: best(bytes) has the
/// `line` that is least there.
template <class Priced, class Best>
class Bisection {
 public:
  using Piece = PricedPiece<Priced>;
  explicit Bisection(const Best& best) : best_(best) {}

  /// From 0 to 1 PB and on: a crossing below a byte or beyond would make no difference.
  std::vector<Piece> find() {
    constexpr double kSmallest = 1.0 / 1024;
    constexpr double kLargest = 1e15;
    const Priced low = best_(kSmallest);
    pieces_.push_back({0, low});
    split(kSmallest, low, kLargest, best_(kLargest));
    return std::move(pieces_);
  }

 private:
  void split(double low_bytes, const Priced& low, double high_bytes, const Priced& high) {
    if (same_line(low.line, high.line)) return;
    const double slope = low.line.per_byte_ns - high.line.per_byte_ns;
    const double cross = (high.line.fixed_ns - low.line.fixed_ns) / slope;
    // Lines that differ by rounding only may cross outside; either will do.
    if (!(cross > low_bytes && cross < high_bytes)) {
      add(std::isfinite(cross) ? std::clamp(cross, low_bytes, high_bytes) : high_bytes, high);
      return;
    }
    const Priced middle = best_(cross);
    const double known = std::min(low.line.at(cross), high.line.at(cross));
    if (middle.line.at(cross) >= known * (1 - 1e-12)) {
      add(cross, high);
      return;
    }
    split(low_bytes, low, cross, middle);
    split(cross, middle, high_bytes, high);
  }

  void add(double from, const Priced& priced) {
    if (from <= pieces_.back().from) {
      pieces_.back().priced = priced;
    } else {
      pieces_.push_back({from, priced});
    }
  }

  const Best& best_;
  std::vector<Piece> pieces_;
};

template <class Priced, class Best>
std::vector<PricedPiece<Priced>> lower_envelope_of(const Best& best) {
  return Bisection<Priced, Best>(best).find();
}

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
      routed.emplace_back(row, collective, ranks, options_.fabric.antipodal,
                          options_.fabric.base_ring, options_.all_ports);
    }
    if (!searches_states(options_)) continue;
    auto& searches = searches_[static_cast<std::size_t>(collective)];
    for (const RoutedSchedule& each : routed) searches.emplace_back(options_, each);
  }
  starts_.push_back(CircuitState::ring());
  for (std::size_t s = 0; s < starts_.size(); ++s) {
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
