// `shortcut topology`: what the switches have to hold, and pictures of it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "planner/selector.hpp"
#include "planner/torus_selector.hpp"
#include "shortcut/commands.hpp"
#include "shortcut/drawing.hpp"
#include "shortcut/output.hpp"
#include "support/units.hpp"
#include "topology/torus.hpp"

namespace shortcut::cli {
namespace {

using nlohmann::ordered_json;
using topology::CircuitState;
using topology::Matching;

constexpr int kMaximumDrawn = 1024;
constexpr std::size_t kMostLinksInText = 16;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Cycles of fixed and switched links together.
int count_rings(const Matching& fixed, const Matching& switched) {
  std::vector<bool> seen(fixed.size(), false);
  int rings = 0;
  for (std::size_t u = 0; u < fixed.size(); ++u) {
    if (seen[u]) continue;
    ++rings;
    std::vector<int> open{static_cast<int>(u)};
    while (!open.empty()) {
      const int here = open.back();
      open.pop_back();
      if (here == topology::kNobody || seen[at(here)]) continue;
      seen[at(here)] = true;
      open.push_back(fixed[at(here)]);
      open.push_back(switched[at(here)]);
    }
  }
  return rings;
}

using Links = std::vector<std::pair<int, int>>;

struct State {
  std::string name;
  std::vector<int> order;  ///< of the endpoints on the drawn circle
  Links switched;
  int rings = 1;
  bool fits_parity = true;
  std::string misfit;  ///< a link that does not fit
  bool in_plan = false;
};

std::string link_text(int u, int v) { return fmt::format("{}-{}", u, v); }

Links links_of(const Matching& matching) {
  Links links;
  for (int u = 0; u < static_cast<int>(matching.size()); ++u) {
    if (matching[at(u)] > u) links.emplace_back(u, matching[at(u)]);
  }
  return links;
}

State make_state(std::string name, std::vector<int> order, const Matching& switched) {
  const int nodes = static_cast<int>(switched.size());
  State state;
  state.name = std::move(name);
  state.order = std::move(order);
  state.rings = count_rings(topology::fixed_matching(nodes), switched);
  state.switched = links_of(switched);
  // An odd ring (no other state has an odd number of endpoints) is closed by its last endpoint,
  // which no fixed link holds: both its ports are on the switch.
  if (nodes % 2 != 0) state.switched.emplace_back(0, nodes - 1);
  const auto misfit = std::find_if(state.switched.begin(), state.switched.end(),
                                   [](const auto& link) { return (link.first + link.second) % 2; });
  state.fits_parity = misfit == state.switched.end();
  if (!state.fits_parity) state.misfit = link_text(misfit->first, misfit->second);
  return state;
}

/// Pairs of the fixed links laid out to and fro, 0 1 3 2 4 5 7 6 ...: every switched link then
/// joins endpoints of equal parity.
std::vector<int> reflected_order(int nodes) {
  std::vector<int> order(at(nodes));
  for (int p = 0; p < nodes; ++p) order[at(p)] = p % 4 < 2 ? p : p ^ 1;
  return order;
}

Matching switched_of_order(const std::vector<int>& order) {
  Matching matching(order.size(), topology::kNobody);
  for (std::size_t p = 1; p < order.size(); p += 2) {
    const int u = order[p];
    const int v = order[(p + 1) % order.size()];
    matching[at(u)] = v;
    matching[at(v)] = u;
  }
  return matching;
}

struct RingPrice {
  std::string name;
  std::vector<topology::Route> steps;  ///< of recursive doubling
  bool fits_parity = false;
};

/// All there is to say about the ring of one dimension.
struct RingReport {
  int size = 0;
  std::vector<int> dimensions;  ///< that have this size
  Matching fixed;
  std::vector<State> states;
  std::vector<RingPrice> prices;     ///< of plain, twisted and reflected ring
  std::vector<std::string> misfits;  ///< states of the plan that do not fit parity switches
};

RingPrice price_ring(std::string name, const std::vector<int>& order,
                     topology::Antipodal antipodal) {
  const int nodes = static_cast<int>(order.size());
  RingPrice price;
  price.name = std::move(name);
  const Matching switched = switched_of_order(order);
  price.fits_parity = topology::fits_parity(switched);
  const topology::Router router(topology::fixed_matching(nodes), switched, antipodal);
  std::vector<int> send_to(at(nodes));
  for (int step = 0; step < topology::floor_log2(nodes); ++step) {
    for (int u = 0; u < nodes; ++u) send_to[at(u)] = u ^ (1 << step);
    price.steps.push_back(*router.route(send_to));
  }
  return price;
}

struct PlanRequest {
  schedule::Collective collective = schedule::Collective::allreduce;
  std::uint64_t bytes = 0;
};

struct PlannedStates {
  std::string text;
  std::vector<std::set<CircuitState>> states;  ///< per dimension
};

PlannedStates states_of(const planner::Plan& plan, std::size_t dimensions, double bytes) {
  PlannedStates planned;
  planned.text =
      fmt::format("{}, {}", planner::describe(plan), format_time_ns(plan.predicted_ns(bytes)));
  planned.states.resize(dimensions);
  for (const planner::PlannedStep& step : plan.steps) {
    planned.states[at(step.dimension)].insert(step.state);
  }
  return planned;
}

/// The sizes make a ring or a torus.
PlannedStates plan_states(const std::vector<int>& dims, const planner::Options& options,
                          const PlanRequest& request) {
  const auto bytes = static_cast<double>(request.bytes);
  constexpr auto kOperands = schedule::Operands::commutative;
  const planner::DimensionStates rings(dims.size(), CircuitState::ring());
  if (dims.size() > 1) {
    planner::TorusSelector selector(options, dims);
    return states_of(selector.plan(request.collective, kOperands, rings, bytes), dims.size(),
                     bytes);
  }
  const planner::Selector selector(options, dims[0]);
  const auto all = selector.all_candidates(request.collective, kOperands, rings[0], bytes);
  return states_of(planner::expand(options, all[at(selector.choose(all, bytes))], rings[0]), 1,
                   bytes);
}

RingReport report_on(int size, const planner::Options& options,
                     const std::set<CircuitState>& planned) {
  RingReport report;
  report.size = size;
  report.fixed = topology::fixed_matching(size);
  const topology::BaseRing base = options.fabric.base_ring;
  std::vector<CircuitState> wanted{CircuitState::ring()};
  for (int i = 0; i < topology::floor_log2(size); ++i) wanted.push_back(CircuitState::peer(i));
  for (const CircuitState state : planned) {
    if (state.kind == CircuitState::Kind::subring) wanted.push_back(state);
  }
  for (int i = 0; i < topology::floor_log2(size); ++i) wanted.push_back(CircuitState::swing(i));
  for (const CircuitState state : wanted) {
    if (!topology::can_hold(size, state)) continue;
    const bool is_ring = state.kind == CircuitState::Kind::ring;
    auto order = topology::ring_order(size, is_ring ? base : topology::BaseRing::plain);
    State made = make_state(topology::to_string(state), std::move(order),
                            topology::switched_matching(size, state, base));
    made.in_plan = planned.contains(state);
    if (made.in_plan && !made.fits_parity) report.misfits.push_back(made.name);
    report.states.push_back(std::move(made));
  }
  if (topology::is_power_of_two(size) && size >= 4) {
    const auto order = reflected_order(size);
    report.states.push_back(make_state("reflected", order, switched_of_order(order)));
    const auto antipodal = options.fabric.antipodal;
    report.prices.push_back(
        price_ring("plain", topology::ring_order(size, topology::BaseRing::plain), antipodal));
    if (size >= 8) {
      report.prices.push_back(price_ring(
          "twisted", topology::ring_order(size, topology::BaseRing::twisted), antipodal));
    }
    report.prices.push_back(price_ring("reflected", order, antipodal));
  }
  return report;
}

std::string links_text(const Links& links, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < links.size() && i < most; ++i) {
    text += (i == 0 ? "" : " ") + link_text(links[i].first, links[i].second);
  }
  if (links.size() > most) text += fmt::format(" and {} more", links.size() - most);
  return text;
}

/// The states of a power of two of endpoints have parts of one size.
std::string rings_text(int size, int rings) {
  return topology::is_power_of_two(size) ? fmt::format("{} of {}", rings, size / rings)
                                         : std::to_string(rings);
}

/// `dims` has one entry for a plain --nodes.
struct Fabric {
  std::vector<int> dims;
  bool parity = false;
  int rings_per_switch = 1;
  std::vector<topology::SwitchCount> counts;  ///< per dimension
};

std::string text_of(const Fabric& fabric, const std::string& plan,
                    const std::vector<RingReport>& reports) {
  const topology::Torus torus(fabric.dims);
  std::string text;
  text += fabric.dims.size() == 1
              ? fmt::format("ring of {} endpoints, each with one fixed and one switched port\n",
                            torus.nodes())
              : fmt::format(
                    "torus {} of {} endpoints, each with one fixed and one switched port per "
                    "dimension\n",
                    topology::format_dims(fabric.dims), torus.nodes());
  const std::string_view kind =
      fabric.parity ? "even and odd endpoints of a ring on switches of their own" : "single";
  int total = 0;
  for (int k = 0; k < torus.dimensions(); ++k) {
    const topology::SwitchCount count = fabric.counts[at(k)];
    total += count.switches;
    text += fmt::format("dimension {}: {} ring{} of {}, {} switch{} of {} ports ({}{})\n", k,
                        torus.rings(k), torus.rings(k) == 1 ? "" : "s", torus.size(k),
                        count.switches, count.switches == 1 ? "" : "es", count.radix, kind,
                        fabric.rings_per_switch > 1
                            ? fmt::format(", {} rings a switch", fabric.rings_per_switch)
                            : "");
  }
  if (torus.dimensions() > 1) text += fmt::format("switches in all: {}\n", total);
  if (!plan.empty()) text += fmt::format("plan: {}\n", plan);
  for (const RingReport& report : reports) {
    text += fmt::format("\nring of {}", report.size);
    if (fabric.dims.size() > 1) {
      text += fmt::format(" (dimension{} {})", report.dimensions.size() == 1 ? "" : "s",
                          fmt::join(report.dimensions, ", "));
    }
    text +=
        fmt::format("\nfixed links: {}\n", links_text(links_of(report.fixed), kMostLinksInText));
    if (report.size % 2 != 0) {
      text += fmt::format("endpoint {} has no fixed link: both its ports are on the switch\n",
                          report.size - 1);
    }
    if (!plan.empty()) {
      if (!report.misfits.empty()) {
        text += fmt::format("parity switches cannot hold of the plan: {}\n",
                            fmt::join(report.misfits, ", "));
      } else {
        text += "parity switches can hold every state of the plan\n";
      }
    }
    text +=
        fmt::format("{:<12} {:<8} {:<12} {}\n", "state", "rings", "on parity", "switched links");
    for (const State& state : report.states) {
      text += fmt::format("{:<12} {:<8} {:<12} {}\n", (state.in_plan ? "*" : "") + state.name,
                          rings_text(report.size, state.rings),
                          state.fits_parity ? "fits" : "no: " + state.misfit,
                          links_text(state.switched, kMostLinksInText));
    }
    if (!plan.empty()) text += "* used by the plan\n";
    if (report.prices.empty()) continue;
    text += "recursive doubling on the ring laid out in three orders, hops and load per step\n";
    text += fmt::format("{:<12} {:<12}", "ring", "on parity");
    for (std::size_t i = 0; i < report.prices[0].steps.size(); ++i)
      text += fmt::format(" {:>8}", i);
    text += "\n";
    for (const RingPrice& price : report.prices) {
      text += fmt::format("{:<12} {:<12}", price.name, price.fits_parity ? "fits" : "no");
      for (const topology::Route& route : price.steps) {
        text += fmt::format(" {:>8}", fmt::format("{}, {}", route.hops, route.congestion));
      }
      text += "\n";
    }
  }
  return text;
}

std::string json_of(const Fabric& fabric, const std::string& plan,
                    const std::vector<RingReport>& reports) {
  const topology::Torus torus(fabric.dims);
  ordered_json json{{"nodes", torus.nodes()},
                    {"dims", fabric.dims},
                    {"ocs", fabric.parity ? "parity" : "single"},
                    {"rings_per_switch", fabric.rings_per_switch},
                    {"plan", plan.empty() ? ordered_json(nullptr) : ordered_json(plan)}};
  for (int k = 0; k < torus.dimensions(); ++k) {
    json["dimensions"].push_back({{"size", torus.size(k)},
                                  {"rings", torus.rings(k)},
                                  {"switches", fabric.counts[at(k)].switches},
                                  {"radix", fabric.counts[at(k)].radix}});
  }
  for (const RingReport& report : reports) {
    ordered_json ring{{"size", report.size},
                      {"dimensions", report.dimensions},
                      {"fixed", links_of(report.fixed)},
                      {"plan_misfits_on_parity", report.misfits}};
    for (const State& state : report.states) {
      ring["states"].push_back({{"state", state.name},
                                {"rings", state.rings},
                                {"fits_parity", state.fits_parity},
                                {"in_plan", state.in_plan},
                                {"switched", state.switched}});
    }
    ring["orders"] = ordered_json::array();
    for (const RingPrice& price : report.prices) {
      ordered_json entry{{"ring", price.name}, {"fits_parity", price.fits_parity}};
      for (const topology::Route& route : price.steps) {
        entry["steps"].push_back({{"hops", route.hops}, {"congestion", route.congestion}});
      }
      ring["orders"].push_back(std::move(entry));
    }
    json["rings"].push_back(std::move(ring));
  }
  return json.dump(2) + "\n";
}

std::vector<Panel> panels_of(const std::vector<RingReport>& reports) {
  std::vector<Panel> panels;
  for (const RingReport& report : reports) {
    for (const State& state : report.states) {
      Panel panel;
      panel.title =
          reports.size() > 1 ? fmt::format("ring of {}: {}", report.size, state.name) : state.name;
      panel.subtitle =
          state.fits_parity ? "fits two parity switches" : "does not fit parity switches";
      panel.order = state.order;
      panel.fixed = links_of(report.fixed);
      panel.switched = state.switched;
      panels.push_back(std::move(panel));
    }
  }
  return panels;
}

}  // namespace

