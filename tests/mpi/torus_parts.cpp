// Lines, planes and whole tori among communicators (SHORTCUT_DIMS and SHORTCUT_MAP): each is
// recognised and planned on its own rings, its data are right, and in virtual time it takes what
// the plan says. `parts A`: with A = cart the torus is the communicator's own Cartesian topology.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/timed_plan.hpp"
#include "shortcut/shortcut.h"

namespace {

using shortcut::collective::Communicator;
using shortcut::tests::expect;

std::string text(const std::vector<int>& dims) { return shortcut::topology::format_dims(dims); }

/// All five collectives on unequal data; what each rank brings depends on its rank in `comm`.
void check_data(MPI_Comm comm, const std::string& what) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int own = 3 + rank;
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  std::vector<int> displs(counts.size());
  std::iota(counts.begin(), counts.end(), 3);
  std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), 0);
  const int all = displs.back() + counts.back();
  std::vector<long> in(static_cast<std::size_t>(all));
  std::vector<long> out(in.size());
  for (int i = 0; i < all; ++i) in[static_cast<std::size_t>(i)] = i * (rank + 1);
  const long factor = static_cast<long>(ranks) * (ranks + 1) / 2;

  shortcut_allreduce(in.data(), out.data(), all, MPI_LONG, MPI_SUM, comm);
  bool right = true;
  for (int i = 0; i < all; ++i) right &= out[static_cast<std::size_t>(i)] == i * factor;
  expect(right, what + ": allreduce");

  std::fill(out.begin(), out.end(), -1);
  shortcut_reduce_scatter(in.data(), out.data(), counts.data(), MPI_LONG, MPI_SUM, comm);
  right = true;
  const int first = displs[static_cast<std::size_t>(rank)];
  for (int i = 0; i < own; ++i) right &= out[static_cast<std::size_t>(i)] == (first + i) * factor;
  expect(right && out[static_cast<std::size_t>(own)] == -1, what + ": reduce_scatter");

  std::fill(out.begin(), out.end(), -1);
  std::vector<long> mine(static_cast<std::size_t>(own), 1000 + rank);
  shortcut_allgatherv(mine.data(), own, MPI_LONG, out.data(), counts.data(), displs.data(),
                      MPI_LONG, comm);
  right = true;
  for (int r = 0; r < ranks; ++r) {
    const std::size_t place = static_cast<std::size_t>(displs[static_cast<std::size_t>(r)]);
    right &= out[place] == 1000 + r && out[place + static_cast<std::size_t>(r) + 2] == 1000 + r;
  }
  expect(right, what + ": allgatherv");
}

/// Is it what it should be, and does a call take what the plan of such a ring or torus says?
void check(MPI_Comm comm, std::vector<int> dims, const std::string& what) {
  auto* state = Communicator::of(comm, *shortcut::collective::Runtime::get());
  expect(state != nullptr, what + ": ours");
  if (state == nullptr) return;
  expect(state->dims() == dims, what + ": is " + text(state->dims()) + ", not " + text(dims));
  if (dims.size() == 1) {
    // Exactly what a ring of that size has.
    const shortcut::planner::Selector ring(state->options(), dims.front());
    const auto& plan =
        ring.select(shortcut::schedule::Collective::allreduce, shortcut::schedule::Operands::exact,
                    shortcut::topology::CircuitState::ring(), 4096);
    const auto& own =
        state->table(shortcut::schedule::Collective::allreduce, shortcut::schedule::Operands::exact)
            .lookup(4096);
    expect(describe(own) == describe(plan), what + ": the plan of a ring");
    expect(own.predicted_ns(4096) == plan.predicted_ns(4096), what + ": the time of a ring");
  }
  const auto& plan =
      state->table(shortcut::schedule::Collective::allreduce, shortcut::schedule::Operands::exact)
          .lookup(8.0 * 512);
  const double predicted_ns = plan.predicted_ns(8.0 * 512);
  std::vector<long> vector(512, 1);
  shortcut_barrier(comm);
  const double start_ns = shortcut_time_ns(comm);
  shortcut_allreduce(MPI_IN_PLACE, vector.data(), 512, MPI_LONG, MPI_SUM, comm);
  const double took_ns = shortcut_time_ns(comm) - start_ns;
  // Folded ranks may be done sooner.
  const bool folded = shortcut::tests::folds(plan.algorithm_name(), dims.front());
  expect(
      folded ? took_ns <= predicted_ns + 1.0 : std::abs(took_ns - predicted_ns) <= 1.0,
      what + ": took " + std::to_string(took_ns) + ", predicted " + std::to_string(predicted_ns));
  check_data(comm, what);
}

