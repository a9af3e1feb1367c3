#include "shortcut/plot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "shortcut/output.hpp"

namespace shortcut::cli {
namespace {

/// A string of gnuplot's in single quotes.
std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                    "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};

/// At most `most` (2 or more) of the ticks, the first and the last among them, as equally far apart
/// as can be.
std::string tics(const Axis& axis, std::size_t most) {
  const std::size_t last = axis.ticks.size() - 1;
  const std::size_t least = std::max<std::size_t>(1, (last + most - 2) / (most - 1));
  const std::size_t gaps = std::max<std::size_t>(1, last / least);
  std::string text;
  for (std::size_t k = 0; k <= std::min(gaps, last); ++k) {
    const std::size_t i = (k * last + gaps / 2) / gaps;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", literal(axis.ticks[i]), i);
  }
  return "(" + text + ")";
}

struct Writer {
  int number;  // of the chart: names its data
  int width;
  std::string data;
  std::string commands;

  void operator()(const HeatMap& map) {
    const std::size_t columns = map.x.ticks.size();
    const std::size_t rows = map.y.ticks.size();
    data += fmt::format("$d{} << EOD\n", number);
    double low = map.low;
    double high = map.high;
    if (low >= high) {
      const auto [least, most] =
          std::minmax_element(map.cells.begin(), map.cells.end(),
                              [](const Cell& a, const Cell& b) { return a.value < b.value; });
      low = least->value;
      high = std::max(most->value, low + 0.01);
    }
    for (std::size_t i = 0; i < map.cells.size(); ++i) {
      const Cell& cell = map.cells[i];
      // The colour of the text: white on dark cells.
      const bool dark = (cell.value - low) / (high - low) > 0.6;
      data += fmt::format("{} {} {} \"{}\" \"{}\" {}\n", i % columns, i / columns, cell.value,
                          cell.label, cell.sublabel, dark ? 0xffffff : 0x202020);
    }
    data += "EOD\n";
    const std::size_t room = static_cast<std::size_t>(width) / 75;
    commands += fmt::format(
        "set title {}\nset xlabel {}\nset ylabel {}\nset cblabel {} offset 0.5,0\n"
        "set xrange [-0.5:{}]\nset yrange [-0.5:{}]\nset xtics {} scale 0\nset ytics {} scale 0\n"
        "set cbrange [{}:{}]\nset cbtics autofreq\nset palette defined (0 '#f7fbff', 0.25 "
        "'#c6dbef', 0.5 '#6baed6', 0.75 '#2171b5', 1 '#08306b')\nunset grid\nunset key\n"
        "set border 15\nset colorbox\n",
        literal(map.title), literal(map.x.title), literal(map.y.title), literal(map.value_title),
        static_cast<double>(columns) - 0.5, static_cast<double>(rows) - 0.5, tics(map.x, room),
        tics(map.y, 12), low, high);
    commands += fmt::format("plot $d{} using 1:2:3 with image pixels", number);
    const bool labels = std::any_of(map.cells.begin(), map.cells.end(),
                                    [](const Cell& cell) { return !cell.label.empty(); });
    const bool sublabels = std::any_of(map.cells.begin(), map.cells.end(),
                                       [](const Cell& cell) { return !cell.sublabel.empty(); });
    if (labels) {
      commands += fmt::format(", '' using 1:2:4:6 with labels offset 0,{} tc rgb variable",
                              sublabels ? "0.45" : "0");
      if (sublabels) {
        commands += ", '' using 1:2:5:6 with labels offset 0,-0.55 font ',8' tc rgb variable";
      }
    }
    commands += "\n";
  }

  void operator()(const LineChart& chart) {
    data += fmt::format("$d{} << EOD\n", number);
    for (std::size_t i = 0; i < chart.x.ticks.size(); ++i) {
      data += std::to_string(i);
      for (const Series& series : chart.series) data += fmt::format(" {}", series.values[i]);
      data += "\n";
    }
    data += "EOD\n";
    commands += fmt::format(
        "set title {}\nset xlabel {}\nset ylabel {}\nset xrange [-0.3:{}]\nset yrange [0:*]\n"
        "set xtics {} nomirror scale 0.5\nset ytics autofreq nomirror scale 0.5\nset grid ytics lc "
        "rgb '#dddddd'\n"
        "set key outside below maxcols 2 samplen 2\nset bmargin 7.5\nset border 3\n",
        literal(chart.title), literal(chart.x.title), literal(chart.y_title),
        static_cast<double>(chart.x.ticks.size()) - 0.7,
        tics(chart.x, static_cast<std::size_t>(width) / 65));
    std::string plots;
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
      const Series& series = chart.series[k];
      plots += fmt::format(
          "{} using 1:{} with linespoints lw 1.5 dt {} lc rgb '{}' pt {} ps 0.8 title {}",
          plots.empty() ? fmt::format("$d{}", number) : ", ''", k + 2, series.dashed ? 2 : 1,
          kColours[series.colour % 8], series.hollow ? 6 : 7, literal(series.name));
    }
    commands += "plot " + plots + "\n";
  }

