#include "schedule/registry.hpp"

#include <algorithm>
#include <cassert>

#include "schedule/recursive_doubling.hpp"
#include "schedule/recursive_doubling_full.hpp"
#include "schedule/ring.hpp"
#include "schedule/swing.hpp"
#include "topology/matching.hpp"

namespace shortcut::schedule {
namespace {

constexpr std::array<Algorithm, 4> kAlgorithms = {{
    {.name = "ring",
     .summary = "neighbours only, n-1 steps a half; the static baseline",
     .steps = "n-1 (AllReduce 2(n-1))",
     .bytes = "(n-1)/n m (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .commutative_only = true,
     .in_rank_order = true,
     .make = ring::make,
     .for_rank = ring::for_rank},
    {.name = "recursive_doubling",
     .summary = "halving and doubling between ranks that differ in one bit",
     .steps = "log2 n (AllReduce 2 log2 n)",
     .bytes = "(n-1)/n m (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .reconfigures = true,
     .pattern = topology::Pattern::exclusive_or,
     .make = recursive_doubling::make,
     .for_rank = recursive_doubling::for_rank},
    {.name = "recursive_doubling_full",
     .summary = "full vector between ranks that differ in one bit, for short messages",
     .steps = "log2 n",
     .bytes = "m log2 n",
     .allreduce = true,
     .reconfigures = true,
     .repeats_reductions = true,
     .pattern = topology::Pattern::exclusive_or,
     .make = recursive_doubling_full::make,
     .for_rank = recursive_doubling_full::for_rank},
    {.name = "swing",
     .summary = "halving and doubling at distances 1, -1, 3, -5, 11, ...",
     .steps = "log2 n (AllReduce 2 log2 n)",
     .bytes = "(n-1)/n m (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .commutative_only = true,
     .power_of_two_only = true,
     .reconfigures = true,
     .pattern = topology::Pattern::swing,
     .make = swing::make,
     .for_rank = swing::for_rank},
}};

}  // namespace

std::string_view to_string(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return "allreduce";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::allgather:
      return "allgather";
  }
  return "?";
}

bool Schedule::in_rank_order() const {
  return algorithm->in_rank_order && std::is_sorted(ring_order.begin(), ring_order.end());
}

int Schedule::step_count() const {
  int count = 0;
  for (const Step& step : steps) count += step.repeat;
  return count;
}

RankSchedule Schedule::for_rank(int rank) const { return algorithm->for_rank(*this, rank); }

bool Algorithm::offers(Collective collective) const {
  switch (collective) {
    case Collective::allreduce:
      return allreduce;
    case Collective::reduce_scatter:
      return reduce_scatter;
    case Collective::allgather:
      return allgather;
  }
  return false;
}

std::string_view Algorithm::cannot(Collective collective, int ranks, bool commutative) const {
  if (!offers(collective)) return "does not offer this collective";
  if (power_of_two_only && !topology::is_power_of_two(ranks)) {
    return "needs a power of two of ranks";
  }
  const bool reduces = collective != Collective::allgather;
  if (reduces && commutative_only && !commutative) return "needs a commutative operation";
  return {};
}

std::span<const Algorithm> algorithms() { return kAlgorithms; }

Result<const Algorithm*> find_algorithm(std::string_view name) {
  std::string allowed;
  for (const Algorithm& row : kAlgorithms) {
    if (row.name == name) return &row;
    allowed += allowed.empty() ? "" : ", ";
    allowed += row.name;
  }
  return Error{"algorithm '" + std::string(name) + "' is not one of: auto, " + allowed};
}

Schedule make_schedule(const Algorithm& algorithm, const Request& request) {
  assert(algorithm.cannot(request.collective, request.ranks, true).empty());
  Schedule schedule = algorithm.make(request);
  schedule.algorithm = &algorithm;
  return schedule;
}

}  // namespace shortcut::schedule
