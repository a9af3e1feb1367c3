#include "planner/harvest.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "topology/matching.hpp"

namespace shortcut::planner {
namespace {

constexpr double kUnreachable = std::numeric_limits<double>::infinity();

std::size_t at(int index) { return static_cast<std::size_t>(index); }

double repeated_step_ns(const model::FabricParameters& fabric, const Shift& shift,
                        topology::Route route, double bytes) {
  return shift.repeat * model::step_cost(fabric, route, shift.share * bytes, false).total_ns();
}

}  // namespace

Circulant::Circulant(int nodes, int generator)
    : nodes_(nodes), orbits_(std::gcd(generator, nodes)), order_(nodes / orbits_), inverse_(0) {
  assert(generator >= 1 && generator < nodes);
  // Extended Euclid: keeps before = before_factor * (generator / orbits) modulo order.
  int before = order_;
  int here = generator / orbits_;
  int before_factor = 0;
  int here_factor = 1;
  while (here > 0) {
    const int quotient = before / here;
    before = std::exchange(here, before - quotient * here);
    before_factor = std::exchange(here_factor, before_factor - quotient * here_factor);
  }
  inverse_ = before_factor < 0 ? before_factor + order_ : before_factor;
}

int Circulant::hops(int distance) const {
  if (distance % orbits_ != 0) return 0;
  return static_cast<int>(std::int64_t{distance / orbits_} * inverse_ % order_);
}

std::optional<topology::Route> Circulant::route(const Shift& shift) const {
  const int path = hops(shift.distance);
  if (path == 0) return std::nullopt;
  if (shift.senders.empty()) return topology::Route{path, path};
  // Links in the order of their orbits; a flow loads `path` of them in a row, around the end.
  std::vector<int> change(at(nodes_ + orbits_), 0);
  for (const int sender : shift.senders) {
    const int orbit = sender % orbits_ * (order_ + 1);
    const int begin = hops(sender - sender % orbits_);
    const int end = begin + path;
    ++change[at(orbit + begin)];
    --change[at(orbit + std::min(end, order_))];
    if (end > order_) {
      ++change[at(orbit)];
      --change[at(orbit + end - order_)];
    }
  }
  int load = 0;
  int most = 0;
  for (const int step : change) most = std::max(most, load += step);
  return topology::Route{path, most};
}

SegmentTable::SegmentTable(int step_count)
    : steps(step_count), entries(index(step_count, 0), {kUnreachable, 0}) {}

SegmentTable segments_by_search(std::span<const std::vector<double>> costs_ns) {
  SegmentTable table(static_cast<int>(costs_ns.size()));
  if (costs_ns.empty()) return table;
  const std::size_t states = costs_ns[0].size();
  std::vector<double> sum(states);
  for (int first = 0; first < table.steps; ++first) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int last = first; last < table.steps; ++last) {
      const std::vector<double>& row = costs_ns[at(last)];
      SegmentTable::Entry best{kUnreachable, 0};
      for (std::size_t state = 0; state < states; ++state) {
        sum[state] += row[state];
        if (sum[state] < best.cost_ns) best = {sum[state], static_cast<int>(state)};
      }
      table.at(first, last) = best;
    }
  }
  return table;
}

SegmentTable segments_on_circulants(const model::FabricParameters& fabric, int nodes, double bytes,
                                    std::span<const Shift> shifts) {
  std::vector<std::vector<double>> costs(shifts.size(),
                                         std::vector<double>(at(nodes - 1), kUnreachable));
  for (int generator = 1; generator < nodes; ++generator) {
    const Circulant circulant(nodes, generator);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const auto route = circulant.route(shifts[i]);
      if (!route) continue;
      costs[i][at(generator - 1)] = repeated_step_ns(fabric, shifts[i], *route, bytes);
    }
  }
  SegmentTable table = segments_by_search(costs);
  for (SegmentTable::Entry& entry : table.entries) ++entry.state;
  return table;
}

bool has_closed_form(int nodes, std::span<const Shift> shifts) {
  return topology::is_power_of_two(nodes) &&
         std::all_of(shifts.begin(), shifts.end(), [](const Shift& shift) {
           return shift.senders.empty() && topology::is_power_of_two(shift.distance);
         });
}

