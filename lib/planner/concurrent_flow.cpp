#include "planner/concurrent_flow.hpp"

#include <fmt/format.h>
#include <glpk.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <memory>

namespace shortcut::planner {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int wrapped(int value, int nodes) { return (value % nodes + nodes) % nodes; }

/// Hops from `from` to everybody along the links (or against them), -1: unreachable.
std::vector<int> distances(const FlowNetwork& network, int from, bool against) {
  std::vector<int> distance(at(network.nodes), -1);
  distance[at(from)] = 0;
  std::vector<int> border{from};
  for (int hops = 1; !border.empty(); ++hops) {
    std::vector<int> next;
    for (const FlowLink& link : network.links) {
      const int near = against ? link.to : link.from;
      const int far = against ? link.from : link.to;
      if (distance[at(near)] != hops - 1 || distance[at(far)] >= 0) continue;
      distance[at(far)] = hops;
      next.push_back(far);
    }
    border = std::move(next);
  }
  return distance;
}

/// One constraint matrix, built column by column.
class Program {
 public:
  Program() : problem_(glp_create_prob(), glp_delete_prob) {
    glp_set_obj_dir(problem_.get(), GLP_MAX);
  }
  int add_rows(int count) { return glp_add_rows(problem_.get(), count); }
  void equal_zero(int row) { glp_set_row_bnds(problem_.get(), row, GLP_FX, 0, 0); }
  void at_most(int row, double bound) { glp_set_row_bnds(problem_.get(), row, GLP_UP, 0, bound); }
  /// A variable of at least 0.
  int add_column(double objective) {
    const int column = glp_add_cols(problem_.get(), 1);
    glp_set_col_bnds(problem_.get(), column, GLP_LO, 0, 0);
    glp_set_obj_coef(problem_.get(), column, objective);
    return column;
  }
  void set(int row, int column, double value) {
    rows_.push_back(row);
    columns_.push_back(column);
    values_.push_back(value);
  }
  Result<double> solve() {
    glp_load_matrix(problem_.get(), static_cast<int>(rows_.size()) - 1, rows_.data(),
                    columns_.data(), values_.data());
    glp_smcp control;
    glp_init_smcp(&control);
    control.msg_lev = GLP_MSG_OFF;
    const int failure = glp_simplex(problem_.get(), &control);
    const int status = glp_get_status(problem_.get());
    if (failure != 0 || status != GLP_OPT) {
      return Error{fmt::format("maximum concurrent flow: GLPK ended with code {}, status {}",
                               failure, status)};
    }
    return glp_get_obj_val(problem_.get());
  }

 private:
  std::unique_ptr<glp_prob, void (*)(glp_prob*)> problem_;
  // GLPK counts from 1.
  std::vector<int> rows_{0};
  std::vector<int> columns_{0};
  std::vector<double> values_{0};
};

}  // namespace

FlowNetwork circulant_network(int nodes, std::span<const int> generators) {
  FlowNetwork network{nodes, {}};
  for (const int generator : generators) {
    for (int u = 0; u < nodes; ++u) network.links.push_back({u, wrapped(u + generator, nodes)});
  }
  return network;
}

FlowNetwork matched_network(const topology::Matching& fixed, const topology::Matching& switched) {
  FlowNetwork network{static_cast<int>(fixed.size()), {}};
  for (int u = 0; u < network.nodes; ++u) {
    const int first = fixed[at(u)];
    const int second = switched[at(u)];
    if (first != topology::kNobody) network.links.push_back({u, first});
    if (second != topology::kNobody && second != first) network.links.push_back({u, second});
  }
  return network;
}

FlowNetwork torus_network(int rows, int columns) {
  assert(rows >= 3 && columns >= 3);
  FlowNetwork network{rows * columns, {}};
  for (int u = 0; u < network.nodes; ++u) {
    const int row = u / columns;
    const int column = u % columns;
    for (const int way : {1, -1}) {
      network.links.push_back({u, row * columns + wrapped(column + way, columns)});
      network.links.push_back({u, wrapped(row + way, rows) * columns + column});
    }
  }
  return network;
}

FlowNetwork kautz_network(int nodes, int degree) {
  FlowNetwork network{nodes, {}};
  for (int u = 0; u < nodes; ++u) {
    for (int j = 1; j <= degree; ++j) {
      const int v = wrapped(-(degree * u + j), nodes);
      if (v != u) network.links.push_back({u, v});
    }
  }
  return network;
}

Result<ConcurrentFlow> maximum_concurrent_flow(const FlowNetwork& network,
                                               std::span<const int> send_to, FlowPaths paths) {
  Program program;
  const int theta = program.add_column(1);
  const int capacity = program.add_rows(static_cast<int>(network.links.size()));
  for (std::size_t e = 0; e < network.links.size(); ++e) {
    program.at_most(capacity + static_cast<int>(e), network.links[e].capacity);
  }
  ConcurrentFlow result;
  for (int source = 0; source < network.nodes; ++source) {
    const int target = send_to[at(source)];
    if (target == topology::kNobody || target == source) continue;
    const std::vector<int> from_source = distances(network, source, false);
    const std::vector<int> to_target = distances(network, target, true);
    const int shortest = from_source[at(target)];
    if (shortest < 0) return ConcurrentFlow{};
    result.hops = std::max(result.hops, shortest);
    // What comes to a node and does not leave it again: theta at the target, elsewhere nothing.
    const int balance = program.add_rows(network.nodes);
    for (int v = 0; v < network.nodes; ++v) program.equal_zero(balance + v);
    program.set(balance + target, theta, -1);
    program.set(balance + source, theta, 1);
    for (std::size_t e = 0; e < network.links.size(); ++e) {
      const auto [from, to, unused] = network.links[e];
      const int before = from_source[at(from)];
      const int behind = to_target[at(to)];
      if (before < 0 || behind < 0) continue;
      if (paths == FlowPaths::shortest && before + 1 + behind != shortest) continue;
      const int flow = program.add_column(0);
      program.set(balance + to, flow, 1);
      program.set(balance + from, flow, -1);
      program.set(capacity + static_cast<int>(e), flow, 1);
    }
  }
  assert(result.hops > 0);
  const Result<double> solved = program.solve();
  if (!solved.ok()) return solved.error();
  result.theta = solved.value();
  return result;
}

double step_cost_ns(const model::FabricParameters& fabric, ConcurrentFlow flow, double flow_bytes) {
  if (flow.theta <= 0) return std::numeric_limits<double>::infinity();
  return fabric.alpha_s_ns + fabric.hop_factor * flow.hops * fabric.alpha_p_ns +
         fabric.beta_ns_per_byte * flow_bytes / flow.theta;
}

}  // namespace shortcut::planner
