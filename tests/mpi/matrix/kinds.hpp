// Element kinds: a C type with values that depend on (rank, index), and its operations as plain
// functions on one element. The serial reference of every reduction is a fold of these.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace matrix {

/// out = left op right, on one element.
using Combine = void (*)(const void* left, const void* right, void* out);

struct Kind {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< a predefined type, or ours for structs
  std::size_t size = 0;                   ///< of the C type
  void (*fill)(int rank, std::size_t index, void* out) = nullptr;
  bool (*equal)(const void*, const void*) = nullptr;
  /// Bytes that hold values; others are padding of the C type.
  std::vector<std::pair<std::size_t, std::size_t>> fields;
  struct Operation {
    std::string name;
    MPI_Op op = MPI_OP_NULL;
    Combine combine = nullptr;
    bool any_layout = false;    ///< a user's function: works on derived types of this kind
    bool whole_struct = false;  ///< it writes padding too
    bool commutative = true;
  };
  std::vector<Operation> operations;
};

/// All kinds; call after MPI_Init.
std::vector<Kind> make_kinds();
void free_kinds();

/// The layout that user functions see: byte offsets of the elements in one item, and its extent.
struct Layout {
  std::vector<MPI_Aint> offsets;
  MPI_Aint extent = 0;
  Combine combine = nullptr;
};
/// What the user functions work on until the next call; they count their items here.
extern Layout current_layout;
extern long user_items;
extern bool user_length_wrong;

}  // namespace matrix
