#include "topology/torus.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>

namespace shortcut::topology {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Torus::Torus(std::vector<int> dims) : dims_(std::move(dims)), nodes_(1) {
  assert(!dims_.empty());
  for (const int size : dims_) {
    assert(size >= 1 && nodes_ <= std::numeric_limits<int>::max() / size);
    multipliers_.push_back(nodes_);
    nodes_ *= size;
  }
}

int Torus::id(const std::vector<int>& coordinates) const {
  assert(coordinates.size() == dims_.size());
  int id = 0;
  for (std::size_t k = 0; k < dims_.size(); ++k) id += multipliers_[k] * coordinates[k];
  return id;
}

std::vector<int> Torus::coordinates(int id) const {
  std::vector<int> result;
  for (int k = 0; k < dimensions(); ++k) result.push_back(coordinate(id, k));
  return result;
}

Matching Torus::lift(int dimension, const Matching& ring) const {
  Matching peer(at(nodes_), kNobody);
  for (int u = 0; u < nodes_; ++u) {
    const int other = ring[at(coordinate(u, dimension))];
    if (other != kNobody) peer[at(u)] = with_coordinate(u, dimension, other);
  }
  return peer;
}

Matching Torus::fixed_matching(int dimension) const {
  return lift(dimension, topology::fixed_matching(size(dimension)));
}

Matching Torus::switched_matching(int dimension, CircuitState state) const {
  return lift(dimension, topology::switched_matching(size(dimension), state));
}

Result<std::vector<int>> parse_dims(std::string_view text, int nodes) {
  std::vector<int> dims;
  long long product = 1;
  std::string_view rest = text;
  const auto wrong = [&](const std::string& why) {
    return Error{"dimensions '" + std::string(text) + "' " + why};
  };
  const auto too_many = [&] {
    return wrong("have more than " + std::to_string(std::numeric_limits<int>::max()) +
                 " endpoints");
  };
  while (true) {
    int size = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (status == std::errc::result_out_of_range) return too_many();
    if (status != std::errc{} || size < 1) {
      return wrong("are not sizes of at least 1 joined by x, such as 16x8");
    }
    dims.push_back(size);
    product *= size;
    if (product > std::numeric_limits<int>::max()) return too_many();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) break;
    if (rest.front() != 'x') return wrong("are not sizes of at least 1 joined by x, such as 16x8");
    rest.remove_prefix(1);
  }
  if (nodes > 0 && product != nodes) {
    return wrong("make " + std::to_string(product) + " endpoints, not " + std::to_string(nodes));
  }
  return dims;
}

std::string format_dims(const std::vector<int>& dims) {
  std::string text;
  for (const int size : dims) {
    if (!text.empty()) text += 'x';
    text += std::to_string(size);
  }
  return text;
}

std::vector<int> balanced_dims(int nodes, int most) {
  assert(nodes >= 1 && most >= 1);
  std::vector<int> factors;
  for (int rest = nodes, p = 2; rest > 1; ++p) {
    if (p * p > rest) p = rest;
    for (; rest % p == 0; rest /= p) factors.push_back(p);
  }
  // Largest factors first, each to the smallest dimension so far.
  std::vector<int> dims(at(most), 1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    *std::min_element(dims.begin(), dims.end()) *= *factor;
  }
  std::sort(dims.rbegin(), dims.rend());
  while (dims.size() > 1 && dims.back() == 1) dims.pop_back();
  return dims;
}

Result<SwitchCount> count_switches(const Torus& torus, int dimension, int rings_per_switch,
                                   bool parity) {
  const int rings = torus.rings(dimension);
  const int size = torus.size(dimension);
  if (rings_per_switch < 1 || rings % rings_per_switch != 0) {
    return Error{"rings per switch " + std::to_string(rings_per_switch) + " does not divide the " +
                 std::to_string(rings) + " rings of dimension " + std::to_string(dimension) +
                 " of " + format_dims(torus.dims())};
  }
  if (parity && size % 2 != 0) {
    return Error{"dimension " + std::to_string(dimension) + " of " + format_dims(torus.dims()) +
                 " has odd size " + std::to_string(size) + ": parity classes need an even size"};
  }
  const int groups = rings / rings_per_switch;
  if (parity) return SwitchCount{2 * groups, rings_per_switch * size / 2};
  return SwitchCount{groups, rings_per_switch * (size + size % 2)};
}

bool fits_parity(const Matching& ring) {
  for (std::size_t u = 0; u < ring.size(); ++u) {
    if (ring[u] != kNobody && (ring[u] ^ static_cast<int>(u)) % 2 != 0) return false;
  }
  return true;
}

}  // namespace shortcut::topology
