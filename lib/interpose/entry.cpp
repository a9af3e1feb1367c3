// The exported MPI symbols of the C bindings.
//
// A library that was built for another MPI than the one that runs must hand the arguments on as
// they came: a handle is an int in one MPI and a pointer in another. So the symbols take machine
// words, as the calling convention passes integers and pointers, and only then enter typed code.
// This file therefore does not include mpi.h.
#include <dlfcn.h>

#include <cstdint>

#include "collective/identity.hpp"

namespace {

using Word = std::intptr_t;
static_assert(sizeof(Word) == sizeof(void*) && sizeof(Word) == 8,
              "integer arguments must fill a register of their own");

template <class... Words>
Word call(Word (*typed)(Words...), const char* pmpi_name, Words... words) {
  if (shortcut::collective::running_mpi_is_ours()) return typed(words...);
  void* found = dlsym(RTLD_DEFAULT, pmpi_name);
  return reinterpret_cast<Word (*)(Words...)>(found)(words...);
}

}  // namespace

#define SHORTCUT_ENTRY(function, parameters, ...)                                    \
  extern "C" Word shortcut_typed_##function parameters;                              \
  extern "C" __attribute__((visibility("default"))) Word MPI_##function parameters { \
    return call(&shortcut_typed_##function, "PMPI_" #function, __VA_ARGS__);         \
  }
#define SHORTCUT_ENTRY2(function) SHORTCUT_ENTRY(function, (Word a, Word b), a, b)
#define SHORTCUT_ENTRY4(function) \
  SHORTCUT_ENTRY(function, (Word a, Word b, Word c, Word d), a, b, c, d)
#define SHORTCUT_ENTRY5(function) \
  SHORTCUT_ENTRY(function, (Word a, Word b, Word c, Word d, Word e), a, b, c, d, e)
#define SHORTCUT_ENTRY6(function) \
  SHORTCUT_ENTRY(function, (Word a, Word b, Word c, Word d, Word e, Word f), a, b, c, d, e, f)
#define SHORTCUT_ENTRY7(function)                                                                \
  SHORTCUT_ENTRY(function, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), a, b, c, d, \
                 e, f, g)
#define SHORTCUT_ENTRY8(function)                                                                  \
  SHORTCUT_ENTRY(function, (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h), a, b, \
                 c, d, e, f, g, h)
#define SHORTCUT_ENTRY9(function)                                                                \
  SHORTCUT_ENTRY(function,                                                                       \
                 (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i), a, b, \
                 c, d, e, f, g, h, i)
#define SHORTCUT_ENTRY10(function)                                                                 \
  SHORTCUT_ENTRY(function,                                                                         \
                 (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j), \
                 a, b, c, d, e, f, g, h, i, j)

SHORTCUT_ENTRY2(Init)
SHORTCUT_ENTRY4(Init_thread)

SHORTCUT_ENTRY6(Allreduce)
SHORTCUT_ENTRY6(Reduce_scatter)
SHORTCUT_ENTRY6(Reduce_scatter_block)
SHORTCUT_ENTRY7(Allgather)
SHORTCUT_ENTRY8(Allgatherv)

SHORTCUT_ENTRY7(Iallreduce)
SHORTCUT_ENTRY7(Ireduce_scatter)
SHORTCUT_ENTRY7(Ireduce_scatter_block)
SHORTCUT_ENTRY8(Iallgather)
SHORTCUT_ENTRY9(Iallgatherv)

#ifdef SHORTCUT_MPI_4
SHORTCUT_ENTRY5(Comm_create_from_group)

SHORTCUT_ENTRY6(Allreduce_c)
SHORTCUT_ENTRY6(Reduce_scatter_c)
SHORTCUT_ENTRY6(Reduce_scatter_block_c)
SHORTCUT_ENTRY7(Allgather_c)
SHORTCUT_ENTRY8(Allgatherv_c)

SHORTCUT_ENTRY8(Allreduce_init)
SHORTCUT_ENTRY8(Reduce_scatter_init)
SHORTCUT_ENTRY8(Reduce_scatter_block_init)
SHORTCUT_ENTRY9(Allgather_init)
SHORTCUT_ENTRY10(Allgatherv_init)
#endif
