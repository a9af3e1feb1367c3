#include "workload.hpp"

#include <algorithm>
#include <cstring>

#include "shortcut/shortcut.h"

namespace shortcut::bench {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Workload::Workload(const Options& options, std::uint64_t size, MPI_Comm comm)
    : options_(options),
      comm_(comm),
      type_(options.type == "int"      ? MPI_INT
            : options.type == "double" ? MPI_DOUBLE
                                       : MPI_FLOAT),
      op_(options.op == "max"   ? MPI_MAX
          : options.op == "min" ? MPI_MIN
                                : MPI_SUM),
      width_(options.type == "double" ? sizeof(double) : sizeof(float)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  const std::size_t ranks = at(ranks_);
  const std::size_t elements = whole(options, size, ranks_) / width_ * (gathers() ? ranks : 1);
  elements_ = elements;
  int place = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    counts_.push_back(static_cast<int>(elements / ranks + (r < elements % ranks ? 1 : 0)));
    displs_.push_back(place);
    place += counts_.back();
  }
  send_.resize(elements * width_);
  recv_.resize(elements * width_);
  if (!options.validate) return;
  std::size_t first = 0;
  std::size_t count = elements;
  if (options.collective.starts_with("reduce_scatter")) {
    first = at(displs_[at(rank_)]);
    count = at(counts_[at(rank_)]);
  }
  for (std::size_t i = 0; i < count; ++i) expected_.push_back(expected(first + i));
}

std::uint64_t Workload::whole(const Options& options, std::uint64_t size, int ranks) {
  std::uint64_t unit = options.type == "double" ? sizeof(double) : sizeof(float);
  if (options.collective == "reduce_scatter_block") unit *= static_cast<std::uint64_t>(ranks);
  return std::max<std::uint64_t>(1, (size + unit - 1) / unit) * unit;
}

double Workload::input(int rank, std::size_t element) const {
  // Small whole numbers: every sum of them is exact in every type.
  return static_cast<double>((element * 7 + at(rank) * 13) % 23);
}

double Workload::expected(std::size_t element) const {
  if (gathers()) {
    const auto next = std::upper_bound(displs_.begin(), displs_.end(), static_cast<int>(element));
    return input(static_cast<int>(next - displs_.begin()) - 1, element);
  }
  double result = input(0, element);
  for (int r = 1; r < ranks_; ++r) {
    const double value = input(r, element);
    result = op_ == MPI_SUM   ? result + value
             : op_ == MPI_MAX ? std::max(result, value)
                              : std::min(result, value);
  }
  return result;
}

double Workload::get(const std::vector<std::byte>& buffer, std::size_t element) const {
  const std::byte* from = buffer.data() + element * width_;
  if (type_ == MPI_DOUBLE) {
    double value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (type_ == MPI_FLOAT) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  }
  int value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void Workload::put(std::vector<std::byte>& buffer, std::size_t element, double value) const {
  std::byte* to = buffer.data() + element * width_;
  if (type_ == MPI_DOUBLE) {
    std::memcpy(to, &value, sizeof value);
  } else if (type_ == MPI_FLOAT) {
    const float narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    const int whole = static_cast<int>(value);
    std::memcpy(to, &whole, sizeof whole);
  }
}

void Workload::prepare() {
  const std::size_t own = at(displs_[at(rank_)]);
  const std::size_t count = gathers() ? at(counts_[at(rank_)]) : elements_;
  std::fill(recv_.begin(), recv_.end(), std::byte{0x5a});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t element = gathers() ? own + i : i;
    const double value = input(rank_, element);
    put(send_, i, value);
    if (options_.in_place) put(recv_, element, value);
  }
}

void Workload::run_shortcut() {
  const void* send = options_.in_place ? MPI_IN_PLACE : static_cast<const void*>(send_.data());
  const int own = counts_[at(rank_)];
  if (options_.collective == "allreduce") {
    shortcut_allreduce(send, recv_.data(), static_cast<int>(elements_), type_, op_, comm_);
  } else if (options_.collective == "reduce_scatter") {
    shortcut_reduce_scatter(send, recv_.data(), counts_.data(), type_, op_, comm_);
  } else if (options_.collective == "reduce_scatter_block") {
    shortcut_reduce_scatter_block(send, recv_.data(), own, type_, op_, comm_);
  } else if (options_.collective == "allgather") {
    shortcut_allgather(send, own, type_, recv_.data(), own, type_, comm_);
  } else {
    shortcut_allgatherv(send, own, type_, recv_.data(), counts_.data(), displs_.data(), type_,
                        comm_);
  }
}

void Workload::run_native() {
  const void* send = options_.in_place ? MPI_IN_PLACE : static_cast<const void*>(send_.data());
  const int own = counts_[at(rank_)];
  if (options_.collective == "allreduce") {
    PMPI_Allreduce(send, recv_.data(), static_cast<int>(elements_), type_, op_, comm_);
  } else if (options_.collective == "reduce_scatter") {
    PMPI_Reduce_scatter(send, recv_.data(), counts_.data(), type_, op_, comm_);
  } else if (options_.collective == "reduce_scatter_block") {
    PMPI_Reduce_scatter_block(send, recv_.data(), own, type_, op_, comm_);
  } else if (options_.collective == "allgather") {
    PMPI_Allgather(send, own, type_, recv_.data(), own, type_, comm_);
  } else {
    PMPI_Allgatherv(send, own, type_, recv_.data(), counts_.data(), displs_.data(), type_, comm_);
  }
}

bool Workload::check() const {
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    if (get(recv_, i) != expected_[i]) return false;
  }
  return true;
}

double Workload::vector_bytes() const { return static_cast<double>(elements_ * width_); }

const char* Workload::planner_name() const {
  if (options_.collective == "allreduce") return "allreduce";
  return gathers() ? "allgather" : "reduce_scatter";
}

}  // namespace shortcut::bench
