#include "schedule/torus.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace shortcut::schedule {

namespace {

using topology::Torus;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// How one part of one lane cuts what it works on.
struct PartLayout {
  int dimension = 0;
  bool mirrored = false;
  bool scatters = true;
  Schedule ring;               ///< the algorithm on one ring
  std::vector<int> first_own;  ///< scatters: per coordinate the first of its blocks in `ring`
  int before = 0;              ///< blocks of the whole that the part works on
  int unit = 0;                ///< blocks of the whole in a block of `ring`
};

/// Where a coordinate, or a coordinate's place, lies: the mirror is its own inverse.
int place(const PartLayout& part, const Torus& torus, int coordinate) {
  const int size = torus.size(part.dimension);
  return part.mirrored ? (size - coordinate) % size : coordinate;
}

struct LaneLayout {
  int first = 0;  ///< first block of the lane
  int blocks = 0;
  std::vector<PartLayout> parts;
};

}  // namespace

struct TorusLayout {
  Torus torus;
  std::vector<LaneLayout> lanes;
};

namespace {

/// The first block that a rank has left once the parts before `part` have scattered.
int first_left(const Torus& torus, const LaneLayout& lane, std::size_t part, int rank) {
  int first = lane.first;
  for (std::size_t i = 0; i < part; ++i) {
    const PartLayout& outer = lane.parts[i];
    if (!outer.scatters) continue;
    const int own = place(outer, torus, torus.coordinate(rank, outer.dimension));
    first += outer.first_own[at(own)] * outer.unit;
  }
  return first;
}

LaneLayout lay_out_lane(const TorusRequest& request, const TorusLane& lane, bool mirrored) {
  LaneLayout layout;
  int scattered = 1;  // over how many ranks the parts so far have scattered
  layout.blocks = 1;
  for (const TorusPart& part : lane) {
    const int size = request.dims[at(part.dimension)];
    PartLayout& own = layout.parts.emplace_back();
    own.dimension = part.dimension;
    own.mirrored = mirrored;
    own.scatters = part.scatters;
    own.ring = make_schedule(
        *part.algorithm, {.collective = request.collective, .ranks = size, .base = request.base});
    layout.blocks = std::lcm(layout.blocks, own.ring.blocks * scattered);
    if (!part.scatters) continue;
    assert(request.collective != Collective::allreduce || can_scatter(*part.algorithm, size));
    std::vector<int> owner = own.ring.block_owner;
    if (request.collective == Collective::allreduce) {
      owner = make_schedule(
                  *part.algorithm,
                  {.collective = Collective::reduce_scatter, .ranks = size, .base = request.base})
                  .block_owner;
    }
    own.first_own.assign(at(size), -1);
    for (int b = own.ring.blocks; b-- > 0;) own.first_own[at(owner[at(b)])] = b;
    scattered *= size;
    layout.blocks = std::lcm(layout.blocks, scattered);
  }
  return layout;
}

/// Where the parts' own blocks lie, now that all lanes have equally many.
void place_units(const TorusRequest& request, LaneLayout& lane) {
  int before = lane.blocks;
  for (PartLayout& part : lane.parts) {
    part.before = before;
    part.unit = before / part.ring.blocks;
    if (part.scatters) before /= request.dims[at(part.dimension)];
  }
}

/// The steps of a ring schedule that belong to the way in or the way out.
struct Half {
  int first = 0;  // indices with repetitions counted
  int end = 0;
};

Half half_of(const PartLayout& part, Collective collective, bool way_in) {
  int reducing = 0;
  int all = 0;
  in_order(part.ring.steps, [&](std::size_t i, int) {
    ++all;
    if (part.ring.steps[i].action == Action::reduce) reducing = all;
  });
  if (!part.scatters) return way_in ? Half{0, all} : Half{};
  if (collective == Collective::reduce_scatter) return way_in ? Half{0, all} : Half{};
  if (collective == Collective::allgather) return way_in ? Half{} : Half{0, all};
  return way_in ? Half{0, reducing} : Half{reducing, all};
}

/// Visits the steps of all lanes in the order in which they run: visit(lane, part, step of the
/// part's ring schedule, phase, joined). Lanes that have a step in the same round of a phase are
/// joined; so are steps that their own schedule joins. `joins(lane, part, step)` tells the latter.
template <class Joins, class Visit>
void interleave(const std::vector<LaneLayout>& lanes, Collective collective, const Joins& joins,
                const Visit& visit) {
  const int parts = static_cast<int>(lanes.front().parts.size());
  for (int phase = 0; phase < 2 * parts; ++phase) {
    const bool way_in = phase < parts;
    const int part = way_in ? phase : 2 * parts - 1 - phase;
    std::vector<Half> left;
    for (const LaneLayout& lane : lanes) {
      left.push_back(half_of(lane.parts[at(part)], collective, way_in));
    }
    for (bool any = true; any;) {
      any = false;
      for (int lane = 0; lane < static_cast<int>(lanes.size()); ++lane) {
        Half& steps = left[at(lane)];
        if (steps.first == steps.end) continue;
        do {
          visit(lane, part, steps.first, phase, any);
          any = true;
        } while (++steps.first < steps.end && joins(lane, part, steps.first));
      }
    }
  }
}

/// Ring schedules with repetitions expanded: which step each is.
std::vector<int> expanded(const Schedule& ring) {
  std::vector<int> order;
  in_order(ring.steps, [&](std::size_t i, int) { order.push_back(static_cast<int>(i)); });
  return order;
}

constexpr Algorithm composite(std::string_view name, bool commutative_only,
                              RankSchedule (*for_rank)(const Schedule&, int)) {
  Algorithm row;
  row.name = name;
  row.allreduce = row.reduce_scatter = row.allgather = true;
  row.commutative_only = commutative_only;
  row.reconfigures = true;
  row.for_rank = for_rank;
  return row;
}

RankSchedule torus_for_rank(const Schedule& schedule, int rank) {
  const TorusLayout& layout = *schedule.torus;
  // Per lane and part this rank's view of the ring schedule.
  std::vector<std::vector<RankSchedule>> views;
  for (const LaneLayout& lane : layout.lanes) {
    std::vector<RankSchedule>& own = views.emplace_back();
    for (const PartLayout& part : lane.parts) {
      const int coordinate = layout.torus.coordinate(rank, part.dimension);
      own.push_back(part.ring.for_rank(place(part, layout.torus, coordinate)));
    }
  }
  RankSchedule program;
  const auto joins = [&](int lane, int part, int step) {
    return views[at(lane)][at(part)][at(step)].joined;
  };
  interleave(
      layout.lanes, schedule.collective, joins,
      [&](int lane, int part, int step, int, bool joined) {
        const PartLayout& own = layout.lanes[at(lane)].parts[at(part)];
        RankStep mine = views[at(lane)][at(part)][at(step)];
        for (int* peer : {&mine.send_to, &mine.recv_from}) {
          if (*peer < 0) continue;
          *peer =
              layout.torus.with_coordinate(rank, own.dimension, place(own, layout.torus, *peer));
        }
        const int first = first_left(layout.torus, layout.lanes[at(lane)], at(part), rank);
        for (BlockRange* range : {&mine.send, &mine.recv}) {
          if (range->count == 0) continue;
          *range = {first + range->first * own.unit, range->count * own.unit, first, own.before};
        }
        mine.joined = joined;
        program.push_back(mine);
      });
  return program;
}

constexpr Algorithm kTorus = composite("torus", true, torus_for_rank);
constexpr Algorithm kTorusInOrder = composite("torus", false, torus_for_rank);
constexpr Algorithm kTorusRepeats = [] {
  Algorithm row = kTorus;
  row.repeats_reductions = true;
  return row;
}();
constexpr Algorithm kTorusInOrderRepeats = [] {
  Algorithm row = kTorusInOrder;
  row.repeats_reductions = true;
  return row;
}();

/// In rank order only if the parts are and neighbouring ranks come first.
const Algorithm* row_for(const TorusRequest& request) {
  bool ordered = request.lanes.size() == 1 && !request.twins;
  bool repeats = false;
  int dimension = 0;
  for (const TorusPart& part : request.lanes.front()) {
    ordered &= !part.algorithm->commutative_only && part.dimension == dimension++;
  }
  for (const TorusLane& lane : request.lanes) {
    for (const TorusPart& part : lane) repeats |= part.algorithm->repeats_reductions;
  }
  if (ordered) return repeats ? &kTorusInOrderRepeats : &kTorusInOrder;
  return repeats ? &kTorusRepeats : &kTorus;
}

}  // namespace

