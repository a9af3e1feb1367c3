#include "collective/identity.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace shortcut::collective {
namespace {

/// Is the MPI that runs the one whose headers we were compiled with?
bool same_mpi(std::string& running_version) {
  // The other MPI's limit may be larger than ours: Open MPI has 256, MPICH 8192.
  static char text[16384];
  int length = 0;
  PMPI_Get_library_version(text, &length);
  running_version.assign(text, static_cast<std::size_t>(length));
  running_version = running_version.substr(0, running_version.find_first_of(",\n"));
#if defined(OPEN_MPI)
  const std::string built = fmt::format("Open MPI v{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
  return running_version.starts_with(built);
#elif defined(MPICH_VERSION)
  return running_version.find("MPICH") != std::string::npos;
#else
  return true;
#endif
}

}  // namespace

bool running_mpi_is_ours() {
  static const bool ours = [] {
    std::string version;
    if (same_mpi(version)) return true;
    for (const char* rank : {std::getenv("OMPI_COMM_WORLD_RANK"), std::getenv("PMI_RANK")}) {
      if (rank != nullptr && std::string_view(rank) != "0") return false;  // rank 0 speaks
    }
    std::fprintf(stderr,
                 "shortcut: built for another MPI than '%s', so every call passes through\n",
                 version.c_str());
    return false;
  }();
  return ours;
}

}  // namespace shortcut::collective
