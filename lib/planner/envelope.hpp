// Lower envelopes of prices over message sizes: which candidate is best from which size on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "model/cost.hpp"

namespace shortcut::planner {

/// Sizes at which the choice can change: where lines cross the one of index `against`; sorted.
std::vector<double> crossings(const std::vector<model::Line>& lines, std::size_t against);

struct EnvelopePiece {
  double from = 0;
  std::size_t line = 0;
};

/// Lower envelope over sizes >= 0; of equal lines the first wins.
std::vector<EnvelopePiece> lower_envelope(const std::vector<model::Line>& lines);

/// Up to rounding.
bool same_line(const model::Line& left, const model::Line& right);

template <class Priced>
struct PricedPiece {
  double from = 0;
  Priced priced;
};

/// The lower envelope of lines that can only be asked for one size at a time: best(bytes) has the
/// `line` that is least there.
template <class Priced, class Best>
class Bisection {
 public:
  using Piece = PricedPiece<Priced>;
  explicit Bisection(const Best& best) : best_(best) {}

  /// From 0 to 1 PB and on: a crossing below a byte or beyond would make no difference.
  std::vector<Piece> find() {
    constexpr double kSmallest = 1.0 / 1024;
    constexpr double kLargest = 1e15;
    const Priced low = best_(kSmallest);
    pieces_.push_back({0, low});
    split(kSmallest, low, kLargest, best_(kLargest));
    return std::move(pieces_);
  }

 private:
  void split(double low_bytes, const Priced& low, double high_bytes, const Priced& high) {
    if (same_line(low.line, high.line)) return;
    const double slope = low.line.per_byte_ns - high.line.per_byte_ns;
    const double cross = (high.line.fixed_ns - low.line.fixed_ns) / slope;
    // Lines that differ by rounding only may cross outside; either will do.
    if (!(cross > low_bytes && cross < high_bytes)) {
      add(std::isfinite(cross) ? std::clamp(cross, low_bytes, high_bytes) : high_bytes, high);
      return;
    }
    const Priced middle = best_(cross);
    const double known = std::min(low.line.at(cross), high.line.at(cross));
    if (middle.line.at(cross) >= known * (1 - 1e-12)) {
      add(cross, high);
      return;
    }
    split(low_bytes, low, cross, middle);
    split(cross, middle, high_bytes, high);
  }

  void add(double from, const Priced& priced) {
    if (from <= pieces_.back().from) {
      pieces_.back().priced = priced;
    } else {
      pieces_.push_back({from, priced});
    }
  }

  const Best& best_;
  std::vector<Piece> pieces_;
};

template <class Priced, class Best>
std::vector<PricedPiece<Priced>> lower_envelope_of(const Best& best) {
  return Bisection<Priced, Best>(best).find();
}

}  // namespace shortcut::planner
