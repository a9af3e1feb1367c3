// `shortcut sweep`: plans over two quantities, as a table or a picture.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <tuple>

#include "planner/selector.hpp"
#include "shortcut/commands.hpp"
#include "shortcut/output.hpp"
#include "shortcut/plot.hpp"
#include "support/units.hpp"

namespace shortcut::cli {
namespace {

using nlohmann::ordered_json;
using topology::CircuitState;

enum class Quantity { bytes, delta, alpha_p, alpha_s, nodes };
constexpr std::array<std::string_view, 5> kQuantities{"bytes", "delta", "alpha-p", "alpha-s",
                                                      "nodes"};
constexpr std::array<std::string_view, 5> kColumns{"bytes", "delta_ns", "alpha_p_ns", "alpha_s_ns",
                                                   "nodes"};
constexpr std::array<std::string_view, 5> kTitles{"message size", "reconfiguration delay delta",
                                                  "delay of a hop alpha_p",
                                                  "start-up of a step alpha_s", "endpoints"};

struct Range {
  Quantity quantity = Quantity::bytes;
  std::vector<double> values;

  std::string_view column() const { return kColumns[static_cast<std::size_t>(quantity)]; }
  std::string text(double value) const {
    if (quantity == Quantity::nodes) return fmt::format("{}", value);
    return quantity == Quantity::bytes ? short_bytes(value) : short_time(value);
  }
  Axis axis() const {
    Axis axis{std::string(kTitles[static_cast<std::size_t>(quantity)]), {}};
    for (const double value : values) axis.ticks.push_back(text(value));
    return axis;
  }
};

Result<double> parse_value(Quantity quantity, std::string_view text) {
  if (quantity == Quantity::nodes) {
    const auto nodes = parse_integer(text, 2, kMaximumNodes);
    if (!nodes.ok()) return nodes.error();
    return static_cast<double>(nodes.value());
  }
  if (quantity == Quantity::bytes) {
    const auto bytes = parse_bytes(text);
    if (!bytes.ok()) return bytes.error();
    return static_cast<double>(bytes.value());
  }
  return parse_time_ns(text);
}

/// "bytes=1kB:1GB"
Result<Range> parse_range(std::string_view option, std::string_view text, int points) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto found = std::find(kQuantities.begin(), kQuantities.end(), name);
  if (found == kQuantities.end()) {
    return Error{fmt::format("{}: '{}' is not one of {}{}", option, name, joined(kQuantities),
                             suggestion(name, kQuantities))};
  }
  Range range;
  range.quantity = static_cast<Quantity>(found - kQuantities.begin());
  const auto colon = text.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
    return Error{fmt::format("{}: '{}' is not of the form {}=LOW:HIGH", option, text, name)};
  }
  const auto low = parse_value(range.quantity, text.substr(equals + 1, colon - equals - 1));
  if (!low.ok()) return Error{fmt::format("{}: {}", option, low.error().message)};
  const auto high = parse_value(range.quantity, text.substr(colon + 1));
  if (!high.ok()) return Error{fmt::format("{}: {}", option, high.error().message)};
  if (!(low.value() > 0) || !(low.value() < high.value())) {
    return Error{fmt::format("{}: '{}' does not rise from a value above 0", option, text)};
  }
  if (range.quantity == Quantity::nodes) {
    for (int n = 2; n <= high.value(); n *= 2) {
      if (n >= low.value()) range.values.push_back(n);
    }
    if (range.values.size() < 2) {
      return Error{fmt::format("{}: '{}' has fewer than two powers of two in it", option, text)};
    }
    return range;
  }
  for (int i = 0; i < points; ++i) {
    double value = low.value() * std::pow(high.value() / low.value(), i / (points - 1.0));
    if (range.quantity == Quantity::bytes) value = std::round(value);
    if (i == points - 1) value = high.value();
    if (range.values.empty() || value > range.values.back()) range.values.push_back(value);
  }
  if (range.values.size() < 2) {
    return Error{fmt::format("{}: '{}' has fewer than two whole sizes in it", option, text)};
  }
  return range;
}

