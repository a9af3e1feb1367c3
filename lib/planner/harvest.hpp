// Planning on a `circulant` fabric: every port is switched, and the circuits are those of one
// directed circulant at a time, u -> u + g (mod n) for a generator g.
//
// An algorithm is a sequence of shifts, u -> u + distance. A run of steps between two
// reconfigurations, a *segment*, keeps one generator; the plan is the cut into segments that costs
// least (Harvest, Lemma 1 and Theorem 1). A step costs what model::step_cost says. The circuits of
// the first segment are there when the collective starts. See docs/harvest.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cost.hpp"

namespace shortcut::planner {

/// What can be planned on circulants; only the first three can also be run by this library.
enum class CirculantCollective : std::uint8_t {
  allreduce,
  reduce_scatter,
  allgather,
  alltoall,   ///< m is what a rank sends to all ranks together
  broadcast,  ///< from rank 0
};

/// One step: the senders each send `share` of the message to u + distance (mod n).
struct Shift {
  int distance = 1;  ///< 1..n-1
  double share = 0;  ///< 0..1
  int repeat = 1;    ///< equal steps in a row, never cut apart
  /// Who sends; empty: everybody, a full permutation.
  std::vector<int> senders = {};
};

/// One row per algorithm.
struct ShiftAlgorithm {
  std::string_view name;
  std::string_view summary;
  std::vector<CirculantCollective> collectives;
  bool power_of_two_only = false;
  int maximum_nodes = 65536;  ///< above it the search over generators takes too long
  std::vector<Shift> (*make)(CirculantCollective collective, int nodes) = nullptr;

  /// Why it cannot serve the collective on so many nodes (>= 2); empty: it can.
  std::string cannot(CirculantCollective collective, int nodes) const;
};

std::span<const ShiftAlgorithm> shift_algorithms();
/// nullptr when there is none of that name.
const ShiftAlgorithm* find_shift_algorithm(std::string_view name);

/// The circulant of one generator, 1 <= generator < nodes.
class Circulant {
 public:
  Circulant(int nodes, int generator);
  /// Hops: the smallest k > 0 with k * generator = distance (mod n). A full permutation loads every
  /// link with as many flows; with fewer senders the load is counted. nullopt: unreachable.
  std::optional<topology::Route> route(const Shift& shift) const;

 private:
  int hops(int distance) const;  // 0: unreachable
  int nodes_;
  int orbits_;   // gcd(generator, n): the links form so many cycles
  int order_;    // n / orbits: the length of each
  int inverse_;  // of generator / orbits modulo order
};

/// Cheapest single state for every run of steps first..last: cost, and which state it is.
struct SegmentTable {
  struct Entry {
    double cost_ns = 0;  ///< infinity: no state serves the whole run
    int state = 0;
  };
  explicit SegmentTable(int step_count);
  Entry& at(int first, int last) { return entries[index(first, last)]; }
  const Entry& at(int first, int last) const { return entries[index(first, last)]; }
  std::size_t index(int first, int last) const {
    return static_cast<std::size_t>(first) * static_cast<std::size_t>(steps) +
           static_cast<std::size_t>(last);
  }

  int steps;
  std::vector<Entry> entries;
};

/// Eqs. 5-6 over a finite set of states of any kind: costs_ns[step][state], infinity where a state
/// cannot serve a step. `state` in the result is an index into a row. O(steps^2 * states).
SegmentTable segments_by_search(std::span<const std::vector<double>> costs_ns);

/// The same over all generators of a circulant fabric; `state` is the generator.
SegmentTable segments_on_circulants(const model::FabricParameters& fabric, int nodes, double bytes,
                                    std::span<const Shift> shifts);

/// Holds where n and all distances are powers of two and everybody sends: then the smallest
/// distance of a segment is its best generator (docs/harvest.md has the proof).
bool has_closed_form(int nodes, std::span<const Shift> shifts);

/// Equal to segments_on_circulants where has_closed_form; O(steps^2). For recursive doubling it is
/// Eq. 8.
SegmentTable segments_in_closed_form(const model::FabricParameters& fabric, double bytes,
                                     std::span<const Shift> shifts);

struct Segment {
  int first = 0;  ///< steps first..last
  int last = 0;
  int state = 0;
  bool operator==(const Segment&) const = default;
};

/// DP[a][k] of Lemma 1: the least time of steps a..s-1 with exactly k reconfigurations, without the
/// reconfigurations themselves. O(s^3) for s steps.
class SegmentProgram {
 public:
  explicit SegmentProgram(const SegmentTable& table);
  /// DP[0][k], 0 <= k < steps.
  double steps_ns(int reconfigurations) const;
  /// Theorem 1: the k that minimises DP[0][k] + k * delta; the smallest of several.
  int best(double delta_ns) const;
  std::vector<Segment> segments(int reconfigurations) const;

 private:
  struct Cell {
    double ns = 0;
    int next = 0;  // first step of the following segment
  };
  const Cell& cell(int first, int k) const {
    return cells_[static_cast<std::size_t>(k * steps_ + first)];
  }
  const SegmentTable& table_;
  int steps_;
  std::vector<Cell> cells_;
};

/// How the circuits follow the steps.
enum class CirculantForm : std::uint8_t {
  fixed,       ///< one generator throughout, the best one
  every_step,  ///< each step on the circuits of its own distance (Birkhoff-von Neumann)
  optimal,     ///< Theorem 1
};

/// One run of equal steps of a plan.
struct CirculantStep {
  int generator = 1;
  topology::Route route;
  double flow_bytes = 0;
  bool reconfigured = false;  ///< before the first of the repetitions
  int repeat = 1;
};

struct CirculantPlan {
  const ShiftAlgorithm* algorithm = nullptr;
  CirculantForm form = CirculantForm::optimal;
  double predicted_ns = 0;
  int reconfigurations = 0;
  std::vector<CirculantStep> steps;
};

/// `algorithm` must be able to serve (ShiftAlgorithm::cannot); bytes >= 0.
CirculantPlan plan_on_circulants(const model::FabricParameters& fabric,
                                 const ShiftAlgorithm& algorithm, CirculantCollective collective,
                                 int nodes, double bytes, CirculantForm form);

}  // namespace shortcut::planner
