// One collective on guarded buffers against the serial reference. Every rank of the communicator
// calls with the same arguments; the result is what this rank saw.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/matrix/items.hpp"

namespace matrix {

enum class InPlace { no, yes, garbage };  ///< garbage: nonsense in the ignored arguments

struct Outcome {
  bool ran = false;   ///< false: this combination makes no sense (too many items, say)
  std::string error;  ///< empty: right
};

Outcome allreduce(MPI_Comm comm, const Item& item, const Kind::Operation& op, int count,
                  InPlace in_place);
/// counts[r] items for rank r; `block`: MPI_Reduce_scatter_block (equal counts then).
Outcome reduce_scatter(MPI_Comm comm, const Item& item, const Kind::Operation& op,
                       const std::vector<int>& counts, InPlace in_place, bool block);
/// Each rank sends elements of `send` and receives items of `receive`; both over one kind.
/// counts: received items per rank; displs: their places; empty: MPI_Allgather.
Outcome allgather(MPI_Comm comm, const Item& send, const Item& receive,
                  const std::vector<int>& counts, const std::vector<int>& displs, InPlace in_place);

}  // namespace matrix
