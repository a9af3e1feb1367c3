#include "collective/placement.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "support/files.hpp"
#include "topology/placement.hpp"

namespace shortcut::collective {
namespace {

using topology::MapExpression;
using topology::Torus;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr int kMostFoundDimensions = 3;

/// endpoint[world rank] of map "auto", known once MPI_COMM_WORLD's own communicator was made.
struct WorldMap {
  std::mutex mutex;
  std::vector<int> endpoint;
};
WorldMap& world_map() {
  static WorldMap map;
  return map;
}

/// Where in its node this process runs: the first core that it is bound to, as hwloc counts them;
/// 0 when it is bound to none.
int first_core() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return 0;
  int core = 0;
  hwloc_cpuset_t set = hwloc_bitmap_alloc();
  if (hwloc_topology_load(topology) == 0 &&
      hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0 &&
      !hwloc_bitmap_isequal(set, hwloc_topology_get_topology_cpuset(topology))) {
    const hwloc_obj_t unit =
        hwloc_get_next_obj_covering_cpuset_by_type(topology, set, HWLOC_OBJ_PU, nullptr);
    if (unit != nullptr) core = static_cast<int>(unit->logical_index);
  }
  hwloc_bitmap_free(set);
  hwloc_topology_destroy(topology);
  return core;
}

std::vector<int> gathered(int value, MPI_Comm traffic, std::size_t ranks) {
  std::vector<int> all(ranks);
  PMPI_Allgather(&value, 1, MPI_INT, all.data(), 1, MPI_INT, traffic);
  return all;
}

/// The whole job's ranks on its endpoints. Empty: not known here. `why` says what is wrong.
std::vector<int> map_world(const Torus& torus, MPI_Comm traffic,
                           const std::vector<int>& world_ranks, const config::Settings& settings,
                           std::string& why) {
  const auto ranks = at(torus.nodes());
  std::vector<int> endpoint(ranks);
  std::iota(endpoint.begin(), endpoint.end(), 0);
  const MapExpression map = topology::parse_map(settings.map).value();
  const auto take = [&](Result<std::vector<int>> found) {
    if (found.ok()) endpoint = std::move(found).value();
    if (!found.ok()) why = found.error().message;
  };
  switch (map.kind) {
    case MapExpression::Kind::rank:
      break;
    case MapExpression::Kind::axes:
      take(topology::map_by_axes(torus, map.axes));
      break;
    case MapExpression::Kind::file: {
      // One rank reads it, for all.
      int me = 0;
      PMPI_Comm_rank(traffic, &me);
      std::string error;
      if (me == 0) {
        const auto text = read_text_file(map.path);
        if (!text.ok()) error = text.error().message;
        if (text.ok()) take(topology::map_from_text(torus, text.value()));
        if (!why.empty()) error = fmt::format("{}, {}", map.path, why);
      }
      int length = static_cast<int>(error.size());
      PMPI_Bcast(&length, 1, MPI_INT, 0, traffic);
      error.resize(at(length));
      PMPI_Bcast(error.data(), length, MPI_CHAR, 0, traffic);
      PMPI_Bcast(endpoint.data(), torus.nodes(), MPI_INT, 0, traffic);
      why = error;
      break;
    }
    case MapExpression::Kind::nodes: {
      WorldMap& known = world_map();
      if (world_ranks.size() == ranks) {
        const std::vector<int> nodes = find_nodes(traffic, world_ranks, settings);
        const std::vector<int> cores = gathered(first_core(), traffic, ranks);
        std::vector<int> node_of(ranks);
        std::vector<int> core_of(ranks);
        for (std::size_t i = 0; i < ranks; ++i) {
          node_of[at(world_ranks[i])] = nodes[i];
          core_of[at(world_ranks[i])] = cores[i];
        }
        endpoint = topology::map_by_nodes(node_of, core_of);
        const std::lock_guard<std::mutex> lock(known.mutex);
        known.endpoint = endpoint;
        break;
      }
      int all_know = 0;
      {
        const std::lock_guard<std::mutex> lock(known.mutex);
        const int know = known.endpoint.size() == ranks ? 1 : 0;
        if (know == 1) endpoint = known.endpoint;
        PMPI_Allreduce(&know, &all_know, 1, MPI_INT, MPI_MIN, traffic);
      }
      if (all_know == 0) return {};
      break;
    }
  }
  return endpoint;
}

/// The torus that the communicator's own Cartesian topology says; empty: it has none.
std::vector<int> cartesian_dims(MPI_Comm user) {
  int kind = MPI_UNDEFINED;
  int count = 0;
  if (PMPI_Topo_test(user, &kind) != MPI_SUCCESS || kind != MPI_CART) return {};
  PMPI_Cartdim_get(user, &count);
  std::vector<int> dims(at(std::max(count, 1)), 1);
  std::vector<int> periods(dims.size());
  std::vector<int> coordinates(dims.size());
  if (count > 0) PMPI_Cart_get(user, count, dims.data(), periods.data(), coordinates.data());
  // MPI's last dimension has neighbouring ranks, our first.
  std::reverse(dims.begin(), dims.end());
  std::erase(dims, 1);
  return dims;
}

Placement as_ring(int ranks, std::string note, bool asked_in_vain = false) {
  Placement ring{{ranks}, std::vector<int>(at(ranks)), std::move(note), asked_in_vain};
  std::iota(ring.endpoint.begin(), ring.endpoint.end(), 0);
  return ring;
}

}  // namespace

