#include "planner/torus_selector.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "planner/envelope.hpp"

namespace shortcut::planner {
namespace {

using schedule::Collective;
using schedule::Operands;
using topology::CircuitState;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Orders of more dimensions than this are not all tried for lanes: their number is factorial.
constexpr std::size_t kMostOrderedDimensions = 5;

}  // namespace

TorusSelector::TorusSelector(Options options, std::vector<int> dims)
    : options_(std::move(options)), dims_(std::move(dims)) {
  assert(dims_.size() >= 2 && *std::min_element(dims_.begin(), dims_.end()) >= 2);
  options_.accounting = model::Accounting::exact;
  free_ = make_rings(options_);
  Options fixed = options_;
  fixed.reconfigurable = false;
  if (options_.all_ports && options_.reconfigurable) fixed_ = make_rings(fixed);
  Options ring = options_;
  ring.algorithm = "ring";
  ring.all_ports = false;
  ring_ = make_rings(ring);
  if (options_.all_ports) make_twins();
}

void TorusSelector::make_twins() {
  const bool asked = options_.algorithm == "auto" || options_.algorithm == "swing";
  const bool all = std::all_of(dims_.begin(), dims_.end(),
                               [](int size) { return topology::is_power_of_two(size); });
  if (!asked || !all) return;
  const schedule::Algorithm& swing = *schedule::find_algorithm("swing").value();
  Options fixed = options_;
  fixed.restore = Restore::none;
  for (const int size : dims_) {
    if (twins_.contains(size)) continue;
    const topology::Router router(size, CircuitState::ring(), options_.fabric.antipodal,
                                  options_.fabric.base_ring);
    for (const Collective collective :
         {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
      Twin& twin = twins_[size][static_cast<std::size_t>(collective)];
      twin.routed = std::make_unique<RoutedSchedule>(
          swing, collective, size, options_.fabric.antipodal, options_.fabric.base_ring);
      const RoutedSchedule& routed = *twin.routed;
      const CircuitState on_ring = CircuitState::ring();
      twin.plan =
          expand(fixed, price(fixed, routed, routed.levels(), routed.levels(), on_ring), on_ring);
      for (std::size_t i = 0; i < twin.plan.steps.size(); ++i) {
        const std::vector<int>& send_to = routed.schedule().steps[i].send_to;
        std::vector<int> mirrored(send_to.size());
        for (int u = 0; u < size; ++u) {
          mirrored[at((size - u) % size)] = (size - send_to[at(u)]) % size;
        }
        const std::vector<std::span<const int>> both{send_to, mirrored};
        twin.plan.steps[i].route = router.route_together(both).value();
        twin.plan.steps[i].on_fixed = false;
      }
    }
  }
}

TorusSelector::RingsBySize TorusSelector::make_rings(const Options& options) const {
  RingsBySize rings;
  for (const int size : dims_) {
    Rings& own = rings[size];
    if (own.any) continue;
    // A threshold that a short dimension has no level for means its highest: static.
    Options here = options;
    here.threshold = std::min(here.threshold, topology::floor_log2(size));
    own.any = std::make_unique<Selector>(here, size);
    here.two_halves = true;
    own.halves = std::make_unique<Selector>(here, size);
  }
  return rings;
}

void TorusSelector::prepare(RingsBySize& rings, CircuitState state) {
  for (auto& [size, own] : rings) {
    if (!topology::can_hold(size, state)) continue;
    own.any->prepare(state);
    own.halves->prepare(state);
  }
}

void TorusSelector::prepare(const DimensionStates& held) {
  for (const CircuitState state : held) {
    for (RingsBySize* rings : {&free_, &fixed_, &ring_}) prepare(*rings, state);
  }
}

const Plan* TorusSelector::part(const RingsBySize& rings, const Ask& ask, int dimension,
                                bool scatters, CircuitState held, double bytes) const {
  const Rings& own = rings.at(dims_[at(dimension)]);
  const bool halves = scatters && ask.collective == Collective::allreduce;
  const Selector& selector = halves ? *own.halves : *own.any;
  const auto& starts = selector.starts();
  // Between the halves of a lane's part another lane may have left a state that no whole plan does:
  // then priced from the ring here, and exactly with the rest.
  const bool known = std::find(starts.begin(), starts.end(), held) != starts.end();
  const SelectionTable& table =
      selector.table(ask.collective, ask.operands, known ? held : CircuitState::ring());
  const Plan& plan = table.lookup(bytes);
  if (plan.native()) return nullptr;
  if (&rings == &ring_ && plan.algorithm_name() != "ring") return nullptr;
  const std::string& forced = selector.options().algorithm;
  if (halves && forced != "auto" && plan.algorithm_name() != forced) {
    // What is asked for cannot scatter; whole it may serve.
    const SelectionTable& whole =
        own.any->table(ask.collective, ask.operands, CircuitState::ring());
    if (whole.lookup(bytes).algorithm_name() == forced) return nullptr;
  }
  return &plan;
}

std::optional<TorusComposition> TorusSelector::one_lane(const RingsBySize& rings,
                                                        const Ask& ask) const {
  const int count = static_cast<int>(dims_.size());
  const bool in_order = ask.operands == Operands::in_order;
  struct Best {
    double ns = std::numeric_limits<double>::infinity();
    TorusChoice choice;
  };
  // (dimensions done, dimensions that scattered): what is left costs least by this choice next.
  std::map<std::pair<unsigned, unsigned>, Best> memo;
  // Dimensions of equal size on equal circuits are alike: the first of them stands for all.
  const auto alike_before = [&](int k, unsigned done) {
    for (int j = 0; j < k; ++j) {
      const bool same = dims_[at(j)] == dims_[at(k)] && ask.held[at(j)] == ask.held[at(k)];
      if (same && !(done & (1u << j))) return true;
    }
    return false;
  };
  const auto solve = [&](const auto& self, unsigned done, unsigned scattered) -> const Best& {
    const auto [place, fresh] = memo.try_emplace({done, scattered});
    Best& best = place->second;
    if (!fresh) return best;
    if (done + 1 == 1u << count) {
      best.ns = 0;
      return best;
    }
    double bytes = ask.bytes;
    for (int k = 0; k < count; ++k) {
      if (scattered & (1u << k)) bytes /= dims_[at(k)];
    }
    // A dimension that does not scatter costs least behind all that do, in any order among its
    // like.
    const bool wholes_begun = !in_order && done != scattered;
    for (int k = 0; k < count; ++k) {
      if (done & (1u << k)) continue;
      if (!in_order && alike_before(k, done)) continue;
      for (const bool scatters : {true, false}) {
        if (!scatters && ask.collective != Collective::allreduce) continue;
        if (scatters && wholes_begun) continue;
        // Scattering last gains nothing that the whole AllReduce there has not.
        const bool last = (done | (1u << k)) + 1 == 1u << count;
        if (scatters && last && ask.collective == Collective::allreduce) continue;
        const Plan* ring = part(rings, ask, k, scatters, ask.held[at(k)], bytes);
        if (ring == nullptr) continue;
        const double rest = self(self, done | (1u << k), scattered | (scatters ? 1u << k : 0u)).ns;
        const double ns = ring->predicted_ns(bytes) + rest;
        if (ns < best.ns) {
          best.ns = ns;
          best.choice = {k, scatters, ring};
        }
      }
      // In rank order neighbouring ranks come first; wholes in the order of their dimensions.
      if (in_order || wholes_begun) break;
    }
    return best;
  };
  TorusComposition composition;
  composition.lanes.emplace_back();
  unsigned scattered = 0;
  for (unsigned done = 0; done + 1 < 1u << count;) {
    const Best& best = solve(solve, done, scattered);
    if (best.choice.ring == nullptr) return std::nullopt;
    composition.lanes[0].push_back(best.choice);
    done |= 1u << best.choice.dimension;
    if (best.choice.scatters) scattered |= 1u << best.choice.dimension;
  }
  return composition;
}

std::optional<TorusComposition> TorusSelector::lanes(const RingsBySize& rings, const Ask& ask,
                                                     const std::vector<int>& order,
                                                     bool last_scatters) const {
  const std::size_t count = order.size();
  TorusComposition composition;
  composition.lanes.resize(count);
  std::vector<double> bytes(count, ask.bytes / static_cast<double>(count));
  DimensionStates held = ask.held;
  for (std::size_t place = 0; place < count; ++place) {
    for (std::size_t lane = 0; lane < count; ++lane) {
      const int dimension = order[(lane + place) % count];
      const bool scatters =
          ask.collective != Collective::allreduce || place + 1 < count || last_scatters;
      const Plan* ring = part(rings, ask, dimension, scatters, held[at(dimension)], bytes[lane]);
      if (ring == nullptr) return std::nullopt;
      composition.lanes[lane].push_back({dimension, scatters, ring});
      if (scatters) bytes[lane] /= dims_[at(dimension)];
      for (std::size_t i = 0; i < ring->steps.size(); ++i) {
        const bool later = scatters && ring->routed->steps()[i].gathers;
        if (ring->steps[i].on_fixed || later) continue;
        held[at(dimension)] = ring->steps[i].state;
      }
    }
  }
  return composition;
}

std::optional<TorusComposition> TorusSelector::twins(const Ask& ask, const std::vector<int>& order,
                                                     bool last_scatters) const {
  if (twins_.empty()) return std::nullopt;
  const std::size_t count = order.size();
  TorusComposition composition;
  composition.twins = true;
  for (std::size_t lane = 0; lane < count; ++lane) {
    auto& own = composition.lanes.emplace_back();
    for (std::size_t place = 0; place < count; ++place) {
      const int dimension = order[(lane + place) % count];
      const Twin& twin = twins_.at(dims_[at(dimension)])[static_cast<std::size_t>(ask.collective)];
      own.push_back({dimension, place + 1 < count || last_scatters, &twin.plan});
    }
  }
  return composition;
}

std::vector<TorusComposition> TorusSelector::compositions(const Ask& ask) const {
  std::vector<TorusComposition> all;
  if (auto one = one_lane(free_, ask)) all.push_back(std::move(*one));
  if (!options_.all_ports || ask.operands == Operands::in_order) return all;
  std::vector<int> order(dims_.size());
  std::iota(order.begin(), order.end(), 0);
  do {  // rotations of an order are the same lanes
    for (const bool last_scatters : {true, false}) {
      if (!last_scatters && ask.collective != Collective::allreduce) continue;
      for (const RingsBySize* rings : {&free_, &fixed_}) {
        if (rings->empty()) continue;
        if (auto found = lanes(*rings, ask, order, last_scatters)) all.push_back(std::move(*found));
      }
      if (auto found = twins(ask, order, last_scatters)) all.push_back(std::move(*found));
    }
  } while (dims_.size() <= kMostOrderedDimensions &&
           std::next_permutation(order.begin() + 1, order.end()));
  return all;
}

TorusSelector::Priced TorusSelector::best(const Ask& ask) const {
  Priced least;
  double least_ns = std::numeric_limits<double>::infinity();
  const auto ring = one_lane(ring_, ask);
  const auto offer = [&](const TorusComposition& composition, bool is_ring) {
    TorusPlan torus = price_torus(options_, dims_, ask.collective, composition, ask.held);
    const bool scaled = ring.has_value() && options_.algorithm == "auto" && !is_ring;
    const double ns = torus.predicted_ns(ask.bytes) * (scaled ? options_.min_gain : 1.0);
    if (ns >= least_ns) return;
    least_ns = ns;
    least = {composition, std::move(torus), is_ring};
  };
  for (const TorusComposition& composition : compositions(ask)) offer(composition, false);
  if (ring && (options_.algorithm == "auto" || options_.algorithm == "ring")) offer(*ring, true);
  return least;
}

Plan TorusSelector::plan(Collective collective, Operands operands, const DimensionStates& held,
                         double bytes) {
  prepare(held);
  const Ask ask{collective, operands, held, bytes};
  const Priced found = best(ask);
  if (found.composition.lanes.empty()) return {};
  return expand_torus(options_, dims_, collective, found.composition, held, bytes);
}

std::optional<Plan> TorusSelector::ring_plan(Collective collective, Operands operands,
                                             const DimensionStates& held, double bytes) {
  prepare(held);
  const auto found = one_lane(ring_, {collective, operands, held, bytes});
  if (!found) return std::nullopt;
  return expand_torus(options_, dims_, collective, *found, held, bytes);
}

std::vector<Plan> TorusSelector::alternatives(Collective collective, Operands operands,
                                              const DimensionStates& held, double bytes) {
  prepare(held);
  std::vector<Plan> plans;
  for (const auto& composition : compositions({collective, operands, held, bytes})) {
    Plan found = expand_torus(options_, dims_, collective, composition, held, bytes);
    const auto same = std::find_if(plans.begin(), plans.end(), [&](const Plan& other) {
      return other.torus->lanes == found.torus->lanes && other.torus->twins == found.torus->twins;
    });
    if (same == plans.end()) {
      plans.push_back(std::move(found));
    } else if (found.predicted_ns(bytes) < same->predicted_ns(bytes)) {
      *same = std::move(found);
    }
  }
  return plans;
}

const SelectionTable& TorusSelector::table(Collective collective, Operands operands,
                                           const DimensionStates& held) {
  const std::size_t slot =
      static_cast<std::size_t>(collective) * 3 + static_cast<std::size_t>(operands);
  auto& place = tables_[held][slot];
  if (place) return *place;
  prepare(held);
  place = std::make_unique<SelectionTable>();
  SelectionTable& table = *place;
  if (options_.algorithm != "auto") {
    table.asked_.algorithm = schedule::find_algorithm(options_.algorithm).value()->name;
  }
  table.asked_.min_gain = options_.min_gain;
  table.asked_.threshold = options_.threshold;
  const auto add = [&](double from, Plan plan) {
    table.from_.push_back(from);
    table.rows_.push_back({from, std::move(plan)});
  };
  if (const auto ring = one_lane(ring_, {collective, operands, held, 1})) {
    table.has_ring_ = true;
    table.ring_ = tangent(price_torus(options_, dims_, collective, *ring, held), 1);
  }
  struct AtSize {
    Priced priced;
    double bytes = 0;
    model::Line line;
  };
  const auto at_size = [&](double bytes) {
    AtSize found{best({collective, operands, held, bytes}), bytes, {}};
    if (found.priced.composition.lanes.empty()) return found;
    const bool scaled = table.has_ring_ && options_.algorithm == "auto" && !found.priced.is_ring;
    found.line = tangent(found.priced.torus, bytes).scaled(scaled ? options_.min_gain : 1.0);
    return found;
  };
  if (at_size(1).priced.composition.lanes.empty()) {
    add(0, {});
    return table;
  }
  for (const auto& piece : lower_envelope_of<AtSize>(at_size)) {
    add(piece.from, expand_torus(options_, dims_, collective, piece.priced.priced.composition, held,
                                 piece.priced.bytes));
  }
  return table;
}

}  // namespace shortcut::planner
