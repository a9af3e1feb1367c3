#include "schedule/registry.hpp"

#include <algorithm>
#include <cassert>

#include "schedule/binomial.hpp"
#include "schedule/bruck.hpp"
#include "schedule/neighbor_exchange.hpp"
#include "schedule/recursive_doubling.hpp"
#include "schedule/recursive_doubling_full.hpp"
#include "schedule/recursive_multiplying_3.hpp"
#include "schedule/recursive_multiplying_4.hpp"
#include "schedule/ring.hpp"
#include "schedule/ring_both.hpp"
#include "schedule/swing.hpp"
#include "schedule/swing_full.hpp"
#include "topology/matching.hpp"

namespace shortcut::schedule {
namespace {

constexpr std::array<Algorithm, 11> kAlgorithms = {{
    {.name = "ring",
     .summary = "neighbours only, n-1 steps a half; the static baseline",
     .steps = "n-1 (AllReduce 2(n-1))",
     .bytes = "(n-1)/n m (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .commutative_only = true,
     .in_rank_order = true,
     .single_blocks = true,
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
    {.name = "swing_full",
     .summary = "full vector between Swing's pairs, for short messages that never round",
     .steps = "log2 n",
     .bytes = "m log2 n",
     .allreduce = true,
     .commutative_only = true,
     .exact_only = true,
     .power_of_two_only = true,
     .reconfigures = true,
     .pattern = topology::Pattern::swing,
     .make = swing_full::make,
     .for_rank = swing_full::for_rank},
    {.name = "bruck",
     .summary = "runs of blocks that double, from ranks 1, 2, 4, ... above; any rank count",
     .steps = "ceil(log2 n) (AllReduce twice)",
     .bytes = "(n-1)/n m (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .commutative_only = true,
     .in_rank_order = true,
     .make = bruck::make,
     .for_rank = bruck::for_rank},
    {.name = "neighbor_exchange",
     .summary = "pairs of neighbours, left and right by turns; half of Ring's steps",
     .steps = "n/2 (AllReduce n)",
     .bytes = "(n-1)/n m (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .commutative_only = true,
     .even_only = true,
     .in_rank_order = true,
     .make = neighbor_exchange::make,
     .for_rank = neighbor_exchange::for_rank},
    {.name = "recursive_multiplying_3",
     .summary = "full vector among groups of three and two, for short messages on 3, 6, 9, 12, ...",
     .steps = "a + 2b for n = 2^a 3^b (two ports: a + b)",
     .bytes = "m (a + 2b)",
     .allreduce = true,
     .commutative_only = true,
     .largest_factor = 3,
     .repeats_reductions = true,
     .make = recursive_multiplying_3::make,
     .for_rank = recursive_multiplying_3::for_rank},
    {.name = "recursive_multiplying_4",
     .summary = "full vector among groups of four, then three and two, for short messages",
     .steps = "3c + a + 2b for n = 4^c 2^a 3^b, a < 2 (two ports: c + a + b)",
     .bytes = "m (3c + a + 2b)",
     .allreduce = true,
     .commutative_only = true,
     .largest_factor = 3,
     .repeats_reductions = true,
     .make = recursive_multiplying_4::make,
     .for_rank = recursive_multiplying_4::for_rank},
    {.name = "binomial",
     .summary = "full vector up a tree to rank 0 and down again, no link shared; any rank count",
     .steps = "2 ceil(log2 n)",
     .bytes = "at most m ceil(log2 n)",
     .allreduce = true,
     .make = binomial::make,
     .for_rank = binomial::for_rank},
    {.name = "ring_both",
     .summary = "Ring in both directions at once: half the steps, half the bytes a direction",
     .steps = "floor(n/2) (AllReduce twice)",
     .bytes = "(n-1)/(2n) m each way (AllReduce twice)",
     .allreduce = true,
     .reduce_scatter = true,
     .allgather = true,
     .commutative_only = true,
     .minimum_ranks = 3,
     .all_ports_only = true,
     .in_rank_order = true,
     .single_blocks = true,
     .make = ring_both::make,
     .for_rank = ring_both::for_rank},
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

std::string_view Algorithm::cannot(Collective collective, int ranks, Operands operands) const {
  if (!offers(collective)) return "does not offer this collective";
  if (power_of_two_only && !topology::is_power_of_two(ranks)) {
    return "needs a power of two of ranks";
  }
  if (even_only && ranks % 2 != 0 && ranks > 1) return "needs an even number of ranks";
  if (ranks < minimum_ranks && ranks > 1) return "needs more ranks";
  if (largest_factor > 0 && topology::largest_prime_factor(ranks) > largest_factor) {
    return "needs a number of ranks that is a product of its radix and below";
  }
  const bool reduces = collective != Collective::allgather;
  if (reduces && commutative_only && operands == Operands::in_order) {
    return "needs a commutative operation";
  }
  if (reduces && exact_only && operands != Operands::exact) {
    return "needs an operation that never rounds, such as on integers";
  }
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
