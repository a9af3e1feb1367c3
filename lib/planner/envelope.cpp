#include "planner/envelope.hpp"

#include <limits>

namespace shortcut::planner {
namespace {

/// Slopes that differ by rounding only would cross far out, where prices are rounding too.
constexpr double kSlopeRounding = 1e-12;

}  // namespace

bool same_line(const model::Line& left, const model::Line& right) {
  const auto close = [](double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
  };
  return close(left.fixed_ns, right.fixed_ns) && close(left.per_byte_ns, right.per_byte_ns);
}

std::vector<double> crossings(const std::vector<model::Line>& lines, std::size_t against) {
  std::vector<double> sizes;
  for (const model::Line& line : lines) {
    const double slope = line.per_byte_ns - lines[against].per_byte_ns;
    if (std::abs(slope) <= kSlopeRounding * std::abs(line.per_byte_ns)) continue;
    const double size = (lines[against].fixed_ns - line.fixed_ns) / slope;
    if (size > 0 && std::isfinite(size)) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<EnvelopePiece> lower_envelope(const std::vector<model::Line>& lines) {
  std::vector<EnvelopePiece> pieces;
  std::size_t best = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool cheaper = lines[i].fixed_ns < lines[best].fixed_ns;
    const bool flatter =
        lines[i].fixed_ns == lines[best].fixed_ns && lines[i].per_byte_ns < lines[best].per_byte_ns;
    if (cheaper || flatter) best = i;
  }
  double from = 0;
  while (true) {
    pieces.push_back({from, best});
    double next_from = std::numeric_limits<double>::infinity();
    std::size_t next = best;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!(lines[i].per_byte_ns < lines[best].per_byte_ns * (1 - kSlopeRounding))) continue;
      const double size = (lines[i].fixed_ns - lines[best].fixed_ns) /
                          (lines[best].per_byte_ns - lines[i].per_byte_ns);
      const bool sooner = size < next_from;
      const bool flatter = size == next_from && lines[i].per_byte_ns < lines[next].per_byte_ns;
      if (sooner || flatter) {
        next_from = size;
        next = i;
      }
    }
    if (next == best) return pieces;
    best = next;
    from = std::max(from, next_from);
  }
}

}  // namespace shortcut::planner
