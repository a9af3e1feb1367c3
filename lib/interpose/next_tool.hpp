// Other tools may look at the start of MPI too, so it goes on to the next of them.
#pragma once

#include <dlfcn.h>

namespace shortcut::interpose {

/// The function of that name in the libraries loaded after this one, or `pmpi` if none has it.
template <class Function>
Function next_of(const char* name, Function pmpi) {
  void* found = dlsym(RTLD_NEXT, name);
  return found == nullptr ? pmpi : reinterpret_cast<Function>(found);
}

}  // namespace shortcut::interpose
