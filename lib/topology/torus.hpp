// Multi-dimensional tori: identifiers and coordinates, the matchings of each dimension, and what
// the switches must be able to do (Shortcut paper, sections V-A and V-B).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"
#include "topology/matching.hpp"

namespace shortcut::topology {

/// A torus of any number of dimensions >= 1, each of any size >= 1. Dimension 0 is the paper's
/// dimension 1: neighbours along it have neighbouring identifiers.
class Torus {
 public:
  /// `dims` must not be empty, every size >= 1, and the product must fit an int (asserted).
  explicit Torus(std::vector<int> dims);

  int dimensions() const { return static_cast<int>(dims_.size()); }
  int size(int dimension) const { return dims_[static_cast<std::size_t>(dimension)]; }
  const std::vector<int>& dims() const { return dims_; }
  int nodes() const { return nodes_; }
  /// g_k of Eq. 12: how far apart in identifiers two neighbours along the dimension are.
  int multiplier(int dimension) const { return multipliers_[static_cast<std::size_t>(dimension)]; }

  /// Eq. 12: id(x) = sum of g_k x_k.
  int id(const std::vector<int>& coordinates) const;
  std::vector<int> coordinates(int id) const;
  int coordinate(int id, int dimension) const {
    return id / multiplier(dimension) % size(dimension);
  }
  /// The endpoint whose coordinate along `dimension` is `coordinate`, the others as `id`'s.
  int with_coordinate(int id, int dimension, int coordinate) const {
    return id + (coordinate - this->coordinate(id, dimension)) * multiplier(dimension);
  }

  /// Rings parallel to a dimension: n / d_k.
  int rings(int dimension) const { return nodes_ / size(dimension); }

  /// Lifts a matching of one ring (size d_k) to every ring parallel to the dimension.
  Matching lift(int dimension, const Matching& ring) const;
  /// Eqs. 13 and 14.
  Matching fixed_matching(int dimension) const;
  /// Eq. 15 for the ring, Eq. 10 along the dimension for the peers.
  Matching switched_matching(int dimension, CircuitState state) const;

 private:
  std::vector<int> dims_;
  std::vector<int> multipliers_;
  int nodes_;
};

/// "16x8" -> {16, 8}. The error names the text and what is allowed; with `nodes` > 0 the product
/// must be that.
Result<std::vector<int>> parse_dims(std::string_view text, int nodes = 0);
std::string format_dims(const std::vector<int>& dims);

/// Factors n into at most `most` dimensions as even as can be, the largest first: 64 -> 8x8 for 2,
/// 4x4x4 for 3. A prime stays one ring.
std::vector<int> balanced_dims(int nodes, int most);

/// Number and radix of the dynamic switches of one dimension (section V-B).
struct SwitchCount {
  int switches = 0;
  int radix = 0;  ///< endpoint-facing ports of each
};

/// With `parity` each ring is split into its even and its odd endpoints, each class on a switch of
/// its own: 2n / (b d_k) switches of b d_k / 2 ports, where b rings share a switch. Without, n / (b
/// d_k) switches of b d_k ports, or b (d_k + 1) for an odd ring, whose last endpoint has no fixed
/// link and both ports on the switch. The error says when b does not divide n / d_k, or d_k is odd.
Result<SwitchCount> count_switches(const Torus& torus, int dimension, int rings_per_switch,
                                   bool parity);

/// Can the switches hold this matching of one ring: do its ends always share a switch?
/// With parity classes: does it join only endpoints of equal parity?
bool fits_parity(const Matching& ring);

}  // namespace shortcut::topology
