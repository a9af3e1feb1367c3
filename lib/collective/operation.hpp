// Which predefined operations the standard defines for which predefined types.
#pragma once

#include <mpi.h>

namespace shortcut::collective {

struct OperationInfo {
  bool predefined = false;
  /// Predefined, and defined for the type; false also for types that we do not know.
  bool defined_for_type = false;
  /// The order of two operands may show in the result's bits: floating point (NaNs, signed zeros)
  /// and users' functions.
  bool order_shows = true;
};

/// `op` and `type` must be valid handles.
OperationInfo describe_operation(MPI_Op op, MPI_Datatype type);

}  // namespace shortcut::collective
