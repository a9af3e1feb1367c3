// Collective algorithms as data.
//
// An algorithm is written once, as a generator of steps; the model prices the steps, the planner
// picks circuit states for them, the executor runs them, and a verifier in the tests proves them.
//
// Blocks. The message is cut into `blocks` blocks, numbered in *schedule order*, an order in which
// what a step carries is one run of blocks (taken modulo the number of blocks). For ReduceScatter
// and AllGather every rank has one block (or two halves of one) and `block_owner` says whose each
// is; for AllReduce any cut does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "topology/circuit_state.hpp"

namespace shortcut::schedule {

enum class Collective : std::uint8_t { allreduce, reduce_scatter, allgather };

std::string_view to_string(Collective collective);

/// A run of blocks in schedule order: first, first+1, ..., first+count-1. Behind the last block of
/// its window it goes on with the window's first.
struct BlockRange {
  int first = 0;
  int count = 0;
  int window_first = 0;
  int window_count = 0;  ///< 0: all blocks of the schedule
  bool operator==(const BlockRange&) const = default;
};

/// What a rank does with the blocks that it receives.
enum class Action : std::uint8_t {
  reduce,  ///< combine them with its own
  gather,  ///< put them in place
};

/// One step as one rank sees it.
struct RankStep {
  int send_to = -1;    ///< rank, or -1: sends nothing
  int recv_from = -1;  ///< rank, or -1: receives nothing
  BlockRange send{};
  BlockRange recv{};
  Action action = Action::reduce;
  /// For `reduce`: do the received operands stand to the left (lower ranks) of this rank's own?
  bool received_is_left = false;
  /// Step::joined of the step.
  bool joined = false;
};

/// One rank's view of a schedule: O(steps).
using RankSchedule = std::vector<RankStep>;

/// One step, or a run of steps of one pattern, of a schedule; the same for every rank.
struct Step {
  /// send_to[u] is the rank that u sends to, or -1. For `repeat` > 1 every repetition has it. Empty
  /// in an outline.
  std::vector<int> send_to;
  /// The pattern repeats: send_to[u + period] == send_to[u] + period (mod n). Divides n; n: it does
  /// not. Lets the router look at one period only.
  int period = 0;
  double share = 0;  ///< the largest flow's share of the message, 0..1
  Action action = Action::reduce;
  int repeat = 1;  ///< >= 1; equal steps in a row, or equal cycles
  /// This step and the cycle - 1 behind it repeat in turn: a b a b ... All of a cycle have the same
  /// `cycle` and `repeat`.
  int cycle = 1;
  /// Begins from what the rank held before the step in front: what it sends has nothing of what
  /// that step brings. Where ranks have two ports the two run at once, else one after the other.
  bool joined = false;
  /// The circuit state made for this pattern, in which its flows are direct; `has_direct` false:
  /// none.
  topology::CircuitState direct;
  bool has_direct = false;
  /// Place among the steps that a threshold counts: distance grows with it. -1: always static.
  int level = -1;
  // On a torus (torus.hpp): the dimension along which it runs, and which of several lanes it
  // belongs to; lanes run at the same time, and all end a phase before the next begins.
  int dimension = 0;
  int lane = 0;
  int phase = 0;
};

/// Visits steps in the order in which they run: visit(index, repetition). Takes anything that has
/// `repeat` and `cycle`.
template <class Steps, class Visit>
void in_order(const Steps& steps, const Visit& visit) {
  for (std::size_t first = 0; first < steps.size();) {
    const std::size_t cycle = static_cast<std::size_t>(steps[first].cycle);
    for (int repetition = 0; repetition < steps[first].repeat; ++repetition) {
      for (std::size_t i = 0; i < cycle; ++i) visit(first + i, repetition);
    }
    first += cycle;
  }
}

struct Algorithm;    // a registry row
struct TorusLayout;  // torus.cpp

/// What a schedule is made for.
struct Request {
  Collective collective = Collective::allreduce;
  int ranks = 1;
  topology::BaseRing base = topology::BaseRing::plain;
  /// Only what planning needs: no patterns, no orders, O(steps) instead of O(n * steps). For n no
  /// power of two an outline is the whole schedule.
  bool outline = false;
};

/// A rank-independent schedule for n ranks.
struct Schedule {
  const Algorithm* algorithm = nullptr;
  Collective collective = Collective::allreduce;
  int ranks = 1;
  int blocks = 1;
  /// Rank that block i (schedule order) belongs to; equally many blocks each. Size `blocks`; for
  /// AllReduce empty.
  std::vector<int> block_owner;
  /// Ring: ranks in the order in which they lie on the base ring.
  std::vector<int> ring_order;
  /// The order of core ranks in which halving works: position of core c. Empty where unused.
  std::vector<int> core_position;
  /// first_block[p]: first block of the core at position p; size cores + 1. Empty where unused.
  std::vector<int> first_block;
  std::vector<Step> steps;
  /// Of a schedule that is composed of others along the dimensions of a torus.
  std::shared_ptr<const TorusLayout> torus;

  /// Does schedule order equal rank order, so that blocks need no permutation?
  bool in_rank_order() const;
  /// Steps with repetitions counted.
  int step_count() const;
  /// One rank's view.
  RankSchedule for_rank(int rank) const;
};

}  // namespace shortcut::schedule
