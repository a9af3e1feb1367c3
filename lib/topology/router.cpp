#include "topology/router.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace shortcut::topology {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Router::Router(int nodes, CircuitState state, Antipodal antipodal, BaseRing base)
    : antipodal_(antipodal) {
  if (state.kind == CircuitState::Kind::ring && !is_twisted(nodes, base)) {
    // The identity layout; written out because an odd ring is no union of two matchings.
    component_.assign(at(nodes), 0);
    position_.resize(at(nodes));
    for (int u = 0; u < nodes; ++u) position_[at(u)] = u;
    components_.push_back({0, nodes, nodes > 2});
    plain_ring_ = nodes > 2;
    return;
  }
  lay_out(fixed_matching(nodes), switched_matching(nodes, state, base));
}

Router::Router(const Matching& fixed, const Matching& switched, Antipodal antipodal)
    : antipodal_(antipodal) {
  lay_out(fixed, switched);
}

void Router::lay_out(const Matching& fixed, const Matching& switched) {
  const int nodes = static_cast<int>(fixed.size());
  component_.assign(at(nodes), -1);
  position_.assign(at(nodes), 0);
  int offset = 0;
  // Walks along alternating ports from `start`; returns how many endpoints were laid out.
  const auto walk = [&](int start, bool by_fixed, bool& closed) {
    int length = 0;
    int here = start;
    closed = false;
    while (here != kNobody && component_[at(here)] < 0) {
      component_[at(here)] = static_cast<int>(components_.size());
      position_[at(here)] = length++;
      here = by_fixed ? fixed[at(here)] : switched[at(here)];
      by_fixed = !by_fixed;
    }
    closed = here == start && length > 2;
    return length;
  };
  // Ends of paths first: a walk begun in the middle of a path would see only half of it.
  for (const bool ends_only : {true, false}) {
    for (int u = 0; u < nodes; ++u) {
      if (component_[at(u)] >= 0) continue;
      const bool no_fixed = fixed[at(u)] == kNobody;
      const bool no_switched = switched[at(u)] == kNobody;
      if (ends_only && !no_fixed && !no_switched) continue;
      bool closed = false;
      const int length = walk(u, !no_fixed, closed);
      components_.push_back({offset, length, closed});
      offset += length + 1;  // one spare entry ends the component's difference array
    }
  }
}

std::optional<int> Router::distance(int from, int to) const {
  if (component_[at(from)] != component_[at(to)]) return std::nullopt;
  const Component& part = components_[at(component_[at(from)])];
  const int straight = std::abs(position_[at(to)] - position_[at(from)]);
  return part.cycle ? std::min(straight, part.length - straight) : straight;
}

/// Loads of a pattern that repeats every `period` links, as a difference array over one period.
class PeriodicLoad {
 public:
  explicit PeriodicLoad(int period) : period_(period), change_(at(period) + 1, 0) {}

  /// A path over `links` links from position `first`. In every period together its repetitions put
  /// one flow on each link of it, counted by residue.
  void add(int first, int links) {
    if (links >= period_) {
      everywhere_ += links / period_;
      links %= period_;
      first %= period_;
    }
    if (first >= period_) first %= period_;
    const int end = first + links;
    ++change_[at(first)];
    if (end <= period_) {
      --change_[at(end)];
    } else {
      ++change_[0];
      --change_[at(end - period_)];
    }
  }

  int largest() const {
    int load = everywhere_;
    int most = load;
    for (int p = 0; p < period_; ++p) {
      load += change_[at(p)];
      most = std::max(most, load);
    }
    return most;
  }

 private:
  int period_;
  int everywhere_ = 0;
  std::vector<int> change_;
};

