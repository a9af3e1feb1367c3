// The choice across algorithms, and its table: computed once per communicator, looked up per call.
//
// With Eq. 1 a candidate is a line over the message size, so the best choice over all sizes is the
// lower envelope of the lines: a short sorted table. The thresholds' lines are all at hand; of the
// state search's there are too many, so its envelope is found by bisection: where the lines that
// are best at two sizes cross, either nothing is better, and the crossing is a bound of the table,
// or something is, and both sides are looked at. A call never plans.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "planner/state_search.hpp"

namespace shortcut::planner {

/// One row of a selection table: from `from_bytes` (inclusive) up to the next row's.
struct TableRow {
  double from_bytes = 0;
  Plan plan;
};

/// Message size -> plan, for one collective, one kind of operation and one starting state.
class SelectionTable {
 public:
  /// Binary search over the rows; never empty.
  const Plan& lookup(double bytes) const;
  const std::vector<TableRow>& rows() const { return rows_; }
  /// Ring's line from the same start; meaningful when has_ring().
  const model::Line& ring() const { return ring_; }
  bool has_ring() const { return has_ring_; }
  /// What each algorithm costs by its best threshold, where the table is the state search's and
  /// starts from the ring; for comparison.
  struct Threshold {
    std::string_view algorithm;
    double ns = 0;
  };
  std::vector<Threshold> by_thresholds(double bytes) const;

  /// What the user asked for, as far as it decides: an algorithm (empty: none) and why it cannot
  /// serve these calls (empty: it can), the gain that Ring must be beaten by, a threshold (-1:
  /// any).
  struct Asked {
    std::string_view algorithm;
    std::string_view cannot;
    double min_gain = 1;
    int threshold = -1;
  };
  const Asked& asked() const { return asked_; }

 private:
  friend class Selector;
  friend class TorusSelector;
  Asked asked_;
  std::vector<double> from_;  // rows_[i].from_bytes, packed for the search
  std::vector<TableRow> rows_;
  model::Line ring_;
  bool has_ring_ = false;
  std::vector<std::pair<std::string_view, model::Line>> thresholds_;
};

/// All that a communicator of `ranks` ranks needs to choose: routed schedules and selection tables
/// for every starting state that its own plans can leave behind.
class Selector {
 public:
  /// `options.algorithm` must be "auto" or a registry name (see check_options).
  Selector(Options options, int ranks);

  int ranks() const { return ranks_; }
  const Options& options() const { return options_; }

  /// The plan for a call; O(log rows). `start`: the state that the fabric is in, one that a plan of
  /// this selector left. Native when no algorithm can serve the call.
  const Plan& select(schedule::Collective collective, schedule::Operands operands,
                     topology::CircuitState start, double bytes) const {
    return table(collective, operands, start).lookup(bytes);
  }
  const SelectionTable& table(schedule::Collective collective, schedule::Operands operands,
                              topology::CircuitState start) const;

  /// Every candidate from `start`, for reports and the command line: all thresholds and, with the
  /// state search, what it finds at this size.
  std::vector<Candidate> all_candidates(schedule::Collective collective,
                                        schedule::Operands operands, topology::CircuitState start,
                                        double bytes) const;
  /// The rule applied at one size; index into `candidates`, or -1 when there is none.
  int choose(const std::vector<Candidate>& candidates, double bytes) const;

  /// Makes the tables for a starting state that no plan of this selector need leave, and for those
  /// that follow from it. Tables and plans made before stay where they are. Not thread-safe.
  void prepare(topology::CircuitState start);
  /// Starting states for which there are tables.
  const std::vector<topology::CircuitState>& starts() const { return starts_; }

 private:
  /// May this algorithm serve: by what it can do, and by what the options ask for?
  bool admits(const RoutedSchedule& routed, schedule::Operands operands) const;
  bool forced(schedule::Collective collective, schedule::Operands operands) const;
  std::vector<Candidate> thresholds(schedule::Collective collective, schedule::Operands operands,
                                    topology::CircuitState start) const;
  SelectionTable build(schedule::Collective collective, schedule::Operands operands,
                       topology::CircuitState start) const;
  SelectionTable build_from_thresholds(schedule::Collective collective, schedule::Operands operands,
                                       topology::CircuitState start) const;
  SelectionTable build_from_search(schedule::Collective collective, schedule::Operands operands,
                                   topology::CircuitState start) const;
  std::size_t start_index(topology::CircuitState start) const;

  Options options_;
  int ranks_;
  std::array<std::deque<RoutedSchedule>, 3> routed_;  // per collective
  std::array<std::vector<StateSearch>, 3> searches_;  // the same, or empty: thresholds only
  std::vector<topology::CircuitState> starts_;
  /// tables_[start][collective * 3 + operands]
  std::deque<std::array<SelectionTable, 9>> tables_;
};

/// Checks what Options cannot express by type. The error names the field, the value and what is
/// allowed.
Status check_options(const Options& options);

/// One line: why this plan at this size.
std::string reason(const SelectionTable& table, const Plan& plan, double bytes);

}  // namespace shortcut::planner
