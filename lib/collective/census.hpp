// Do all ranks of this job have Shortcut, switched on? If not, those that have it must step aside
// together, or they would wait in a call for the others.
//
// Ranks without Shortcut can take part in nothing, so this goes through the launcher's key-value
// store: each rank leaves a mark before MPI_Init and looks for everyone's after it. A rank whose
// MPI_Init was not seen looks at its first collective; it comes to the same answer as the others,
// for it left no mark. Where there is no store that we know, nothing is known.
#pragma once

namespace shortcut::collective::census {

enum class Result {
  unknown,   ///< no rank left a mark, or there is no store
  all,       ///< every rank has Shortcut, switched on
  mixed,     ///< some rank left no mark: it has no Shortcut
  disabled,  ///< every rank has Shortcut; SHORTCUT_DISABLE is set on some rank, or on all
};

/// Before MPI_Init.
void announce();
/// After it; one rank warns when only some ranks have Shortcut, or have it switched on.
void take();
/// The same on all ranks of the job. Takes the census if that was not done.
Result result();

}  // namespace shortcut::collective::census
