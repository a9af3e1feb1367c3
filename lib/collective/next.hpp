// Where a call goes that we do not run, and how an error of ours reaches the user.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include "collective/runtime.hpp"

namespace shortcut::collective {

/// PMPI's function, or with SHORTCUT_CHAIN=1 the next MPI symbol behind ours, so that another
/// preloaded tool sees what we pass on.
template <class Function>
Function next(const char* name, Function pmpi) {
  Runtime* runtime = Runtime::get();
  if (runtime == nullptr || !runtime->settings().chain) return pmpi;
  void* found = dlsym(RTLD_NEXT, name);
  return found == nullptr ? pmpi : reinterpret_cast<Function>(found);
}

/// A failure on our private communicator, as the user's communicator reports it.
inline int raise(MPI_Comm comm, int code) {
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace shortcut::collective

#define SHORTCUT_NEXT(function) next("MPI_" #function, &PMPI_##function)
