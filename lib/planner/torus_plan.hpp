// Plans for whole tori: one ring plan per dimension of every lane, and how their prices add up.
//
// Each dimension has switches of its own, so what one dimension's steps need never disturbs
// another's circuits: with one lane the price of the whole is the sum of the ring plans' prices,
// each for the size that the dimension works on. Lanes run at the same time and wait for each other
// at the end of a phase: then the price is the sum over the phases of the slowest lane's.
#pragma once

#include <string>
#include <vector>

#include "planner/selector.hpp"
#include "schedule/torus.hpp"

namespace shortcut::planner {

/// What the switches hold, per dimension.
using DimensionStates = std::vector<topology::CircuitState>;

/// One dimension's place in a lane.
struct PlannedPart {
  int lane = 0;
  int dimension = 0;
  bool scatters = true;  ///< see schedule::TorusPart
  double share = 1;      ///< of the message that it works on, 0..1
  Plan ring;             ///< for that size; its steps say which states are wanted
};

struct TorusPlan {
  std::vector<int> dims;
  int lanes = 1;
  bool twins = false;              ///< see TorusComposition
  std::vector<PlannedPart> parts;  ///< lane by lane, in the order of the way in
  schedule::Schedule schedule;     ///< an outline
  DimensionStates start;
  DimensionStates end;
  /// phases[p][lane]: its price.
  std::vector<std::vector<model::Line>> phases;
  int restored = 0;       ///< dimensions that go back to the ring at the end (Restore::eager)
  double restore_ns = 0;  ///< what that costs, at the same time

  double predicted_ns(double bytes) const;
};

/// How a dimension is worked on, before it is put in its place.
struct TorusChoice {
  int dimension = 0;
  bool scatters = true;
  const Plan* ring = nullptr;  ///< must outlive the choice only
};

/// Lanes of choices, in the order of the way in.
struct TorusComposition {
  std::vector<std::vector<TorusChoice>> lanes;
  /// Every lane has a mirrored twin that runs with it, on half of its share; routes have both.
  bool twins = false;
};

/// The price of a composition from `start`: lanes and phases as in TorusPlan, without the schedule.
/// States that are wanted on the way cost delta where they are not held already; steps on fixed
/// links change nothing.
TorusPlan price_torus(const Options& options, const std::vector<int>& dims,
                      schedule::Collective collective, const TorusComposition& lanes,
                      const DimensionStates& start);

/// The same as a plan to run. `line` is the price at `bytes` and its slope there.
Plan expand_torus(const Options& options, const std::vector<int>& dims,
                  schedule::Collective collective, const TorusComposition& lanes,
                  const DimensionStates& start, double bytes);

/// The price at `bytes`, and how it grows there.
model::Line tangent(const TorusPlan& plan, double bytes);

/// "torus 8x4: 0 recursive_doubling T=1, 1 ring"; with lanes each in brackets.
std::string describe(const TorusPlan& plan);
/// Per dimension the states in order: "0: ring x4, peer:2".
std::vector<std::string> state_list(const TorusPlan& plan, const std::vector<PlannedStep>& steps);
/// One line: why this plan at this size.
std::string torus_reason(const SelectionTable& table, const Plan& plan, double bytes);

}  // namespace shortcut::planner
