// Planning and looking up: what a communicator pays once, and what a call pays.
#include <benchmark/benchmark.h>

#include "planner/selector.hpp"

namespace {

using shortcut::planner::Options;
using shortcut::planner::RoutedSchedule;
using shortcut::planner::Selector;
using shortcut::schedule::Collective;
using shortcut::topology::CircuitState;

Options headline() {
  Options options;
  options.fabric = {
      .alpha_s_ns = 500, .alpha_p_ns = 500, .beta_ns_per_byte = 0.01, .delta_ns = 10'000};
  return options;
}

/// A call: message size -> plan.
void lookup(benchmark::State& state) {
  const Selector selector(headline(), static_cast<int>(state.range(0)));
  double bytes = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        &selector.select(Collective::allreduce, true, CircuitState::ring(), bytes));
    bytes = bytes < 1e9 ? bytes * 1.7 : 1;
  }
}
BENCHMARK(lookup)->Arg(16)->Arg(1024);

/// The threshold plan for one size, from nothing: schedule, routing, every threshold, the best one
/// expanded. ReduceScatter by recursive doubling.
void threshold_plan(benchmark::State& state) {
  const Options options = headline();
  const auto* row = shortcut::schedule::find_algorithm("recursive_doubling").value();
  for (auto _ : state) {
    const RoutedSchedule routed(*row, Collective::reduce_scatter, static_cast<int>(state.range(0)),
                                options.fabric.antipodal);
    const auto all = candidates(options, routed, CircuitState::ring());
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].line.at(32'000) < all[best].line.at(32'000)) best = i;
    }
    benchmark::DoNotOptimize(expand(options, all[best], CircuitState::ring()));
  }
}
BENCHMARK(threshold_plan)->Arg(64)->Arg(1024);

/// Everything a communicator makes: all collectives, algorithms, starting states.
void selector(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Selector(headline(), static_cast<int>(state.range(0))));
  }
}
BENCHMARK(selector)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