struct Point {
  planner::Options options;
  int nodes = 0;
  double bytes = 0;

  void set(Quantity quantity, double value) {
    switch (quantity) {
      case Quantity::bytes:
        bytes = value;
        break;
      case Quantity::delta:
        options.fabric.delta_ns = value;
        break;
      case Quantity::alpha_p:
        options.fabric.alpha_p_ns = value;
        break;
      case Quantity::alpha_s:
        options.fabric.alpha_s_ns = value;
        break;
      case Quantity::nodes:
        nodes = static_cast<int>(value);
        break;
    }
  }
};

struct Planned {
  std::string algorithm;
  int threshold = -1;
  int threshold_gather = -1;
  bool reconfigures = false;
  int reconfigurations = 0;
  std::string states;
  std::string choice;
  double predicted_ns = 0;
  double ring_ns = 0;
  double speedup() const { return predicted_ns > 0 ? ring_ns / predicted_ns : 1; }
};

/// Keeps what it routed last: most neighbouring points differ in size only.
class PointPlanner {
 public:
  explicit PointPlanner(schedule::Collective collective) : collective_(collective) {}

  Planned at(const Point& point) {
    const model::FabricParameters& fabric = point.options.fabric;
    if (!selector_ || selector_->ranks() != point.nodes ||
        !(selector_->options().fabric == fabric)) {
      selector_ = std::make_unique<planner::Selector>(point.options, point.nodes);
    }
    const auto all = selector_->all_candidates(collective_, schedule::Operands::commutative,
                                               CircuitState::ring(), point.bytes);
    const int chosen = selector_->choose(all, point.bytes);
    const planner::Plan plan =
        planner::expand(point.options, all[static_cast<std::size_t>(chosen)], CircuitState::ring());
    Planned planned;
    planned.algorithm = plan.algorithm_name();
    planned.reconfigures = plan.algorithm().reconfigures;
    planned.threshold = plan.threshold;
    planned.threshold_gather = plan.threshold_gather;
    planned.reconfigurations = plan.reconfigurations;
    planned.states = fmt::format("{}", fmt::join(planner::state_list(plan), " "));
    planned.choice = planner::describe(plan);
    planned.predicted_ns = plan.predicted_ns(point.bytes);
    planned.ring_ns = planned.predicted_ns;
    for (const planner::Candidate& candidate : all) {
      if (candidate.routed->algorithm().name == "ring") {
        planned.ring_ns = candidate.line.at(point.bytes);
        break;
      }
    }
    return planned;
  }

 private:
  schedule::Collective collective_;
  std::unique_ptr<planner::Selector> selector_;
};

/// A bar on a terminal, from the first second on.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r{:60}\r", "");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - begin_ < std::chrono::seconds(1) ||
        now - last_ < std::chrono::milliseconds(100)) {
      return;
    }
    last_ = now;
    shown_ = true;
    const std::size_t full = 30 * done_ / total_;
    fmt::print(stderr, "\r[{:<30}] {} of {}", std::string(full, '#'), done_, total_);
    std::fflush(stderr);
  }

 private:
  std::size_t total_;
  std::size_t done_ = 0;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

struct Sweep {
  schedule::Collective collective = schedule::Collective::allreduce;
  Point base;
  Range x, y;
  std::vector<Planned> cells;  ///< row by row of y

