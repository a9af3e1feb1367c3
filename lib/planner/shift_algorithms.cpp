// The algorithms of planner/harvest.hpp as sequences of shifts. With L = ceil(log2 n), and block o
// of a rank the one that concerns the rank o places further on:
//
//   cyclic     ReduceScatter: step i moves the blocks whose lowest set bit is i by 2^i, so that the
//              near steps carry much. Six ranks: blocks 1 3 5 by 1, block 2 by 2, block 4 by 4.
//              AllGather is its mirror image. L steps, n-1 blocks, any n.
//   bruck      AllGather: step i sends the min(2^i, n - 2^i) first blocks by 2^i, so that the far
//              steps carry much. ReduceScatter is its mirror image. L steps, n-1 blocks, any n.
//              All-to-all: step i moves the blocks that have bit i set.
//   hypercube  All-to-all for powers of two: Bruck's with half the message in each step.
//   direct     All-to-all: block o goes by o, n-1 steps.
//   binomial   Broadcast: in step i the ranks below 2^i send by 2^i.
//   binomial_halving  Broadcast the other way round: distances from the largest down; flows of one
//              step never share a link of the ring.
//   ring       n-1 equal steps by 1 (AllReduce twice as many).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "planner/harvest.hpp"
#include "topology/matching.hpp"

namespace shortcut::planner {
namespace {

using Collective = CirculantCollective;
using Shifts = std::vector<Shift>;

std::vector<Shift> mirrored(Shifts shifts) {
  std::reverse(shifts.begin(), shifts.end());
  return shifts;
}

Shifts joined(Shifts first, const Shifts& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

double share_of(int blocks, int nodes) { return static_cast<double>(blocks) / nodes; }

/// Numbers o in 0..n-1 with o mod `period` == `rest`, 0 <= rest < period.
int count_residues(int nodes, int period, int rest) {
  return nodes > rest ? (nodes - 1 - rest) / period + 1 : 0;
}

Shifts cyclic(Collective collective, int nodes) {
  Shifts scatter;
  scatter.reserve(64);
  for (int bit = 1; bit < nodes; bit *= 2) {
    scatter.push_back({bit, share_of(count_residues(nodes, 2 * bit, bit), nodes)});
  }
  if (collective == Collective::reduce_scatter) return scatter;
  if (collective == Collective::allgather) return mirrored(std::move(scatter));
  return joined(scatter, mirrored(scatter));
}

Shifts bruck_alltoall(int nodes) {
  Shifts shifts;
  for (int bit = 1; bit < nodes; bit *= 2) {
    int blocks = 0;
    for (int rest = bit; rest < 2 * bit; ++rest) {
      blocks += count_residues(nodes, 2 * bit, rest);
    }
    shifts.push_back({bit, share_of(blocks, nodes)});
  }
  return shifts;
}

Shifts bruck(Collective collective, int nodes) {
  if (collective == Collective::alltoall) return bruck_alltoall(nodes);
  Shifts gather;
  for (int have = 1; have < nodes; have *= 2) {
    gather.push_back({have, share_of(std::min(have, nodes - have), nodes)});
  }
  if (collective == Collective::allgather) return gather;
  if (collective == Collective::reduce_scatter) return mirrored(std::move(gather));
  return joined(mirrored(gather), gather);
}

Shifts hypercube(Collective /*collective*/, int nodes) {
  Shifts shifts;
  for (int distance = 1; distance < nodes; distance *= 2) shifts.push_back({distance, 0.5});
  return shifts;
}

Shifts direct(Collective /*collective*/, int nodes) {
  Shifts shifts;
  for (int distance = 1; distance < nodes; ++distance) {
    shifts.push_back({distance, share_of(1, nodes)});
  }
  return shifts;
}

Shifts binomial(Collective /*collective*/, int nodes) {
  Shifts shifts;
  for (int distance = 1; distance < nodes; distance *= 2) {
    Shift& shift = shifts.emplace_back(Shift{distance, 1.0});
    for (int u = 0; u < distance && u + distance < nodes; ++u) shift.senders.push_back(u);
  }
  return shifts;
}

Shifts binomial_halving(Collective /*collective*/, int nodes) {
  Shifts shifts;
  for (int distance = 1; distance < nodes; distance *= 2) {
    Shift& shift = shifts.emplace_back(Shift{distance, 1.0});
    for (int u = 0; u + distance < nodes; u += 2 * distance) shift.senders.push_back(u);
  }
  return mirrored(std::move(shifts));
}

Shifts ring(Collective collective, int nodes) {
  const int halves = collective == Collective::allreduce ? 2 : 1;
  return {{1, share_of(1, nodes), halves * (nodes - 1)}};
}

}  // namespace

std::span<const ShiftAlgorithm> shift_algorithms() {
  static const std::vector<Collective> all{Collective::allreduce, Collective::reduce_scatter,
                                           Collective::allgather};
  // `direct` has n-1 steps, `binomial` counts loads in O(n): their limits keep planning below a
  // second.
  static const std::array<ShiftAlgorithm, 7> rows{{
      {"ring", "equal steps to the neighbour", all, false, 65536, ring},
      {"cyclic", "cyclic recursive doubling: near steps carry much", all, false, 65536, cyclic},
      {"bruck",
       "Bruck's: far steps carry much",
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather,
        Collective::alltoall},
       false,
       65536,
       bruck},
      {"hypercube", "half the message by 2^i", {Collective::alltoall}, true, 65536, hypercube},
      {"direct", "each block straight to its rank", {Collective::alltoall}, false, 256, direct},
      {"binomial", "doubling distances", {Collective::broadcast}, false, 2048, binomial},
      {"binomial_halving",
       "halving distances",
       {Collective::broadcast},
       false,
       2048,
       binomial_halving},
  }};
  return rows;
}

const ShiftAlgorithm* find_shift_algorithm(std::string_view name) {
  for (const ShiftAlgorithm& row : shift_algorithms()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string ShiftAlgorithm::cannot(CirculantCollective collective, int nodes) const {
  if (std::find(collectives.begin(), collectives.end(), collective) == collectives.end()) {
    return "does not do this collective";
  }
  if (power_of_two_only && !topology::is_power_of_two(nodes)) return "needs a power of two";
  if (nodes > maximum_nodes) return fmt::format("is planned for at most {} nodes", maximum_nodes);
  return {};
}

}  // namespace shortcut::planner
