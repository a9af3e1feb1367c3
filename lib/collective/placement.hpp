// Which torus a communicator's ranks form, and where on it each sits: from SHORTCUT_DIMS and
// SHORTCUT_MAP, the launcher's placement and the communicator's own Cartesian topology.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "collective/runtime.hpp"

namespace shortcut::collective {

struct Placement {
  std::vector<int> dims;       ///< sizes >= 2; one: a ring
  std::vector<int> endpoint;   ///< of each rank
  std::string note;            ///< what was found, for the log
  bool asked_in_vain = false;  ///< the settings ask for what this job cannot be
};

/// Collective over `traffic`, which has the ranks of `user` in their order; `world_ranks` are
/// theirs among the `world` ranks of the job. With map `rank` nothing is communicated. All ranks
/// come to the same answer. `settings` must be the same on all.
Placement find_placement(MPI_Comm user, MPI_Comm traffic, const std::vector<int>& world_ranks,
                         int world, const config::Settings& settings);

/// Numbers of the nodes that the ranks are on, equal for ranks that share one, as the launcher
/// placed them, or as SHORTCUT_RANKS_PER_NODE pretends. Collective over `traffic`.
std::vector<int> find_nodes(MPI_Comm traffic, const std::vector<int>& world_ranks,
                            const config::Settings& settings);

}  // namespace shortcut::collective