  const Planned& cell(std::size_t ix, std::size_t iy) const {
    return cells[iy * x.values.size() + ix];
  }
  void run() {
    cells.resize(x.values.size() * y.values.size());
    Progress progress(cells.size());
    PointPlanner planner(collective);
    // Sizes in the inner loop: they need no routing anew.
    const bool by_columns = y.quantity == Quantity::bytes;
    const std::size_t outer = by_columns ? x.values.size() : y.values.size();
    const std::size_t inner = cells.size() / outer;
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < inner; ++i) {
        const std::size_t ix = by_columns ? o : i;
        const std::size_t iy = by_columns ? i : o;
        Point point = base;
        point.set(x.quantity, x.values[ix]);
        point.set(y.quantity, y.values[iy]);
        cells[iy * x.values.size() + ix] = planner.at(point);
        progress.step();
      }
    }
  }
  bool varies(Quantity quantity) const { return x.quantity == quantity || y.quantity == quantity; }
  /// What stays the same.
  std::string fixed_text() const {
    std::string text(schedule::to_string(collective));
    const auto add = [&](Quantity quantity, const std::string& what) {
      if (!varies(quantity)) text += ", " + what;
    };
    const model::FabricParameters& fabric = base.options.fabric;
    add(Quantity::bytes, short_bytes(base.bytes));
    add(Quantity::nodes, fmt::format("{} endpoints", base.nodes));
    add(Quantity::alpha_s, "alpha_s " + short_time(fabric.alpha_s_ns));
    add(Quantity::alpha_p, "alpha_p " + short_time(fabric.alpha_p_ns));
    add(Quantity::delta, "delta " + short_time(fabric.delta_ns));
    text += ", " + format_rate_ns_per_byte(fabric.beta_ns_per_byte);
    return text;
  }
};

std::string threshold_text(const Planned& planned, int value) {
  return planned.reconfigures && value >= 0 ? std::to_string(value) : "";
}

std::string csv_of(const Sweep& sweep) {
  std::string text = fmt::format(
      "{},{},algorithm,threshold,threshold_gather,reconfigurations,states,predicted_ns,ring_ns,"
      "speedup\n",
      sweep.x.column(), sweep.y.column());
  for (std::size_t iy = 0; iy < sweep.y.values.size(); ++iy) {
    for (std::size_t ix = 0; ix < sweep.x.values.size(); ++ix) {
      const Planned& cell = sweep.cell(ix, iy);
      text +=
          fmt::format("{:.10g},{:.10g},{},{},{},{},{},{:.6f},{:.6f},{:.6f}\n", sweep.x.values[ix],
                      sweep.y.values[iy], cell.algorithm, threshold_text(cell, cell.threshold),
                      threshold_text(cell, cell.threshold_gather), cell.reconfigurations,
                      cell.states, cell.predicted_ns, cell.ring_ns, cell.speedup());
    }
  }
  return text;
}

std::string json_of(const Sweep& sweep) {
  const model::FabricParameters& fabric = sweep.base.options.fabric;
  ordered_json json{{"collective", schedule::to_string(sweep.collective)},
                    {"x", sweep.x.column()},
                    {"y", sweep.y.column()}};
  if (!sweep.varies(Quantity::bytes)) json["bytes"] = sweep.base.bytes;
  if (!sweep.varies(Quantity::nodes)) json["nodes"] = sweep.base.nodes;
  if (!sweep.varies(Quantity::alpha_s)) json["alpha_s_ns"] = fabric.alpha_s_ns;
  if (!sweep.varies(Quantity::alpha_p)) json["alpha_p_ns"] = fabric.alpha_p_ns;
  if (!sweep.varies(Quantity::delta)) json["delta_ns"] = fabric.delta_ns;
  json["beta_ns_per_byte"] = fabric.beta_ns_per_byte;
  const auto threshold = [](const Planned& cell, int value) {
    return cell.reconfigures && value >= 0 ? ordered_json(value) : ordered_json(nullptr);
  };
  for (std::size_t iy = 0; iy < sweep.y.values.size(); ++iy) {
    for (std::size_t ix = 0; ix < sweep.x.values.size(); ++ix) {
      const Planned& cell = sweep.cell(ix, iy);
      json["cells"].push_back({{sweep.x.column(), sweep.x.values[ix]},
                               {sweep.y.column(), sweep.y.values[iy]},
                               {"algorithm", cell.algorithm},
                               {"threshold", threshold(cell, cell.threshold)},
                               {"threshold_gather", threshold(cell, cell.threshold_gather)},
                               {"reconfigurations", cell.reconfigurations},
                               {"states", cell.states},
                               {"predicted_ns", cell.predicted_ns},
                               {"ring_ns", cell.ring_ns},
                               {"speedup", cell.speedup()}});
    }
  }
  return json.dump(1) + "\n";
}

