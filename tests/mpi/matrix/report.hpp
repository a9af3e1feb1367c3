// Counting checks on every rank, and the verdict of all of them.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace matrix {

class Tally {
 public:
  void check(bool good, const std::string& what) {
    ++checks_;
    if (good) return;
    if (++failures_ <= 10) std::fprintf(stderr, "FAILED on rank %d: %s\n", rank(), what.c_str());
  }
  long failures() const { return failures_; }

  /// Prints the count of checks (rank 0) and returns the exit code: 0 if there were any, all good.
  int finish(const char* what) const {
    long mine[2] = {checks_, failures_};
    long all[2] = {0, 0};
    PMPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank() == 0) {
      std::printf("%ld %s on rank 0, %ld failures on all ranks\n", checks_, what, all[1]);
    }
    return all[1] == 0 && checks_ > 0 && interposed() ? 0 : 1;
  }

  /// Is MPI_Allreduce Shortcut's?
  static bool interposed() {
    Dl_info info{};
    const bool found = dladdr(reinterpret_cast<void*>(&MPI_Allreduce), &info) != 0;
    if (found && std::strstr(info.dli_fname, "shortcut") != nullptr) return true;
    std::fprintf(stderr, "FAILED: MPI_Allreduce is not Shortcut's but in %s\n",
                 found ? info.dli_fname : "?");
    return false;
  }

 private:
  static int rank() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  long checks_ = 0;
  long failures_ = 0;
};

}  // namespace matrix
