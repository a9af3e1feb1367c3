// Do all ranks of this job have Shortcut, switched on? If not, those that have it must step aside
// together, or they would wait in a call for the others.
//
// Ranks without Shortcut can take part in nothing, so this goes through the launcher's key-value
// store (PMIx, Open MPI): each rank leaves a mark before MPI_Init, whose own exchange carries the
// marks, and looks for everyone's after it. No message is sent and nothing waits. Where there is no
// such store (MPICH), or MPI_Init was not seen, nothing is known.
#pragma once

namespace shortcut::collective::census {

enum class Result {
  unknown,   ///< not taken
  all,       ///< every rank has Shortcut, switched on
  mixed,     ///< some rank has no Shortcut
  disabled,  ///< every rank has Shortcut; SHORTCUT_DISABLE is set on some rank, or on all
};

/// Before MPI_Init.
void announce();
/// After it; one rank warns when only some ranks have Shortcut, or have it switched on.
void take();
/// The same on all ranks that announced themselves.
Result result();

}  // namespace shortcut::collective::census
