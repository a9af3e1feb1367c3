// Planning and looking up: what a communicator pays once, and what a call pays.
#include <benchmark/benchmark.h>

#include "planner/selector.hpp"

namespace {

using shortcut::planner::Options;
using shortcut::planner::RoutedSchedule;
using shortcut::planner::Selector;
using shortcut::schedule::Collective;
using shortcut::schedule::Operands;
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
    benchmark::DoNotOptimize(&selector.select(Collective::allreduce, Operands::commutative,
                                              CircuitState::ring(), bytes));
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

/// The optimal plan for one size, from nothing: outline, prices of every state, search, the path
/// expanded. ReduceScatter by recursive doubling (0), AllReduce by it (1) or with the full vector
/// (2), Swing's ReduceScatter (3).
void optimal_plan(benchmark::State& state) {
  const Options options = headline();
  constexpr const char* kNames[] = {"recursive_doubling", "recursive_doubling",
                                    "recursive_doubling_full", "swing"};
  const auto* row = shortcut::schedule::find_algorithm(kNames[state.range(1)]).value();
  const Collective collective =
      state.range(1) % 3 == 0 ? Collective::reduce_scatter : Collective::allreduce;
  for (auto _ : state) {
    const RoutedSchedule routed(*row, collective, static_cast<int>(state.range(0)),
                                options.fabric.antipodal);
    const shortcut::planner::StateSearch search(options, routed);
    benchmark::DoNotOptimize(
        expand(options, search.at(32'000, CircuitState::ring()), CircuitState::ring()));
  }
}
BENCHMARK(optimal_plan)->ArgsProduct({{64, 1024}, {0, 1, 2, 3}});

/// One selection table: all algorithms of AllReduce, all sizes, from the ring. With restore none a
/// selector has these tables only, one for each collective and kind of operation: six.
void selection_tables(benchmark::State& state) {
  Options options = headline();
  options.restore = shortcut::planner::Restore::none;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Selector(options, static_cast<int>(state.range(0))));
  }
}
BENCHMARK(selection_tables)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

/// Everything a communicator makes: all collectives, algorithms, starting states.
void selector(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Selector(headline(), static_cast<int>(state.range(0))));
  }
}
BENCHMARK(selector)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
