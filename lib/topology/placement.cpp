#include "topology/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

namespace shortcut::topology {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr std::string_view kForms = "rank, auto, axes:0,1,... or file:PATH";

std::string_view trimmed(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// "1,0,2"; nullopt: not integers >= 0.
std::optional<std::vector<int>> integers(std::string_view text) {
  std::vector<int> values;
  while (true) {
    const std::string_view head = trimmed(text.substr(0, text.find(',')));
    int value = 0;
    const auto [end, error] = std::from_chars(head.data(), head.data() + head.size(), value);
    if (error != std::errc() || end != head.data() + head.size() || value < 0) return std::nullopt;
    values.push_back(value);
    if (text.find(',') == std::string_view::npos) return values;
    text.remove_prefix(text.find(',') + 1);
  }
}

}  // namespace

Result<MapExpression> parse_map(std::string_view text) {
  MapExpression map;
  if (text == "rank") return map;
  if (text == "auto") {
    map.kind = MapExpression::Kind::nodes;
    return map;
  }
  if (text.starts_with("file:") && text.size() > 5) {
    map.kind = MapExpression::Kind::file;
    map.path = text.substr(5);
    return map;
  }
  if (text.starts_with("axes:")) {
    if (auto axes = integers(text.substr(5))) {
      map.kind = MapExpression::Kind::axes;
      map.axes = std::move(*axes);
      return map;
    }
  }
  return Error{fmt::format("'{}' is not {}", text, kForms)};
}

Result<std::vector<int>> map_by_axes(const Torus& torus, const std::vector<int>& axes) {
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> dimensions(at(torus.dimensions()));
  std::iota(dimensions.begin(), dimensions.end(), 0);
  if (sorted != dimensions) {
    return Error{fmt::format("axes:{} does not name each dimension of {} once (0 to {})",
                             fmt::join(axes, ","), format_dims(torus.dims()),
                             torus.dimensions() - 1)};
  }
  std::vector<int> endpoint(at(torus.nodes()));
  for (int rank = 0; rank < torus.nodes(); ++rank) {
    int left = rank;
    for (const int axis : axes) {
      endpoint[at(rank)] += left % torus.size(axis) * torus.multiplier(axis);
      left /= torus.size(axis);
    }
  }
  return endpoint;
}

std::vector<int> map_by_nodes(const std::vector<int>& node_of, const std::vector<int>& order_of) {
  std::map<int, int> first;  // node -> its lowest rank
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    first.emplace(node_of[rank], static_cast<int>(rank));
  }
  std::vector<int> order(node_of.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int rank) {
    return std::tuple(first[node_of[at(rank)]], order_of.empty() ? 0 : order_of[at(rank)], rank);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  std::vector<int> endpoint(node_of.size());
  for (std::size_t i = 0; i < order.size(); ++i) endpoint[at(order[i])] = static_cast<int>(i);
  return endpoint;
}

Result<std::vector<int>> map_from_text(const Torus& torus, std::string_view text) {
  std::vector<int> endpoint;
  std::vector<int> line_of(at(torus.nodes()), 0);  // of the rank on each endpoint; 0: none yet
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), text.substr(0, text.find('\n')).size() + 1));
    ++number;
    if (line.empty()) continue;
    const auto values = integers(line);
    int id = -1;
    if (values && values->size() == 1) {
      id = values->front();
    } else if (values && values->size() == torus.dims().size()) {
      const bool inside = std::equal(values->begin(), values->end(), torus.dims().begin(),
                                     [](int x, int size) { return x < size; });
      if (inside) id = torus.id(*values);
    }
    if (id < 0 || id >= torus.nodes()) {
      return Error{fmt::format("line {}: '{}' is no endpoint of {}: 0 to {}, or {} coordinates",
                               number, line, format_dims(torus.dims()), torus.nodes() - 1,
                               torus.dimensions())};
    }
    if (line_of[at(id)] > 0) {
      return Error{fmt::format("line {}: endpoint {} has a rank already, of line {}", number, id,
                               line_of[at(id)])};
    }
    line_of[at(id)] = number;
    endpoint.push_back(id);
  }
  if (static_cast<int>(endpoint.size()) != torus.nodes()) {
    return Error{fmt::format("{} lines with an endpoint, but {} has {}", endpoint.size(),
                             format_dims(torus.dims()), torus.nodes())};
  }
  return endpoint;
}

std::optional<SubTorus> recognise(const Torus& torus, const std::vector<int>& members) {
  SubTorus part;
  std::vector<int> whole;  // dimensions of which all coordinates are there
  std::size_t expected = 1;
  for (int k = 0; k < torus.dimensions(); ++k) {
    std::vector<int> seen(at(torus.size(k)), 0);
    for (const int id : members) seen[at(torus.coordinate(id, k))] = 1;
    const int coordinates = std::accumulate(seen.begin(), seen.end(), 0);
    if (coordinates == 1) continue;
    if (coordinates != torus.size(k)) return std::nullopt;
    whole.push_back(k);
    part.dims.push_back(torus.size(k));
    expected *= at(torus.size(k));
  }
  if (members.size() != expected) return std::nullopt;
  std::vector<char> taken(expected, 0);
  for (const int id : members) {
    int own = 0;
    int multiplier = 1;
    for (const int k : whole) {
      own += torus.coordinate(id, k) * multiplier;
      multiplier *= torus.size(k);
    }
    if (std::exchange(taken[at(own)], 1) != 0) return std::nullopt;
    part.endpoint.push_back(own);
  }
  return part;
}

}  // namespace shortcut::topology