/// The communicator of those who share `color`, in the order of `key`.
void with_split(int color, int key, const std::function<void(MPI_Comm)>& use) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
  use(part);
  MPI_Comm_free(&part);
}

/// A change in dimension 0 waits for the ranks of the switches concerned: those of the own ring,
/// and of the rings that share its switch; the others go on.
void check_switches(int rank) {
  auto* state = Communicator::of(MPI_COMM_WORLD, *shortcut::collective::Runtime::get());
  auto& backend = state->backend();
  shortcut_barrier(MPI_COMM_WORLD);
  constexpr double kLate = 5000;
  constexpr double kDelta = 300;
  const double start_ns = backend.now_ns();
  const bool late = rank / 4 % 2 == 1 && rank < 8 && rank % 4 == 2;  // one rank, y = 1, z = 0
  backend.finish_step(state->everyone(), start_ns + (late ? kLate : 0), 0);
  const auto ring = shortcut::topology::CircuitState::ring();
  const auto peers = shortcut::topology::CircuitState::peer(1);
  expect(backend.reconfigure(state->channel(0), ring, peers, kDelta).ok(), "dimension 0 changes");
  const int together = state->settings().rings_per_switch;  // rings y + 2 z
  const bool concerned = rank / 4 / together == 1 / together;
  const double took_ns = backend.now_ns() - start_ns;
  expect(took_ns == (concerned ? kLate + kDelta : kDelta),
         "rank " + std::to_string(rank) + " waits for " + std::to_string(took_ns));
  expect(backend.reconfigure(state->channel(0), peers, ring, 0).ok(), "and back");
}

/// 24 ranks, SHORTCUT_DIMS=4x2x3: rank = x + 4 y + 8 z.
void check_splits(int rank) {
  const int x = rank % 4;
  const int y = rank / 4 % 2;
  const int z = rank / 8;
  check(MPI_COMM_WORLD, {4, 2, 3}, "world");
  check_switches(rank);
  with_split(y + 2 * z, rank, [](MPI_Comm c) { check(c, {4}, "line x"); });
  with_split(x + 4 * y, rank, [](MPI_Comm c) { check(c, {3}, "line z"); });
  with_split(x, rank, [](MPI_Comm c) { check(c, {2, 3}, "plane y z"); });
  with_split(z, -rank, [](MPI_Comm c) { check(c, {4, 2}, "plane x y, backwards"); });
  with_split(x + 4 * y, rank == 0 ? 99 : rank, [](MPI_Comm c) { check(c, {3}, "line, moved"); });
  // No part of the torus: half of the x, all y and z.
  with_split(x / 2, rank, [](MPI_Comm c) { check(c, {12}, "half"); });
}

/// The same torus from MPI_Cart_create: MPI's last dimension is our first.
void check_cart() {
  const int dims[] = {3, 2, 4};
  const int periods[] = {1, 1, 1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
  check(cart, {4, 2, 3}, "cart");
  for (const auto& [keep, expected] :
       {std::pair(std::vector<int>{0, 0, 1}, std::vector<int>{4}),
        std::pair(std::vector<int>{1, 0, 1}, std::vector<int>{4, 3}),
        std::pair(std::vector<int>{1, 1, 0}, std::vector<int>{2, 3})}) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Cart_sub(cart, keep.data(), &part);
    check(part, expected, "cart_sub " + text(expected));
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&cart);
  check(MPI_COMM_WORLD, {24}, "world without topology");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string kind = std::getenv("SHORTCUT_DIMS");
  expect(shortcut_set("dimz", "ring") == MPI_ERR_ARG, "there is no such setting");
  expect(shortcut_set("dims", "4x") == MPI_ERR_ARG, "a value that is not allowed");
  if (kind == "cart") {
    check_cart();
  } else if (kind == "auto") {
    check(MPI_COMM_WORLD, {4, 3, 2}, "auto");
  } else {
    check_splits(rank);
  }
  return shortcut::tests::finish(
      *Communicator::of(MPI_COMM_WORLD, *shortcut::collective::Runtime::get()));
}
