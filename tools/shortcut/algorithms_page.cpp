// docs/algorithms.md: the registry as a page, with where each algorithm wins on a grid.
#include <fmt/format.h>

#include <array>
#include <deque>
#include <limits>

#include "planner/plan.hpp"
#include "schedule/registry.hpp"
#include "shortcut/commands.hpp"
#include "support/units.hpp"

namespace shortcut::cli {
namespace {

using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

struct Startup {
  double alpha_s_ns;
  double alpha_p_ns;
};

// The grid.
constexpr int kFewestRanks = 2;
constexpr int kMostRanks = 64;
constexpr std::array<Startup, 3> kStartups{{{500, 500}, {5000, 500}, {100, 1000}}};
constexpr std::array<double, 4> kDeltasNs{100, 1e3, 1e4, 1e6};
constexpr int kSizes = 10;  // 8 B, 64 B, ..., 1 GiB
constexpr std::uint64_t kSizeFactor = 8;

/// What is asked for: a column of the table of shares.
struct Kind {
  std::string_view name;
  Collective collective;
  Operands operands;
};
constexpr std::array<Kind, 6> kKinds{
    {{"AllReduce", Collective::allreduce, Operands::commutative},
     {"AllReduce, exact", Collective::allreduce, Operands::exact},
     {"ReduceScatter", Collective::reduce_scatter, Operands::commutative},
     {"AllGather", Collective::allgather, Operands::exact},
     {"AllReduce in order", Collective::allreduce, Operands::in_order},
     {"ReduceScatter in order", Collective::reduce_scatter, Operands::in_order}}};

/// Of one algorithm.
struct Wins {
  std::array<std::array<int, 2>, kKinds.size()> cells{};  // [kind][all ports]
  double gain = 1;                                        // the next best's time over its own
  std::string where;
};

class Grid {
 public:
  Grid() : wins_(schedule::algorithms().size()) {
    for (const bool all_ports : {false, true}) {
      for (int ranks = kFewestRanks; ranks <= kMostRanks; ++ranks) {
        for (std::size_t kind = 0; kind < kKinds.size(); ++kind) visit(kind, ranks, all_ports);
      }
    }
  }

  const Wins& wins(std::size_t algorithm) const { return wins_[algorithm]; }
  static int cells_of_kind() {
    return (kMostRanks - kFewestRanks + 1) * static_cast<int>(kStartups.size()) *
           static_cast<int>(kDeltasNs.size()) * kSizes;
  }

 private:
  void visit(std::size_t kind, int ranks, bool all_ports) {
    planner::Options options;
    options.restore = planner::Restore::none;
    options.all_ports = all_ports;
    std::deque<planner::RoutedSchedule> routed;
    for (const schedule::Algorithm& row : schedule::algorithms()) {
      if (!row.cannot(kKinds[kind].collective, ranks, kKinds[kind].operands).empty()) continue;
      if (row.all_ports_only && !all_ports) continue;
      routed.emplace_back(row, kKinds[kind].collective, ranks, options.fabric.antipodal,
                          options.fabric.base_ring, all_ports);
    }
    for (const Startup& startup : kStartups) {
      for (const double delta_ns : kDeltasNs) {
        options.fabric.alpha_s_ns = startup.alpha_s_ns;
        options.fabric.alpha_p_ns = startup.alpha_p_ns;
        options.fabric.delta_ns = delta_ns;
        price(kind, options, routed);
      }
    }
  }

  /// One cell per size: the cheapest wins, of equals the first in the registry, as the planner has
  /// it.
  void price(std::size_t kind, const planner::Options& options,
             const std::deque<planner::RoutedSchedule>& routed) {
    std::array<const planner::RoutedSchedule*, kSizes> best{};
    std::array<double, kSizes> best_ns;
    std::array<double, kSizes> next_ns;
    best_ns.fill(std::numeric_limits<double>::infinity());
    next_ns.fill(std::numeric_limits<double>::infinity());
    for (const planner::RoutedSchedule& one : routed) {
      const auto candidates = planner::candidates(options, one, CircuitState::ring());
      std::uint64_t bytes = kSizeFactor;
      for (std::size_t s = 0; s < kSizes; ++s, bytes *= kSizeFactor) {
        double own_ns = std::numeric_limits<double>::infinity();
        for (const planner::Candidate& candidate : candidates) {
          own_ns = std::min(own_ns, candidate.line.at(static_cast<double>(bytes)));
        }
        constexpr double kRounding = 1e-9;  // sums in another order are no win
        if (own_ns < best_ns[s] * (1 - kRounding)) {
          next_ns[s] = best_ns[s];
          best_ns[s] = own_ns;
          best[s] = &one;
        } else {
          next_ns[s] = std::min(next_ns[s], own_ns);
        }
      }
    }
    std::uint64_t bytes = kSizeFactor;
    for (std::size_t s = 0; s < kSizes; ++s, bytes *= kSizeFactor) {
      if (best[s] == nullptr) continue;
      const auto row = &best[s]->algorithm() - schedule::algorithms().data();
      Wins& wins = wins_[static_cast<std::size_t>(row)];
      ++wins.cells[kind][options.all_ports ? 1 : 0];
      const double gain = next_ns[s] / best_ns[s];
      if (gain > wins.gain * (1 + 1e-9) && gain < std::numeric_limits<double>::infinity()) {
        wins.gain = gain;
        wins.where = fmt::format(
            "{} of {} on {} ranks, alpha_s {}, alpha_p {}, delta {}, ports {}", kKinds[kind].name,
            format_bytes(bytes), best[s]->schedule().ranks,
            format_time_ns(options.fabric.alpha_s_ns), format_time_ns(options.fabric.alpha_p_ns),
            format_time_ns(options.fabric.delta_ns), options.all_ports ? "all" : "1");
      }
    }
  }