  void operator()(const StackedBars& chart) {
    double longest = 0;
    std::string ticks;
    std::string notes;
    std::string boxes;
    int object = 100 * number + 1;
    const auto count = static_cast<double>(chart.bars.size());
    for (std::size_t b = 0; b < chart.bars.size(); ++b) {
      const StackedBars::Bar& bar = chart.bars[b];
      const double y = count - 1 - static_cast<double>(b);
      double from = 0;
      for (std::size_t k = 0; k < bar.values.size(); ++k) {
        boxes += fmt::format(
            "set object {} rectangle from {},{} to {},{} fc rgb '{}' fs solid 1 noborder\n",
            object++, from, y - 0.33, from + bar.values[k], y + 0.33, kColours[k % 8]);
        from += bar.values[k];
      }
      notes += fmt::format("set label {} {} at {},{} offset 0.5,0\n", object++, literal(bar.note),
                           from, y);
      longest = std::max(longest, from);
      ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", literal(bar.name), y);
    }
    commands += fmt::format(
        "set title {}\nset xlabel {}\nunset ylabel\nset xrange [0:{}]\nset yrange [-0.6:{}]\n"
        "set xtics autofreq nomirror scale 0.5\nset ytics ({}) scale 0\nset grid xtics lc rgb "
        "'#dddddd'\n"
        "set key outside below maxrows 2 samplen 1\nset bmargin 5.5\nset border 3\n{}{}",
        literal(chart.title), literal(chart.x_title), longest * 1.3, count - 0.4, ticks, boxes,
        notes);
    std::string plots;
    for (std::size_t k = 0; k < chart.parts.size(); ++k) {
      plots += fmt::format("{} NaN with boxes fs solid 1 lc rgb '{}' title {}",
                           plots.empty() ? "" : ",", kColours[k % 8], literal(chart.parts[k]));
    }
    commands += "plot" + plots + "\nunset object\nunset label\n";
  }

  void operator()(const Timeline& chart) {
    std::string ticks;
    std::string drawn;
    int object = 100 * number + 1;
    const auto count = static_cast<double>(chart.rows.size());
    const auto columns = static_cast<double>(chart.x.ticks.size());
    for (std::size_t r = 0; r < chart.rows.size(); ++r) {
      const Timeline::Row& row = chart.rows[r];
      const double y = count - 1 - static_cast<double>(r);
      for (std::size_t k = 0; k < row.runs.size(); ++k) {
        const Timeline::Run& run = row.runs[k];
        drawn += fmt::format(
            "set object {} rectangle from {},{} to {},{} fc rgb '{}' fs solid 1 border rgb "
            "'white'\nset label {} {} at {},{} left tc rgb '#444444' font ',8'\n",
            object, run.first - 0.47, y - 0.38, run.last + 0.47, y + 0.38,
            k % 2 == 0 ? "#c6dbef" : "#dadaeb", object, literal(run.name), run.first - 0.42,
            y + 0.25);
        ++object;
        if (k > 0) {  // a change of circuits
          drawn += fmt::format(
              "set object {} rectangle from {},{} to {},{} fc rgb '#d62728' fs solid 1 noborder\n",
              object, run.first - 0.53, y - 0.38, run.first - 0.47, y + 0.38);
          ++object;
        }
      }
      for (std::size_t i = 0; i < row.columns.size(); ++i) {
        drawn += fmt::format("set label {} {} at {},{} center\n", object++, literal(row.columns[i]),
                             i, y - 0.1);
      }
      drawn += fmt::format("set label {} {} at {},{} left\n", object++, literal(row.note),
                           columns - 0.4, y);
      ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", literal(row.name), y);
    }
    commands += fmt::format(
        "set title {}\nset xlabel {}\nunset ylabel\nset xrange [-0.6:{}]\nset yrange [-0.6:{}]\n"
        "set xtics {} scale 0\nset ytics ({}) scale 0\nunset grid\nunset key\nunset border\n{}"
        "plot NaN\nunset object\nunset label\n",
        literal(chart.title), literal(chart.x.title), columns + 1.8, count - 0.4, tics(chart.x, 20),
        ticks, drawn);
  }
};

}  // namespace

std::string gnuplot_script(const std::vector<Chart>& charts, int columns, int width, int height,
                           Picture format, const std::string& path) {
  const int count = static_cast<int>(charts.size());
  const int rows = (count + columns - 1) / columns;
  std::string data;
  std::string commands;
  for (int i = 0; i < count; ++i) {
    Writer writer{i, width, "", ""};
    std::visit(writer, charts[static_cast<std::size_t>(i)]);
    data += writer.data;
    commands += "set bmargin -1\n" + writer.commands;
  }
  const std::string terminal =
      format == Picture::png
          ? fmt::format("pngcairo size {},{} font 'DejaVu Sans,10'", columns * width, rows * height)
          : fmt::format("svg size {},{} font 'DejaVu Sans,12' background rgb 'white'",
                        columns * width, rows * height);
  return fmt::format(
      "set encoding utf8\nset terminal {} noenhanced\nset output {}\n{}set multiplot layout "
      "{},{}\n{}unset multiplot\nset output\n",
      terminal, literal(path), data, rows, columns, commands);
}

Status draw(std::string_view option, const std::vector<Chart>& charts, int columns, int width,
            int height, Picture format, const std::string& path) {
  const auto error = [&](std::string_view what) {
    return Error{fmt::format("{}: {}", option, what)};
  };
  // The shell's answer "not found" and gnuplot's own failures look alike otherwise.
  if (std::system("command -v gnuplot > /dev/null 2>&1") != 0) {
    return error("gnuplot is needed and not installed (Debian package gnuplot-nox)");
  }
  // With something in it, for a full disk takes an empty file.
  if (const Status status = write_file(option, path, "\n"); !status.ok()) return status;
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const std::string script = gnuplot_script(charts, columns, width, height, format, path);
  std::FILE* pipe = popen("gnuplot - > /dev/null 2>&1", "w");
  if (pipe == nullptr) return error("cannot start gnuplot");
  const bool written = std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
  const int status = pclose(pipe);
  std::signal(SIGPIPE, before);
  if (!written || status != 0) return error(fmt::format("gnuplot could not draw '{}'", path));
  return {};
}

}  // namespace shortcut::cli