HeatMap heat_map_of(const Sweep& sweep) {
  HeatMap map;
  map.title = "Speed-up over Ring: " + sweep.fixed_text();
  map.value_title = "speed-up over Ring";
  map.x = sweep.x.axis();
  map.y = sweep.y.axis();
  const bool room = sweep.cells.size() <= 120;
  for (std::size_t iy = 0; iy < sweep.y.values.size(); ++iy) {
    for (std::size_t ix = 0; ix < sweep.x.values.size(); ++ix) {
      const Planned& planned = sweep.cell(ix, iy);
      Cell cell;
      cell.value = planned.speedup();
      if (room) cell.label = fmt::format("{:.2f}", cell.value);
      cell.hover = fmt::format(
          "{}: {}\n{}: {}\nspeed-up {:.2f} x\npredicted {}, Ring {}\n{}\nstates {}\n{} "
          "reconfigurations",
          kQuantities[static_cast<std::size_t>(sweep.x.quantity)], map.x.ticks[ix],
          kQuantities[static_cast<std::size_t>(sweep.y.quantity)], map.y.ticks[iy], cell.value,
          short_time(planned.predicted_ns), short_time(planned.ring_ns), planned.algorithm,
          planned.states, planned.reconfigurations);
      map.cells.push_back(std::move(cell));
    }
  }
  return map;
}

/// Which algorithms, how often.
std::string summary_of(const Sweep& sweep) {
  std::map<std::string, std::size_t> count;
  double least = sweep.cells[0].speedup();
  double most = least;
  for (const Planned& cell : sweep.cells) {
    ++count[cell.algorithm];
    least = std::min(least, cell.speedup());
    most = std::max(most, cell.speedup());
  }
  std::string text =
      fmt::format("{} x {} cells, {}: speed-up over Ring {:.2f} to {:.2f}\n", sweep.x.values.size(),
                  sweep.y.values.size(), sweep.fixed_text(), least, most);
  for (const auto& [name, cells] : count) {
    text +=
        fmt::format("  {:<24} {:>5.1f} % of the cells\n", name,
                    100.0 * static_cast<double>(cells) / static_cast<double>(sweep.cells.size()));
  }
  return text;
}

}  // namespace

SweepCommand::SweepCommand(CLI::App& app)
    : app_(app.add_subcommand("sweep", "Plan over ranges of two quantities: tables and pictures")) {
  app_->allow_extras();
  app_->add_option("--x", x_, "NAME=LOW:HIGH, of " + joined(kQuantities) + " (required)")
      ->type_name("RANGE");
  app_->add_option("--y", y_, "The same for the other axis (required)")->type_name("RANGE");
  app_->add_option("--points", points_, "Values of each axis, 2 to 200, in equal ratios [20]")
      ->type_name("N");
  app_->add_option("--collective", collective_, joined(kCollectives) + " [allreduce]")
      ->type_name("NAME");
  app_->add_option("--nodes", nodes_, "Endpoints, where no axis has them")->type_name("N");
  app_->add_option("--bytes", bytes_, "Size of the message, where no axis has it")
      ->type_name("SIZE");
  options_.add_to(*app_);
  app_->add_option("--csv", csv_, "Write a table; - is standard output")->type_name("FILE");
  app_->add_option("--json", json_, "Write JSON; - is standard output")->type_name("FILE");
  app_->add_option("--png", png_, "Draw a heat map (gnuplot)")->type_name("FILE");
  app_->add_option("--svg", svg_, "Draw a heat map (gnuplot)")->type_name("FILE");
  app_->add_option("--html", html_, "Write a page with a heat map and values under the pointer")
      ->type_name("FILE");
  app_->footer(
      "Endpoints are swept over powers of two.\n\n"
      "Example: shortcut sweep --x bytes=1kB:1GB --y delta=100ns:10us --nodes 32 --html s.html\n");
}

