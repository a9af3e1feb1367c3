// One row per algorithm: what it is called, what it can do, and how its steps are made.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "schedule/schedule.hpp"
#include "support/result.hpp"
#include "topology/closed_form.hpp"

namespace shortcut::schedule {

/// What a reduction lets an algorithm do with its operands.
enum class Operands : std::uint8_t {
  in_order,     ///< combine in rank order only (not commutative, or deterministic)
  commutative,  ///< any order, the same for all ranks: rounding shows the order
  exact,        ///< any order, each rank its own: integers, and where nothing is combined
};

struct Algorithm {
  std::string_view name;     ///< registry name, also its file's name
  std::string_view summary;  ///< one line
  std::string_view steps;    ///< number of steps, as a formula
  std::string_view bytes;    ///< bytes sent per rank, as a formula
  bool allreduce = false;
  bool reduce_scatter = false;
  bool allgather = false;
  bool commutative_only = false;   ///< cannot combine in rank order
  bool exact_only = false;         ///< ranks combine the same values each in an order of its own
  bool power_of_two_only = false;  ///< rank counts
  bool even_only = false;          ///< rank counts
  int minimum_ranks = 1;           ///< a single rank always does: it has no steps
  int largest_factor = 0;          ///< no prime factor of n exceeds it; 0: any n
  bool all_ports_only = false;     ///< needs ranks that use two ports at once
  bool in_rank_order = false;      ///< on a plain ring, schedule order is rank order
  bool single_blocks = false;      ///< a step carries blocks of one rank only
  bool reconfigures = false;       ///< has steps with a direct circuit state
  /// Several ranks compute the same values, each in its own order of operands.
  bool repeats_reductions = false;
  topology::Pattern pattern = topology::Pattern::neighbours;  ///< of its steps of level >= 0
  Schedule (*make)(const Request&) = nullptr;
  RankSchedule (*for_rank)(const Schedule&, int rank) = nullptr;

  bool offers(Collective collective) const;
  /// Why it cannot serve `ranks` ranks and this operation; empty when it can.
  std::string_view cannot(Collective collective, int ranks, Operands operands) const;
  std::string_view cannot(Collective collective, int ranks, bool commutative) const {
    return cannot(collective, ranks, commutative ? Operands::exact : Operands::in_order);
  }
};

/// All rows, in the order in which ties are broken.
std::span<const Algorithm> algorithms();

/// The row of that name. The error names what is allowed.
Result<const Algorithm*> find_algorithm(std::string_view name);

/// Makes a schedule; request.ranks >= 1 and algorithm.cannot(...) must be empty (asserted).
Schedule make_schedule(const Algorithm& algorithm, const Request& request);
inline Schedule make_schedule(const Algorithm& algorithm, Collective collective, int ranks) {
  return make_schedule(algorithm, Request{.collective = collective, .ranks = ranks});
}

}  // namespace shortcut::schedule
