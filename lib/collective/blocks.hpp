// Collectives on whole blocks, rank by rank: between the caller's order and the schedule's.
#pragma once

#include <algorithm>
#include <vector>

#include "collective/communicator.hpp"
#include "collective/executor.hpp"

namespace shortcut::collective {

/// A run of one rank's elements within a vector in schedule order.
struct OwnedRun {
  int endpoint = 0;        ///< whose
  std::size_t offset = 0;  ///< where it begins within the rank's own elements
  std::size_t place = 0;   ///< and within the vector
  std::size_t count = 0;
};

/// Cuts each rank's elements into its blocks and lays them out in schedule order: fills the
/// vector's blocks. `owner`: Schedule::block_owner; elements[endpoint]: of each rank.
std::vector<OwnedRun> lay_out(const std::vector<int>& owner,
                              const std::vector<std::size_t>& elements, BlockedVector& vector);

/// Elements of each endpoint's rank, where user rank r's start at offset[r].
std::vector<std::size_t> elements_of(const Communicator& comm,
                                     const std::vector<std::size_t>& offset);

/// ReduceScatter of `input`, which stands in rank order, into this rank's block at `output`.
/// offset[r]: where rank r's block starts, ranks + 1 entries. run(vector) executes the plan.
template <class Run>
int reduce_scatter_blocks(Communicator& comm, const planner::Plan& plan, const TypeInfo& type,
                          const void* input, void* output, const std::vector<std::size_t>& offset,
                          const Run& run_plan) {
  BlockedVector vector;
  vector.type = type;
  vector.base = comm.blocks.reserve(type, offset.back());
  const std::vector<OwnedRun> runs =
      lay_out(plan.schedule().block_owner, elements_of(comm, offset), vector);
  int code = MPI_SUCCESS;
  for (const OwnedRun& run : runs) {
    if (code != MPI_SUCCESS) return code;
    const std::size_t from = offset[static_cast<std::size_t>(comm.user_rank(run.endpoint))];
    code = copy_elements(type, type.at(input, from + run.offset), type.at(vector.base, run.place),
                         run.count, comm.traffic());
  }
  if (code == MPI_SUCCESS) code = run_plan(vector);
  for (const OwnedRun& run : runs) {
    if (run.endpoint != comm.rank() || code != MPI_SUCCESS) continue;
    code = copy_elements(type, type.at(vector.base, run.place), type.at(output, run.offset),
                         run.count, comm.traffic());
  }
  return code;
}

/// AllGather of bytes: `blocks` has all ranks' in rank order, this one's filled in. offset[r]:
/// where rank r's start, ranks + 1 entries.
template <class Run>
int allgather_blocks(Communicator& comm, const planner::Plan& plan, char* blocks,
                     const std::vector<std::size_t>& offset, const Run& run_plan) {
  BlockedVector vector;
  TypeInfo::query(MPI_BYTE, vector.type);
  const std::vector<OwnedRun> runs =
      lay_out(plan.schedule().block_owner, elements_of(comm, offset), vector);
  char* work = static_cast<char*>(comm.blocks.reserve(vector.type, offset.back()));
  vector.base = work;
  const auto in_rank_order = [&](const OwnedRun& run) {
    return blocks + offset[static_cast<std::size_t>(comm.user_rank(run.endpoint))] + run.offset;
  };
  for (const OwnedRun& run : runs) {
    if (run.endpoint == comm.rank()) {
      std::copy_n(in_rank_order(run), run.count, work + run.place);
    }
  }
  const int code = run_plan(vector);
  for (const OwnedRun& run : runs) {
    if (run.endpoint == comm.rank() || code != MPI_SUCCESS) continue;
    std::copy_n(work + run.place, run.count, in_rank_order(run));
  }
  return code;
}

}  // namespace shortcut::collective