  std::vector<Wins> wins_;
};

std::string percent(int cells) {
  if (cells == 0) return "-";
  return fmt::format("{:.1f}", 100.0 * cells / Grid::cells_of_kind());
}

template <class Values, class Text>
std::string listed(const Values& values, std::string_view separator, const Text& text) {
  std::string list;
  for (const auto& value : values) list += std::string(list.empty() ? "" : separator) + text(value);
  return list;
}

}  // namespace

std::string collectives_of(const schedule::Algorithm& row) {
  std::string names;
  for (const auto collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
    if (!row.offers(collective)) continue;
    names += names.empty() ? "" : ", ";
    names += schedule::to_string(collective);
  }
  return names;
}

std::string needs_of(const schedule::Algorithm& row) {
  std::string needs;
  const auto need = [&needs](std::string_view what) {
    needs += needs.empty() ? "" : "; ";
    needs += what;
  };
  if (row.power_of_two_only) need("a power of two of ranks");
  if (row.even_only) need("an even number of ranks");
  if (row.minimum_ranks > 1) need(fmt::format("{} ranks or more", row.minimum_ranks));
  if (row.largest_factor > 0) {
    need(fmt::format("ranks without a prime factor above {}", row.largest_factor));
  }
  if (row.all_ports_only) need("two ports used at once");
  if (row.exact_only)
    need("an operation that never rounds");
  else if (row.commutative_only)
    need("a commutative operation where it reduces");
  return needs.empty() ? "nothing" : needs;
}

std::string algorithms_page() {
  const Grid grid;
  std::string text =
      "# Algorithms\n\n"
      "Written by `shortcut info --algorithms --markdown` from the registry; a test compares.\n"
      "n: ranks, m: bytes of the whole vector. Each algorithm's file in `lib/schedule` opens with\n"
      "its idea and a drawing.\n\n"
      "| algorithm | idea | collectives | steps | bytes sent per rank | needs | rewires | blocks "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const schedule::Algorithm& row : schedule::algorithms()) {
    const bool by_rank = row.reduce_scatter || row.allgather;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", row.name, row.summary,
                        collectives_of(row), row.steps, row.bytes, needs_of(row),
                        row.reconfigures ? "yes" : "no",
                        !by_rank            ? "full vector"
                        : row.in_rank_order ? "rank order"
                                            : "permuted");
  }
  text += fmt::format(
      "\n## Where each wins\n\n"
      "By the cost model, on a grid: {} to {} ranks; sizes {}; (alpha_s, alpha_p) {}; delta {};\n"
      "800 Gb/s; every plan from the ring, thresholds free; {} cells a column. The share of the\n"
      "cells, in percent, in which it is the cheapest (of equals the first in the table): with "
      "one\n"
      "port a rank / with both at once. *In order*: operations that do not\n"
      "commute; *exact*: those that never round (integers).\n\n",
      kFewestRanks, kMostRanks, "8 B, 64 B, 512 B, ... 1 GiB",
      listed(kStartups, ", ",
             [](const Startup& pair) {
               return fmt::format("({}, {})", format_time_ns(pair.alpha_s_ns),
                                  format_time_ns(pair.alpha_p_ns));
             }),
      listed(kDeltasNs, ", ", [](double delta_ns) { return format_time_ns(delta_ns); }),
      Grid::cells_of_kind());
  std::string rule = "|---|";
  text += "| algorithm |";
  for (const Kind& kind : kKinds) {
    text += fmt::format(" {} |", kind.name);
    rule += "---|";
  }
  text += " largest gain over the next best | there |\n" + rule + "---|---|\n";
  for (std::size_t i = 0; i < schedule::algorithms().size(); ++i) {
    const Wins& wins = grid.wins(i);
    text += fmt::format("| `{}` |", schedule::algorithms()[i].name);
    for (const auto& cells : wins.cells) {
      text += cells[0] + cells[1] == 0
                  ? " |"
                  : fmt::format(" {} / {} |", percent(cells[0]), percent(cells[1]));
    }
    text += wins.where.empty() ? " | |\n" : fmt::format(" {:.2f}x | {} |\n", wins.gain, wins.where);
  }
  return text;
}

}  // namespace shortcut::cli