Result<std::string> SweepCommand::run() const {
  Sweep sweep;
  const auto points = parse_integer(points_, 2, 200);
  if (!points.ok()) return Error{"--points: " + points.error().message};
  if (x_.empty()) return Error{"--x is required: NAME=LOW:HIGH, of " + joined(kQuantities)};
  if (y_.empty()) return Error{"--y is required: NAME=LOW:HIGH, of " + joined(kQuantities)};
  auto x = parse_range("--x", x_, points.value());
  if (!x.ok()) return x.error();
  auto y = parse_range("--y", y_, points.value());
  if (!y.ok()) return y.error();
  sweep.x = std::move(x).value();
  sweep.y = std::move(y).value();
  if (sweep.x.quantity == sweep.y.quantity) {
    return Error{fmt::format("--y: '{}' is on the other axis already",
                             kQuantities[static_cast<std::size_t>(sweep.y.quantity)])};
  }
  if (!collective_.empty()) {
    const auto collective = parse_collective(collective_);
    if (!collective.ok()) return collective.error();
    sweep.collective = collective.value();
  }
  const auto swept = [](std::string_view option) {
    return Error{fmt::format("{}: an axis has it already", option)};
  };
  if (sweep.varies(Quantity::nodes)) {
    if (!nodes_.empty()) return swept("--nodes");
  } else {
    const auto nodes = parse_integer(nodes_, 2, kMaximumNodes);
    if (nodes_.empty()) return Error{"--nodes is required: no axis has it"};
    if (!nodes.ok()) return Error{"--nodes: " + nodes.error().message};
    sweep.base.nodes = nodes.value();
  }
  if (sweep.varies(Quantity::bytes)) {
    if (!bytes_.empty()) return swept("--bytes");
  } else {
    if (bytes_.empty()) return Error{"--bytes is required: no axis has it"};
    const auto bytes = parse_bytes(bytes_);
    if (!bytes.ok()) return Error{"--bytes: " + bytes.error().message};
    sweep.base.bytes = static_cast<double>(bytes.value());
  }
  const auto options = options_.read();
  if (!options.ok()) return options.error();
  sweep.base.options = options.value();
  if (sweep.varies(Quantity::delta) && options_.given("delta")) return swept("--delta");
  if (sweep.varies(Quantity::alpha_p) && options_.given("alpha_p")) return swept("--alpha-p");
  if (sweep.varies(Quantity::alpha_s) && options_.given("alpha_s")) return swept("--alpha-s");
  int least = sweep.base.nodes;
  if (sweep.x.quantity == Quantity::nodes) least = static_cast<int>(sweep.x.values[0]);
  if (sweep.y.quantity == Quantity::nodes) least = static_cast<int>(sweep.y.values[0]);
  if (const Status status = check_options_for(options.value(), sweep.collective, least,
                                              schedule::Operands::commutative);
      !status.ok()) {
    return status.error();
  }
  if (csv_.empty() && json_.empty() && png_.empty() && svg_.empty() && html_.empty()) {
    return Error{"one of --csv, --json, --png, --svg and --html is required"};
  }
  if (csv_ == "-" && json_ == "-") return Error{"--json: standard output has the table already"};
  sweep.run();

  if (!csv_.empty() && csv_ != "-") {
    if (const Status s = write_file("--csv", csv_, csv_of(sweep)); !s.ok()) return s.error();
  }
  if (!json_.empty() && json_ != "-") {
    if (const Status s = write_file("--json", json_, json_of(sweep)); !s.ok()) return s.error();
  }
  const HeatMap map = heat_map_of(sweep);
  for (const auto& [option, path, format] :
       {std::tuple{"--png", png_, Picture::png}, std::tuple{"--svg", svg_, Picture::svg}}) {
    if (path.empty()) continue;
    if (const Status s = draw(option, {map}, 1, 900, 620, format, path); !s.ok()) {
      return s.error();
    }
  }
  if (!html_.empty()) {
    std::vector<std::string> groups;
    for (const Planned& cell : sweep.cells) groups.push_back(cell.algorithm);
    HeatMap page = map;
    page.title = "Speed-up over Ring";
    if (const Status s =
            write_file("--html", html_, heat_map_page(page, groups, sweep.fixed_text()));
        !s.ok()) {
      return s.error();
    }
  }
  if (csv_ == "-") return csv_of(sweep);
  if (json_ == "-") return json_of(sweep);
  return summary_of(sweep);
}

}  // namespace shortcut::cli
