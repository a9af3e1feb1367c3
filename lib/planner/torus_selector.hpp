// The choice on a whole torus: which dimension after which, by which ring algorithm on which
// circuits, in one lane or one per dimension.
//
// With one lane the price of a composition is the sum of its parts' prices, and a part's depends on
// the others only by how far they have scattered the message before it: the cheapest order is a
// dynamic program over (dimensions done, dimensions that scattered), exact (but for Restore::eager,
// where dimensions that go back to the ring together pay once, and the program counts each). The
// parts are rows of the ring selection tables. Lanes (all ports in use) are planned part by part in
// the order in which they run, over every rotation of an order of dimensions, and priced exactly.
// Among them are Swing's 2 D mirrored collectives, each in a direction of its own. (Mirrored
// recursive doubling would send both ways through the same port from its second step on.)
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "planner/torus_plan.hpp"

namespace shortcut::planner {

class TorusSelector {
 public:
  /// `dims`: two sizes or more, each >= 2 (asserted). Delta is charged exactly, whatever
  /// `options.accounting` says.
  TorusSelector(Options options, std::vector<int> dims);

  const Options& options() const { return options_; }
  const std::vector<int>& dims() const { return dims_; }

  /// The table for what the switches hold now, made on first use and kept; plans in it live as long
  /// as the selector. Not thread-safe.
  const SelectionTable& table(schedule::Collective collective, schedule::Operands operands,
                              const DimensionStates& held);

  /// The cheapest plan at this very size; native when no algorithm can serve.
  Plan plan(schedule::Collective collective, schedule::Operands operands,
            const DimensionStates& held, double bytes);
  /// Ring in each dimension, what the others are measured against; nullopt where it cannot serve.
  std::optional<Plan> ring_plan(schedule::Collective collective, schedule::Operands operands,
                                const DimensionStates& held, double bytes);
  /// The cheapest with one lane and, where all ports may be used, with lanes; for comparison.
  std::vector<Plan> alternatives(schedule::Collective collective, schedule::Operands operands,
                                 const DimensionStates& held, double bytes);

 private:
  struct Ask {
    schedule::Collective collective;
    schedule::Operands operands;
    const DimensionStates& held;
    double bytes;
  };
  /// Ring selectors of one size, for parts that do not scatter and for those that do.
  struct Rings {
    std::unique_ptr<Selector> any;
    std::unique_ptr<Selector> halves;
  };
  using RingsBySize = std::map<int, Rings>;
  RingsBySize make_rings(const Options& options) const;
  static void prepare(RingsBySize& rings, topology::CircuitState state);
  const Plan* part(const RingsBySize& rings, const Ask& ask, int dimension, bool scatters,
                   topology::CircuitState held, double bytes) const;
  std::optional<TorusComposition> one_lane(const RingsBySize& rings, const Ask& ask) const;
  std::optional<TorusComposition> lanes(const RingsBySize& rings, const Ask& ask,
                                        const std::vector<int>& order, bool last_scatters) const;
  std::optional<TorusComposition> twins(const Ask& ask, const std::vector<int>& order,
                                        bool last_scatters) const;
  void make_twins();
  std::vector<TorusComposition> compositions(const Ask& ask) const;
  struct Priced {
    TorusComposition composition;  ///< empty: none can serve
    TorusPlan torus;
    bool is_ring = false;
  };
  Priced best(const Ask& ask) const;
  void prepare(const DimensionStates& held);

  Options options_;
  std::vector<int> dims_;
  RingsBySize free_;   ///< as the options say
  RingsBySize fixed_;  ///< without rewiring
  RingsBySize ring_;   ///< Ring alone
  /// Swing and its mirror image at once, per size and collective; empty: not all sizes can.
  struct Twin {
    std::unique_ptr<RoutedSchedule> routed;
    Plan plan;
  };
  std::map<int, std::array<Twin, 3>> twins_;
  std::map<DimensionStates, std::array<std::unique_ptr<SelectionTable>, 9>> tables_;
};

}  // namespace shortcut::planner
