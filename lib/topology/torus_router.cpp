#include "topology/torus_router.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace shortcut::topology {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Flows on one ring as patterns in which no endpoint sends twice.
std::vector<std::vector<int>> patterns_of(const std::vector<Flow>& flows, int size) {
  std::vector<std::vector<int>> patterns;
  std::vector<std::size_t> sent(at(size), 0);  // flows of each endpoint so far
  for (const Flow& flow : flows) {
    const std::size_t layer = sent[at(flow.from)]++;
    if (layer == patterns.size()) patterns.emplace_back(at(size), kNobody);
    patterns[layer][at(flow.from)] = flow.to;
  }
  return patterns;
}

}  // namespace

TorusRouter::TorusRouter(Torus torus, const std::vector<CircuitState>& states, Antipodal antipodal,
                         BaseRing base)
    : torus_(std::move(torus)) {
  assert(static_cast<int>(states.size()) == torus_.dimensions());
  for (int k = 0; k < torus_.dimensions(); ++k) {
    rings_.emplace_back(torus_.size(k), states[at(k)], antipodal, base);
  }
}

std::optional<Route> TorusRouter::route(std::span<const Flow> flows) const {
  Route result;
  // Per dimension and ring (named by its endpoint of coordinate 0) what runs along it.
  std::map<std::pair<int, int>, std::vector<Flow>> along;
  for (const Flow& flow : flows) {
    int here = flow.from;
    int hops = 0;
    for (int k = 0; k < torus_.dimensions(); ++k) {
      const Flow leg{torus_.coordinate(here, k), torus_.coordinate(flow.to, k)};
      if (leg.from == leg.to) continue;
      const auto links = rings_[at(k)].distance(leg.from, leg.to);
      if (!links) return std::nullopt;
      hops += *links;
      along[{k, torus_.with_coordinate(here, k, 0)}].push_back(leg);
      here = torus_.with_coordinate(here, k, leg.to);
    }
    result.hops = std::max(result.hops, hops);
  }
  for (const auto& [ring, legs] : along) {
    const auto patterns = patterns_of(legs, torus_.size(ring.first));
    const std::vector<std::span<const int>> views(patterns.begin(), patterns.end());
    const auto route = rings_[at(ring.first)].route_together(views);
    if (!route) return std::nullopt;
    result.congestion = std::max(result.congestion, route->congestion);
  }
  return result;
}

}  // namespace shortcut::topology
