// Planning on circulants: schedule, segments, dynamic program and the steps of the best plan.
#include <benchmark/benchmark.h>

#include "planner/harvest.hpp"

namespace {

using namespace shortcut::planner;
using Collective = CirculantCollective;

shortcut::model::FabricParameters fabric() {
  return {.alpha_s_ns = 500, .alpha_p_ns = 50, .beta_ns_per_byte = 0.01, .delta_ns = 10'000};
}

void synthesis(benchmark::State& state, const char* algorithm, Collective collective) {
  const ShiftAlgorithm& row = *find_shift_algorithm(algorithm);
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan_on_circulants(fabric(), row, collective,
                                                static_cast<int>(state.range(0)), 4 << 20,
                                                CirculantForm::optimal));
  }
}
BENCHMARK_CAPTURE(synthesis, reduce_scatter, "cyclic", Collective::reduce_scatter)
    ->Arg(64)
    ->Arg(1024);
BENCHMARK_CAPTURE(synthesis, allreduce, "cyclic", Collective::allreduce)->Arg(64)->Arg(1024);
/// No power of two: the search over all generators.
BENCHMARK_CAPTURE(synthesis, allgather_any_ranks, "bruck", Collective::allgather)
    ->Arg(63)
    ->Arg(1000);

/// The search where it is not needed.
void all_generators(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const auto shifts = find_shift_algorithm("cyclic")->make(Collective::reduce_scatter, nodes);
  for (auto _ : state) {
    const SegmentTable table = segments_on_circulants(fabric(), nodes, 4 << 20, shifts);
    const SegmentProgram program(table);
    benchmark::DoNotOptimize(program.segments(program.best(fabric().delta_ns)));
  }
}
BENCHMARK(all_generators)->Arg(64)->Arg(1024);

}  // namespace