SegmentTable segments_in_closed_form(const model::FabricParameters& fabric, double bytes,
                                     std::span<const Shift> shifts) {
  // On generator g = 2^a a step of distance d has d/g hops and load, and all but the start-up is
  // proportional to those.
  SegmentTable table(static_cast<int>(shifts.size()));
  for (int first = 0; first < table.steps; ++first) {
    int generator = shifts[at(first)].distance;
    double start_up_ns = 0;
    double on_the_ring_ns = 0;
    for (int last = first; last < table.steps; ++last) {
      const Shift& shift = shifts[at(last)];
      generator = std::min(generator, shift.distance);
      start_up_ns += shift.repeat * fabric.alpha_s_ns;
      on_the_ring_ns +=
          shift.repeat * shift.distance *
          (fabric.hop_factor * fabric.alpha_p_ns + fabric.beta_ns_per_byte * shift.share * bytes);
      table.at(first, last) = {start_up_ns + on_the_ring_ns / generator, generator};
    }
  }
  return table;
}

SegmentProgram::SegmentProgram(const SegmentTable& table)
    : table_(table), steps_(table.steps), cells_(at(steps_) * at(steps_), {kUnreachable, 0}) {
  for (int first = 0; first < steps_; ++first) {
    cells_[at(first)] = {table.at(first, steps_ - 1).cost_ns, steps_};
  }
  for (int k = 1; k < steps_; ++k) {
    // The rest needs a step for each of the k segments that follow.
    for (int first = 0; first + k < steps_; ++first) {
      Cell best{kUnreachable, 0};
      for (int next = first + 1; next + k - 1 < steps_; ++next) {
        const double ns = table.at(first, next - 1).cost_ns + cell(next, k - 1).ns;
        if (ns < best.ns) best = {ns, next};
      }
      cells_[at(k * steps_ + first)] = best;
    }
  }
}

double SegmentProgram::steps_ns(int reconfigurations) const {
  return steps_ == 0 ? 0 : cell(0, reconfigurations).ns;
}

int SegmentProgram::best(double delta_ns) const {
  // Sums in another order differ in their last digits; that is no reason to reconfigure.
  constexpr double kRounding = 1e-13;
  int best = 0;
  for (int k = 1; k < steps_; ++k) {
    const double held = steps_ns(best) + best * delta_ns;
    if (steps_ns(k) + k * delta_ns < held * (1 - kRounding)) best = k;
  }
  return best;
}

std::vector<Segment> SegmentProgram::segments(int reconfigurations) const {
  std::vector<Segment> segments;
  segments.reserve(at(reconfigurations + 1));
  int first = 0;
  for (int k = reconfigurations; k >= 0 && first < steps_; --k) {
    const int next = cell(first, k).next;
    assert(next > first);
    segments.push_back({first, next - 1, table_.at(first, next - 1).state});
    first = next;
  }
  return segments;
}

namespace {

std::vector<Segment> choose_segments(const model::FabricParameters& fabric, int nodes, double bytes,
                                     std::span<const Shift> shifts, CirculantForm form) {
  if (form == CirculantForm::every_step) {
    std::vector<Segment> segments;
    for (int i = 0; i < static_cast<int>(shifts.size()); ++i) {
      segments.push_back({i, i, shifts[at(i)].distance});
    }
    return segments;
  }
  const SegmentTable table = has_closed_form(nodes, shifts)
                                 ? segments_in_closed_form(fabric, bytes, shifts)
                                 : segments_on_circulants(fabric, nodes, bytes, shifts);
  if (form == CirculantForm::fixed) {
    return {{0, table.steps - 1, table.at(0, table.steps - 1).state}};
  }
  const SegmentProgram program(table);
  return program.segments(program.best(fabric.delta_ns));
}

}  // namespace

CirculantPlan plan_on_circulants(const model::FabricParameters& fabric,
                                 const ShiftAlgorithm& algorithm, CirculantCollective collective,
                                 int nodes, double bytes, CirculantForm form) {
  CirculantPlan plan;
  plan.algorithm = &algorithm;
  plan.form = form;
  const std::vector<Shift> shifts = algorithm.make(collective, nodes);
  plan.steps.reserve(shifts.size());
  int held = 0;
  for (const Segment& segment : choose_segments(fabric, nodes, bytes, shifts, form)) {
    const Circulant circulant(nodes, segment.state);
    for (int i = segment.first; i <= segment.last; ++i) {
      const Shift& shift = shifts[at(i)];
      const auto route = circulant.route(shift);
      assert(route);
      const bool reconfigured = held != 0 && held != segment.state;
      held = segment.state;
      plan.steps.push_back(
          {segment.state, *route, shift.share * bytes, reconfigured, shift.repeat});
      plan.reconfigurations += reconfigured ? 1 : 0;
      plan.predicted_ns += repeated_step_ns(fabric, shift, *route, bytes);
    }
  }
  plan.predicted_ns += plan.reconfigurations * fabric.delta_ns;
  return plan;
}

}  // namespace shortcut::planner