bool can_scatter(const Algorithm& algorithm, int ranks) {
  if (!algorithm.allreduce || !algorithm.reduce_scatter || !algorithm.allgather) return false;
  // Folded ranks have nothing between the halves.
  const bool folds = algorithm.pattern != topology::Pattern::neighbours;
  return !folds || topology::is_power_of_two(ranks);
}

TorusSchedule make_torus_schedule(const TorusRequest& request) {
  const Torus torus(request.dims);
  auto layout = std::make_shared<TorusLayout>(TorusLayout{torus, {}});
  int blocks = 1;
  for (const TorusLane& lane : request.lanes) {
    assert(lane.size() == request.dims.size());
    for (const bool mirrored : {false, true}) {
      if (mirrored && !request.twins) continue;
      layout->lanes.push_back(lay_out_lane(request, lane, mirrored));
      blocks = std::lcm(blocks, layout->lanes.back().blocks);
    }
  }
  for (std::size_t lane = 0; lane < layout->lanes.size(); ++lane) {
    layout->lanes[lane].first = static_cast<int>(lane) * blocks;
    layout->lanes[lane].blocks = blocks;
    place_units(request, layout->lanes[lane]);
  }

  TorusSchedule made;
  Schedule& schedule = made.schedule;
  schedule.algorithm = row_for(request);
  schedule.collective = request.collective;
  schedule.ranks = torus.nodes();
  schedule.blocks = blocks * static_cast<int>(layout->lanes.size());
  schedule.torus = layout;
  if (request.collective != Collective::allreduce) {
    const int each = blocks / torus.nodes();
    schedule.block_owner.resize(at(schedule.blocks));
    for (const LaneLayout& lane : layout->lanes) {
      for (int r = 0; r < torus.nodes(); ++r) {
        const int first = first_left(torus, lane, lane.parts.size(), r);
        std::fill_n(schedule.block_owner.begin() + first, each, r);
      }
    }
  }

  std::vector<std::vector<std::vector<int>>> order;
  for (const LaneLayout& lane : layout->lanes) {
    order.emplace_back();
    for (const PartLayout& part : lane.parts) order.back().push_back(expanded(part.ring));
  }
  const auto ring_step = [&](int lane, int part, int step) -> const Step& {
    const Schedule& ring = layout->lanes[at(lane)].parts[at(part)].ring;
    return ring.steps[at(order[at(lane)][at(part)][at(step)])];
  };
  const auto joins = [&](int lane, int part, int step) {
    return ring_step(lane, part, step).joined;
  };
  interleave(layout->lanes, request.collective, joins,
             [&](int lane, int part, int index, int phase, bool joined) {
               const PartLayout& own = layout->lanes[at(lane)].parts[at(part)];
               const Step& ring = ring_step(lane, part, index);
               Step step = ring;
               step.send_to.resize(at(request.outline ? 0 : torus.nodes()));
               for (int u = 0; u < static_cast<int>(step.send_to.size()); ++u) {
                 const int from = place(own, torus, torus.coordinate(u, own.dimension));
                 const int peer = ring.send_to[at(from)];
                 step.send_to[at(u)] =
                     peer < 0 ? peer
                              : torus.with_coordinate(u, own.dimension, place(own, torus, peer));
               }
               step.period = torus.nodes();
               step.share = ring.share * own.before / schedule.blocks;
               step.repeat = 1;
               step.cycle = 1;
               step.joined = joined;
               step.dimension = own.dimension;
               step.lane = request.twins ? lane / 2 : lane;
               step.phase = phase;
               schedule.steps.push_back(std::move(step));
               made.origins.push_back({lane, part, index});
             });
  return made;
}

}  // namespace shortcut::schedule
