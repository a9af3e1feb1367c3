// The figures that `shortcut figures` draws, as data: made in figures_shortcut.cpp and
// figures_harvest.cpp, drawn by figures.cpp.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "shortcut/plot.hpp"

namespace shortcut::cli {

/// One line under a figure: what the papers print and what the model gives.
struct Check {
  std::string what;
  double published = 0;
  double model = 0;
  double tolerance = 0;  ///< of what is printed: rounding
  std::string unit;
  bool agrees() const { return std::abs(model - published) <= tolerance; }
};

struct Figure {
  std::string name;  ///< of its files
  std::string heading;
  std::string caption;
  std::vector<Chart> published;
  std::vector<Chart> optimal;
  int columns = 1;
  int width = 560, height = 420;
  std::string csv;
  std::vector<Check> checks;
  std::vector<std::string> cannot;
};

/// Figs. 3 to 6 of the Shortcut paper.
std::vector<Figure> shortcut_figures();
/// Table 1 and Figures A and B of Harvest.
Figure harvest_figure();

}  // namespace shortcut::cli
