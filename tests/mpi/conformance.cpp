// The suite that every fabric backend passes. Run with SHORTCUT_FABRIC=static|modeled|virtual.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "collective/communicator.hpp"
#include "fabric/backend.hpp"

namespace {

using shortcut::topology::CircuitState;

int failures = 0;

void expect(bool ok, const char* what) {
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what);
}

double maximum(double value) {
  double all = 0;
  PMPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string name = std::getenv("SHORTCUT_FABRIC");
  shortcut::config::Settings settings;
  expect(set(settings, "fabric", name).ok(), "the settings know the fabric");
  expect(set(settings, "time_scale", "2").ok(), "time_scale");
  const auto backend = shortcut::fabric::make_backend(settings, false);
  shortcut::collective::MpiChannel channel(MPI_COMM_WORLD);
  const auto able = backend->capabilities();
  expect(able.name == name, "it is the backend that was asked for");
  expect(channel.participants() > 1, "several participants");

  // A change to the state that is held costs nothing and succeeds.
  const double before_ns = backend->now_ns();
  expect(backend->reconfigure(channel, CircuitState::ring(), CircuitState::ring(), 0).ok(),
         "ring to ring");
  constexpr double kDelta = 20e6;  // 20 ms
  expect(backend->now_ns() - before_ns < kDelta, "ring to ring costs no delta");

  // Ranks that come at different times leave together, delta after the last of them.
  if (able.virtual_time) backend->finish_step(channel, before_ns + 1000.0 * rank, 0);
  const double latest_ns = maximum(backend->now_ns());
  const auto changed =
      backend->reconfigure(channel, CircuitState::ring(), CircuitState::peer(1), kDelta);
  expect(changed.ok() == able.reconfigures, "it holds other states only if it says so");
  if (able.reconfigures) {
    const double passed_ns = backend->now_ns() - latest_ns;
    const double scale = able.virtual_time ? 1.0 : 2.0;
    expect(passed_ns >= kDelta * scale, "delta (times scale) passes");
    if (able.virtual_time) expect(passed_ns == kDelta, "exactly delta in virtual time");
    expect(backend->reconfigure(channel, CircuitState::peer(1), CircuitState::ring(), 0).ok(),
           "back to the ring, uncharged");
  } else {
    expect(changed.error().message.find("peer:1") != std::string::npos,
           "the error names the state");
  }
  // Time never runs backwards.
  const double now_ns = backend->now_ns();
  backend->finish_step(channel, now_ns - 5000, 0);
  expect(backend->now_ns() >= now_ns, "a step that ends in the past does not turn time back");

  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
