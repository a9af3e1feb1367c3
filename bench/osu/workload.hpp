// One collective of one size: buffers, the call both ways, and the check of its result.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "options.hpp"

namespace shortcut::bench {

class Workload {
 public:
  /// `size`: bytes as the options count them; rounded up to whole elements.
  Workload(const Options& options, std::uint64_t size, MPI_Comm comm);

  /// The size that is really sent for `size`: the next of whole elements, and for
  /// reduce_scatter_block of as many for every rank.
  static std::uint64_t whole(const Options& options, std::uint64_t size, int ranks);

  /// Fills the buffers for the next call (untimed).
  void prepare();
  void run_shortcut();
  void run_native();
  /// Is this rank's result right?
  bool check() const;

  /// Bytes of the whole vector, what the planner counts.
  double vector_bytes() const;
  const char* planner_name() const;

 private:
  double input(int rank, std::size_t element) const;
  double expected(std::size_t element) const;
  double get(const std::vector<std::byte>& buffer, std::size_t element) const;
  void put(std::vector<std::byte>& buffer, std::size_t element, double value) const;
  bool gathers() const { return options_.collective.starts_with("allgather"); }

  const Options& options_;
  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 1;
  MPI_Datatype type_;
  MPI_Op op_;
  std::size_t width_;
  std::size_t elements_ = 0;  // of the whole vector
  std::vector<int> counts_;   // per rank
  std::vector<int> displs_;
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
  std::vector<double> expected_;  // this rank's result
};

}  // namespace shortcut::bench
