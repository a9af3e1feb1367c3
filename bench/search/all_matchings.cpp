// Every matching of the switched ports against the optimal planner: ReduceScatter by recursive
// doubling on 8 (105 matchings) or 16 ranks (2,027,025).
//
//   all_matchings [RANKS [ROUNDS]]
//
// Collects the vectors of (hops, load) per step that any matching has, drops those that another is
// no worse than, and searches sequences of the rest for random parameters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include "planner/state_search.hpp"

namespace {

using namespace shortcut;
using topology::CircuitState;

constexpr int kUnreachable = 1 << 20;
/// Hops and load of each step; kUnreachable where there is no route.
using Vector = std::vector<int>;

class Matchings {
 public:
  Matchings(int ranks, const schedule::Schedule& schedule)
      : schedule_(schedule),
        fixed_(topology::fixed_matching(ranks)),
        peer_(static_cast<std::size_t>(ranks), topology::kNobody) {}

  void visit() {
    const auto free = std::find(peer_.begin(), peer_.end(), topology::kNobody);
    if (free == peer_.end()) return add();
    const auto u = static_cast<std::size_t>(free - peer_.begin());
    for (std::size_t v = u + 1; v < peer_.size(); ++v) {
      if (peer_[v] != topology::kNobody) continue;
      peer_[u] = static_cast<int>(v);
      peer_[v] = static_cast<int>(u);
      visit();
      peer_[u] = peer_[v] = topology::kNobody;
    }
  }

  long count = 0;
  std::set<Vector> vectors;

 private:
  void add() {
    ++count;
    const topology::Router router(fixed_, peer_, topology::Antipodal::same_path);
    Vector vector;
    for (const schedule::Step& step : schedule_.steps) {
      const auto route = router.route(step.send_to);
      vector.push_back(route ? route->hops : kUnreachable);
      vector.push_back(route ? route->congestion : kUnreachable);
    }
    vectors.insert(vector);
  }

  const schedule::Schedule& schedule_;
  topology::Matching fixed_;
  topology::Matching peer_;
};

bool covers(const Vector& better, const Vector& worse) {
  for (std::size_t i = 0; i < better.size(); ++i) {
    if (better[i] > worse[i]) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 16;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3000;
  const auto& row = *schedule::find_algorithm("recursive_doubling").value();
  const auto collective = schedule::Collective::reduce_scatter;
  const planner::RoutedSchedule routed(row, collective, ranks, topology::Antipodal::same_path);
  const schedule::Schedule& schedule = routed.schedule();
  Matchings all(ranks, schedule);
  all.visit();
  std::vector<Vector> best;
  for (const Vector& vector : all.vectors) {
    const bool dropped =
        std::any_of(all.vectors.begin(), all.vectors.end(),
                    [&](const auto& other) { return other != vector && covers(other, vector); });
    if (!dropped) best.push_back(vector);
  }
  // The ring is held at the start.
  Vector ring;
  for (const planner::RoutedStep& step : routed.steps()) {
    ring.push_back(step.on_ring.hops);
    ring.push_back(step.on_ring.congestion);
  }
  best.insert(best.begin(), ring);
  fmt::print("{} ranks: {} matchings, {} vectors of (hops, load), {} not covered by another\n",
             ranks, all.count, all.vectors.size(), best.size() - 1);

  std::mt19937 random(16);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto power = [&](double from, double to) {
    return std::pow(10, from + (to - from) * unit(random));
  };
  int beaten = 0;
  double most = 1;
  for (int round = 0; round < rounds; ++round) {
    planner::Options options;
    options.restore = planner::Restore::none;
    options.fabric.alpha_s_ns = power(1, 4);
    options.fabric.alpha_p_ns = power(0, 4);
    options.fabric.delta_ns = power(2, 6);
    const double bytes = power(0, 8);
    std::vector<double> ns(best.size(), std::numeric_limits<double>::infinity());
    ns[0] = 0;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const double change = *std::min_element(ns.begin(), ns.end()) + options.fabric.delta_ns;
      for (std::size_t k = 0; k < best.size(); ++k) {
        const topology::Route route{best[k][2 * i], best[k][2 * i + 1]};
        const double step =
            model::step_cost(options.fabric, route, schedule.steps[i].share * bytes, false)
                .total_ns();
        ns[k] = route.hops == kUnreachable ? std::numeric_limits<double>::infinity()
                                           : std::min(ns[k], change) + step;
      }
    }
    const double least = *std::min_element(ns.begin(), ns.end());
    const double ours =
        planner::StateSearch(options, routed).at(bytes, CircuitState::ring()).line.at(bytes);
    beaten += ours > least * (1 + 1e-9) ? 1 : 0;
    most = std::max(most, ours / least);
  }
  fmt::print(
      "{} random parameter sets: some sequence of matchings beats the planner in {}, by "
      "{:.4f}x at most\n",
      rounds, beaten, most);
  return 0;
}
