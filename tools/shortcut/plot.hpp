// Charts, as data; drawn by gnuplot (PNG, SVG) or as an HTML page that needs nothing else.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/result.hpp"

namespace shortcut::cli {

struct Axis {
  std::string title;               ///< with the unit, where the ticks have none
  std::vector<std::string> ticks;  ///< one per column or row
};

struct Cell {
  double value = 0;
  std::string label;     ///< written into the cell; may be empty
  std::string sublabel;  ///< below it
  std::string hover;     ///< HTML page only
};

/// One value per cell, colours by value; row by row, the first at the bottom.
struct HeatMap {
  std::string title;
  std::string value_title;
  Axis x, y;
  std::vector<Cell> cells;
  double low = 0, high = 0;  ///< of the colours; equal: the values' own
};

struct Series {
  std::string name;
  std::vector<double> values;
  bool hollow = false;
  int colour = 0;
  bool dashed = false;
};

/// Lines over equally spaced columns.
struct LineChart {
  std::string title;
  std::string y_title;
  Axis x;
  std::vector<Series> series;
};

/// Horizontal bars, each the sum of its parts.
struct StackedBars {
  std::string title;
  std::string x_title;
  std::vector<std::string> parts;
  struct Bar {
    std::string name;
    std::vector<double> values;
    std::string note;  ///< behind the bar
  };
  std::vector<Bar> bars;
};

/// Rows of boxes over columns, with a number in each column.
struct Timeline {
  std::string title;
  Axis x;
  struct Run {
    int first = 0, last = 0;
    std::string name;
  };
  struct Row {
    std::string name;
    std::vector<Run> runs;
    std::vector<std::string> columns;
    std::string note;
  };
  std::vector<Row> rows;
};

using Chart = std::variant<HeatMap, LineChart, StackedBars, Timeline>;

enum class Picture { png, svg };

/// The script for one picture with the charts in rows of `columns`; each chart is width x height.
std::string gnuplot_script(const std::vector<Chart>& charts, int columns, int width, int height,
                           Picture format, const std::string& path);

/// Runs gnuplot. The error names the option, and the package when gnuplot is missing.
Status draw(std::string_view option, const std::vector<Chart>& charts, int columns, int width,
            int height, Picture format, const std::string& path);

/// A page with the heat map: colours by value or by group, values under the pointer.
/// `groups`: one per cell, what is chosen there.
std::string heat_map_page(const HeatMap& map, const std::vector<std::string>& groups,
                          std::string_view subtitle);

}  // namespace shortcut::cli
