// The key-value store of the launcher, in which every process of a job can leave a mark before
// MPI_Init, whose own exchange carries it, and look for those of the others afterwards. Nothing is
// sent between ranks, and nothing waits for one.
//
// Open MPI's launcher speaks PMIx (pmix_store.cpp), MPICH's PMI-1 (pmi_store.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace shortcut::collective {

class LauncherStore {
 public:
  virtual ~LauncherStore() = default;
  LauncherStore() = default;
  LauncherStore(const LauncherStore&) = delete;
  LauncherStore& operator=(const LauncherStore&) = delete;

  /// Leaves this process's mark (not 0); before MPI_Init. False if the store did not take it.
  virtual bool put(std::uint32_t mark) = 0;
  /// The mark of a rank of MPI_COMM_WORLD, after MPI_Init; 0 if it left none, nothing if the store
  /// does not answer.
  virtual std::optional<std::uint32_t> get(int rank) = 0;
};

/// Null if no launcher that we know started this process.
std::unique_ptr<LauncherStore> open_launcher_store();

}  // namespace shortcut::collective