TopologyCommand::TopologyCommand(CLI::App& app)
    : app_(app.add_subcommand("topology", "Show matchings, switches and pictures of a fabric")) {
  app_->allow_extras();
  app_->add_option("--nodes", nodes_, "Endpoints of one ring, 2 to 65536")->type_name("N");
  app_->add_option("--dims", dims_, "Or a torus, e.g. 16x16")->type_name("AxB");
  app_->add_option("--rings-per-switch", rings_per_switch_,
                   "Parallel rings of a torus that share a switch [1]")
      ->type_name("B");
  app_->add_option("--ocs", ocs_,
                   "single: a ring on one switch; parity: even and odd endpoints apart [single]")
      ->type_name("KIND");
  app_->add_flag("--plan", plan_, "With the states of the plan for --collective and --bytes");
  app_->add_option("--collective", collective_, joined(kCollectives))->type_name("NAME");
  app_->add_option("--bytes", bytes_, "Size of the message, e.g. 32kB")->type_name("SIZE");
  options_.add_to(*app_);
  app_->add_option("--dot", dot_, "Write the states as Graphviz graphs")->type_name("FILE");
  app_->add_option("--svg", svg_, "Draw the states")->type_name("FILE");
  app_->add_flag("--json", json_, "Print one JSON object");
  app_->footer("Example: shortcut topology --nodes 16 --ocs parity --svg states.svg\n");
}