bool Router::add_on_plain_ring(std::span<const int> send_to, int period, PeriodicLoad& up,
                               PeriodicLoad& down, int& hops) const {
  const int n = nodes();
  for (int u = 0; u < period; ++u) {
    const int v = send_to[at(u)];
    if (v == kNobody || v == u) continue;
    const int forward = v > u ? v - u : v - u + n;
    const int backward = n - forward;
    bool go_up = forward < backward;
    if (forward == backward) {
      // Which way depends on the endpoints themselves, so the flows do not repeat.
      if (period < n) return false;
      const int lower = std::min(u, v);
      go_up = antipodal_ == Antipodal::same_path ? u == lower : lower % 2 == 0;
    }
    if (go_up) {
      up.add(u, forward);
      hops = std::max(hops, forward);
    } else {
      down.add(v, backward);
      hops = std::max(hops, backward);
    }
  }
  return true;
}

Route Router::route_on_plain_ring(std::span<const int> send_to, int period) const {
  PeriodicLoad up(period);
  PeriodicLoad down(period);
  int hops = 0;
  if (!add_on_plain_ring(send_to, period, up, down, hops)) {
    return route_on_plain_ring(send_to, nodes());
  }
  return {hops, std::max(up.largest(), down.largest())};
}

std::optional<Route> Router::route_together(std::span<const std::span<const int>> patterns) const {
  if (!plain_ring_) return route_on_components(patterns);
  PeriodicLoad up(nodes());
  PeriodicLoad down(nodes());
  int hops = 0;
  for (const auto& send_to : patterns) add_on_plain_ring(send_to, nodes(), up, down, hops);
  return Route{hops, std::max(up.largest(), down.largest())};
}

std::optional<Route> Router::route(std::span<const int> send_to, int period) const {
  if (plain_ring_) return route_on_plain_ring(send_to, period);
  return route_on_components({&send_to, 1});
}

std::optional<Route> Router::route_on_components(
    std::span<const std::span<const int>> patterns) const {
  const int count = nodes();
  // Difference arrays of the load on the link from position p to p+1 (up) and back (down).
  std::vector<int> up(at(count) + components_.size(), 0);
  std::vector<int> down(up.size(), 0);
  Route result;
  const auto add = [](std::vector<int>& load, const Component& part, int from, int links) {
    const int end = from + links;
    ++load[at(part.first + from)];
    if (end <= part.length) {
      --load[at(part.first + end)];
    } else {  // wraps around
      --load[at(part.first + part.length)];
      ++load[at(part.first)];
      --load[at(part.first + end - part.length)];
    }
  };
  const auto route_flow = [&](int u, int v) {
    const Component& part = components_[at(component_[at(u)])];
    const int from = position_[at(u)];
    const int to = position_[at(v)];
    if (!part.cycle) {
      const int links = std::abs(to - from);
      add(to > from ? up : down, part, std::min(from, to), links);
      result.hops = std::max(result.hops, links);
      return;
    }
    const int forward = to >= from ? to - from : to - from + part.length;
    const int backward = part.length - forward;
    bool go_up = forward < backward;
    if (forward == backward) {
      const int lower = std::min(from, to);
      go_up = antipodal_ == Antipodal::same_path ? from == lower : lower % 2 == 0;
    }
    if (go_up) {
      add(up, part, from, forward);
    } else {
      add(down, part, to, backward);
    }
    result.hops = std::max(result.hops, std::min(forward, backward));
  };
  for (const std::span<const int> send_to : patterns) {
    for (int u = 0; u < count; ++u) {
      const int v = send_to[at(u)];
      if (v == kNobody || v == u) continue;
      if (component_[at(u)] != component_[at(v)]) return std::nullopt;
      route_flow(u, v);
    }
  }
  for (const std::vector<int>* loads : {&up, &down}) {
    for (const Component& part : components_) {
      int load = 0;
      for (int p = part.first; p < part.first + part.length; ++p) {
        load += (*loads)[at(p)];
        result.congestion = std::max(result.congestion, load);
      }
    }
  }
  return result;
}

}  // namespace shortcut::topology
