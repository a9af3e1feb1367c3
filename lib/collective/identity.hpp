// Which MPI runs. Includes no mpi.h: asked before anything typed is touched.
#pragma once

namespace shortcut::collective {

/// Is the MPI library of this process the one whose headers we were compiled with? Asked once, when
/// the first call arrives; if not, one line on standard error says so.
bool running_mpi_is_ours();

}  // namespace shortcut::collective
