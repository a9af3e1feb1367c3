#include "shortcut/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shortcut::cli {
namespace {

constexpr const char* kFixed = "#1f77b4";
constexpr const char* kSwitched = "#e6550d";

struct Point {
  double x = 0, y = 0;
};

/// Where each endpoint lies, by its number; the first of the order on top, then clockwise.
std::vector<Point> places(const Panel& panel, double radius) {
  std::vector<Point> points(panel.order.size());
  for (std::size_t p = 0; p < panel.order.size(); ++p) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(p) / static_cast<double>(panel.order.size());
    points[static_cast<std::size_t>(panel.order[p])] = {radius * std::sin(angle),
                                                        -radius * std::cos(angle)};
  }
  return points;
}

/// Room for the labels, as far as a picture may grow.
double radius_for(std::size_t nodes) {
  return std::clamp(5.0 * static_cast<double>(nodes), 75.0, 520.0);
}

}  // namespace

std::string dot_of(const std::vector<Panel>& panels) {
  std::string text;
  for (const Panel& panel : panels) {
    text += fmt::format("graph \"{}\" {{\n  label=\"{}: {}\"; node [shape=circle]\n", panel.title,
                        panel.title, panel.subtitle);
    const auto points = places(panel, radius_for(panel.order.size()));
    for (std::size_t u = 0; u < points.size(); ++u) {
      text +=
          fmt::format("  {} [pos=\"{:.1f},{:.1f}\"]\n", u, points[u].x + 0.0, 0.0 - points[u].y);
    }
    for (const auto& [u, v] : panel.fixed) {
      text += fmt::format("  {} -- {} [color=\"{}\"]\n", u, v, kFixed);
    }
    for (const auto& [u, v] : panel.switched) {
      text += fmt::format("  {} -- {} [color=\"{}\"]\n", u, v, kSwitched);
    }
    text += "}\n";
  }
  return text;
}

std::string svg_of(const std::vector<Panel>& panels) {
  std::size_t largest = 0;
  for (const Panel& panel : panels) largest = std::max(largest, panel.order.size());
  const double radius = radius_for(largest);
  const double cell = 2 * radius + 70;
  constexpr double kHeading = 44;
  constexpr double kLegend = 40;
  const int columns = std::min(static_cast<int>(panels.size()), radius > 200 ? 2 : 4);
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  const double width = std::max(cell * columns, 320.0);
  const double height = kLegend + (cell + kHeading) * rows;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 "
      "0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" "
      "height=\"100%\" fill=\"white\"/>\n"
      "<g stroke-width=\"3\"><path d=\"M20 20h30\" stroke=\"{2}\"/><path d=\"M150 20h30\" "
      "stroke=\"{3}\"/></g><text x=\"56\" y=\"24\">fixed link</text><text x=\"186\" "
      "y=\"24\">switched link</text>\n",
      width, height, kFixed, kSwitched);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = panels[i];
    const auto column = static_cast<int>(i) % columns;
    const auto row = static_cast<int>(i) / columns;
    const double x = cell * column + cell / 2;
    const double top = kLegend + (cell + kHeading) * row;
    text += fmt::format(
        "<g transform=\"translate({:.1f} {:.1f})\">\n<text text-anchor=\"middle\" y=\"{:.1f}\" "
        "font-size=\"15\" font-weight=\"bold\">{}</text><text text-anchor=\"middle\" y=\"{:.1f}\" "
        "fill=\"#555\">{}</text>\n",
        x, top + kHeading + cell / 2, -cell / 2 - 22, panel.title, -cell / 2 - 5, panel.subtitle);
    const auto points = places(panel, radius);
    // Fixed links bend outwards, switched ones inwards: two that join one pair can be told apart.
    const auto line = [&](std::pair<int, int> link, const char* colour, double bend) {
      const Point a = points[static_cast<std::size_t>(link.first)];
      const Point b = points[static_cast<std::size_t>(link.second)];
      // No further than the link is long: neighbours of large rings lie close together.
      const double length = std::hypot(b.x - a.x, b.y - a.y);
      const double limit = 0.7 * length / radius;
      const double by = 1 + std::clamp(bend, -limit, limit);
      const double mx = (a.x + b.x) / 2 * by;
      const double my = (a.y + b.y) / 2 * by;
      text += fmt::format(
          "<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
          "stroke-width=\"{}\"/>\n",
          a.x, a.y, mx, my, b.x, b.y, colour, colour == kFixed ? 3 : 1.8);
    };
    for (const auto& link : panel.fixed) line(link, kFixed, 0.12);
    for (const auto& link : panel.switched) line(link, kSwitched, -0.28);
    const std::size_t count = panel.order.size();
    const double apart = 2 * std::numbers::pi * radius / static_cast<double>(count);
    const std::size_t every = static_cast<std::size_t>(std::ceil(17 / apart));
    const double dot = every > 1 ? 2.5 : std::min(11.0, apart * 0.34);
    for (std::size_t p = 0; p < count; ++p) {
      const auto u = static_cast<std::size_t>(panel.order[p]);
      const Point point = points[u];
      text += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" "
          "stroke=\"#333\"/>",
          point.x, point.y, dot, u % 2 == 0 ? "#fff" : "#ddd");
      if (p % every != 0) continue;
      const double out = every > 1 ? 1 + 15 / radius : 1;
      text += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
          "font-size=\"{}\">{}</text>",
          point.x * out, point.y * out + 3.8, every > 1 || count <= 32 ? 11 : 9, u);
    }
    text += "\n</g>\n";
  }
  return text + "</svg>\n";
}

}  // namespace shortcut::cli