std::vector<int> find_nodes(MPI_Comm traffic, const std::vector<int>& world_ranks,
                            const config::Settings& settings) {
  if (settings.ranks_per_node > 1) {
    std::vector<int> nodes;
    for (const int rank : world_ranks) nodes.push_back(rank / settings.ranks_per_node);
    return nodes;
  }
  MPI_Comm node = MPI_COMM_NULL;
  int lowest = 0;
  PMPI_Comm_rank(traffic, &lowest);
  PMPI_Comm_split_type(traffic, MPI_COMM_TYPE_SHARED, lowest, MPI_INFO_NULL, &node);
  PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  PMPI_Comm_free(&node);
  return gathered(lowest, traffic, world_ranks.size());
}

Placement find_placement(MPI_Comm user, MPI_Comm traffic, const std::vector<int>& world_ranks,
                         int world, const config::Settings& settings) {
  const int ranks = static_cast<int>(world_ranks.size());
  if (settings.dims == "ring" && settings.map == "rank") return as_ring(ranks, "");
  // Rank order whatever the fabric is.
  if (settings.deterministic) return as_ring(ranks, "SHORTCUT_DETERMINISTIC plans one ring");
  if (settings.dims == "cart") {
    const std::vector<int> dims = cartesian_dims(user);
    if (dims.empty()) return as_ring(ranks, "no Cartesian topology");
    Placement cart = as_ring(ranks, "its Cartesian topology");
    cart.dims = dims;
    return cart;
  }
  std::vector<int> dims{world};
  if (settings.dims == "auto") {
    dims = topology::balanced_dims(world, kMostFoundDimensions);
  } else if (settings.dims != "ring") {
    auto parsed = topology::parse_dims(settings.dims, world);
    // With several ranks a node it may be the nodes that form the torus.
    const bool alone = settings.ranks_per_node == 1;
    if (!parsed.ok()) return as_ring(ranks, "SHORTCUT_DIMS: " + parsed.error().message, alone);
    dims = std::move(parsed).value();
  }
  const Torus torus(dims);
  std::string why;
  const std::vector<int> endpoint = map_world(torus, traffic, world_ranks, settings, why);
  if (!why.empty()) return as_ring(ranks, "SHORTCUT_MAP: " + why, true);
  if (endpoint.empty()) {
    return as_ring(ranks, "SHORTCUT_MAP=auto before any collective on MPI_COMM_WORLD");
  }
  std::vector<int> members;
  for (const int rank : world_ranks) members.push_back(endpoint[at(rank)]);
  const auto part = topology::recognise(torus, members);
  const std::string name = topology::format_dims(dims);
  if (!part || part->dims.empty()) {
    return as_ring(ranks, fmt::format("no line, plane or torus within {}", name));
  }
  return {part->dims, part->endpoint,
          fmt::format("{}{}{}", settings.dims == "auto" ? "found " : "",
                      ranks == world ? "" : "part of ", name),
          false};
}

}  // namespace shortcut::collective
