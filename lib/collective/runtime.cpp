#include "collective/runtime.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "collective/identity.hpp"
#include "config/load.hpp"
#include "report/report.hpp"

namespace shortcut::collective {
namespace {

std::atomic<bool> ending{false};
std::atomic<Runtime*> running{nullptr};

/// Runs when MPI_Finalize deletes the attributes of MPI_COMM_SELF: MPI still works here. Callbacks
/// of the program may come after it on some ranks and before it on others, by which attribute was
/// set first there, and may call collectives: those still run as ever.
int at_finalize(MPI_Comm, int, void*, void*) {
  if (const Runtime* runtime = running.load()) {
    if (runtime->world_rank() == 0) report::write(runtime->settings());
  }
  ending = true;
  return MPI_SUCCESS;
}

bool enough_cores() {
  // The launcher tells how many ranks share this node.
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (local == nullptr) local = std::getenv("MPI_LOCALNRANKS");
  if (local == nullptr) return false;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return false;
  int cores = 0;
  if (hwloc_topology_load(topology) == 0) {
    cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  }
  hwloc_topology_destroy(topology);
  return std::atoi(local) <= cores;
}

}  // namespace

Runtime::Runtime() {
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  config::Loaded loaded = config::load_from_process();
  settings_ = std::move(loaded.settings);
  for (const std::string& warning : loaded.warnings) log(config::Log::warn, warning);
  may_spin_ = enough_cores();
}

void Runtime::log(config::Log level, const std::string& line) const {
  if (world_rank_ != 0 || settings_.log < level) return;
  std::fprintf(stderr, "shortcut: %s\n", line.c_str());
}

bool Runtime::finalizing() { return ending; }

Runtime* Runtime::get() {
  if (!running_mpi_is_ours()) return nullptr;
  if (Runtime* runtime = running.load(std::memory_order_acquire)) return runtime;
  int initialized = 0;
  int finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (!initialized || finalized) return nullptr;

  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (Runtime* runtime = running.load()) return runtime;
  static Runtime runtime;
  int keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  running.store(&runtime, std::memory_order_release);
  return &runtime;
}

}  // namespace shortcut::collective