Result<std::string> TopologyCommand::run() const {
  Fabric fabric;
  if (nodes_.empty() == dims_.empty()) {
    return Error{nodes_.empty() ? "--nodes or --dims is required: 32 or 16x16"
                                : "--nodes and --dims: only one of them"};
  }
  if (!nodes_.empty()) {
    const auto nodes = parse_integer(nodes_, 2, kMaximumNodes);
    if (!nodes.ok()) return Error{"--nodes: " + nodes.error().message};
    fabric.dims = {nodes.value()};
  } else {
    auto dims = topology::parse_dims(dims_);
    if (!dims.ok()) return Error{"--dims: " + dims.error().message};
    fabric.dims = std::move(dims).value();
    std::int64_t product = 1;
    for (const int size : fabric.dims) {
      product *= size;
      if (size < 2 || product > kMaximumNodes) {
        return Error{fmt::format("--dims: '{}' is not of sizes from 2, {} endpoints at most", dims_,
                                 kMaximumNodes)};
      }
    }
  }
  static constexpr std::array<std::string_view, 2> kKinds{"single", "parity"};
  if (ocs_ != kKinds[0] && ocs_ != kKinds[1]) {
    return Error{fmt::format("--ocs: '{}' is not one of {}{}", ocs_, joined(kKinds),
                             suggestion(ocs_, kKinds))};
  }
  fabric.parity = ocs_ == "parity";
  const auto together = parse_integer(rings_per_switch_, 1, kMaximumNodes);
  if (!together.ok()) return Error{"--rings-per-switch: " + together.error().message};
  fabric.rings_per_switch = together.value();
  const topology::Torus torus(fabric.dims);
  for (int k = 0; k < torus.dimensions(); ++k) {
    const auto count = topology::count_switches(torus, k, fabric.rings_per_switch, fabric.parity);
    if (!count.ok()) {
      return Error{fmt::format("{}: {}",
                               fabric.rings_per_switch > 1 ? "--rings-per-switch" : "--ocs",
                               count.error().message)};
    }
    fabric.counts.push_back(count.value());
  }
  const auto options = options_.read();
  if (!options.ok()) return options.error();
  std::optional<PlanRequest> request;
  if (plan_ || !collective_.empty() || !bytes_.empty()) {
    if (collective_.empty()) return Error{"--collective is required with --plan"};
    if (bytes_.empty()) return Error{"--bytes is required with --plan"};
    const auto collective = parse_collective(collective_);
    if (!collective.ok()) return collective.error();
    const auto bytes = parse_bytes(bytes_);
    if (!bytes.ok()) return Error{"--bytes: " + bytes.error().message};
    request = PlanRequest{collective.value(), bytes.value()};
  }
  const int largest = *std::max_element(fabric.dims.begin(), fabric.dims.end());
  if ((!svg_.empty() || !dot_.empty()) && largest > kMaximumDrawn) {
    return Error{fmt::format("{}: a ring of {} is too large to draw, {} at most",
                             svg_.empty() ? "--dot" : "--svg", largest, kMaximumDrawn)};
  }
  PlannedStates planned;
  planned.states.resize(at(torus.dimensions()));
  if (request) {
    const Status able = check_options_on(options.value(), request->collective, fabric.dims,
                                         schedule::Operands::commutative);
    if (!able.ok()) return able.error();
    planned = plan_states(fabric.dims, options.value(), *request);
  }
  std::vector<RingReport> reports;
  for (int k = 0; k < torus.dimensions(); ++k) {
    const auto same = std::find_if(fabric.dims.begin(), fabric.dims.end(),
                                   [&](int size) { return size == torus.size(k); });
    if (same != fabric.dims.begin() + k) continue;  // reported with the first of this size
    std::vector<int> dimensions;
    std::set<CircuitState> states;
    for (int d = k; d < torus.dimensions(); ++d) {
      if (torus.size(d) != torus.size(k)) continue;
      dimensions.push_back(d);
      states.insert(planned.states[at(d)].begin(), planned.states[at(d)].end());
    }
    reports.push_back(report_on(torus.size(k), options.value(), states));
    reports.back().dimensions = std::move(dimensions);
  }
  if (!dot_.empty()) {
    const Status status = write_file("--dot", dot_, dot_of(panels_of(reports)));
    if (!status.ok()) return status.error();
  }
  if (!svg_.empty()) {
    const Status status = write_file("--svg", svg_, svg_of(panels_of(reports)));
    if (!status.ok()) return status.error();
  }
  return json_ ? json_of(fabric, planned.text, reports) : text_of(fabric, planned.text, reports);
}

}  // namespace shortcut::cli
