// shortcut-bench: the OSU micro-benchmarks' tables for the collectives that Shortcut serves.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "options.hpp"
#include "shortcut/shortcut.h"
#include "workload.hpp"

namespace shortcut::bench {
namespace {

/// Times over the ranks, microseconds per call.
struct Times {
  double mean = 0;
  double fastest = 0;
  double slowest = 0;
};

struct Row {
  std::uint64_t size = 0;
  int iterations = 0;
  Times shortcut;
  Times native;
  double predicted_us = 0;
  std::string plan;
  bool right = true;
};

/// One column of a table: an algorithm on a communicator of its own.
struct Column {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;
};

Times over_ranks(double own_us) {
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Times times;
  PMPI_Allreduce(&own_us, &times.mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  PMPI_Allreduce(&own_us, &times.fastest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  PMPI_Allreduce(&own_us, &times.slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  times.mean /= ranks;
  return times;
}

Row measure(const Options& options, std::uint64_t size, MPI_Comm comm) {
  Workload workload(options, size, comm);
  Row row;
  row.size = size;
  constexpr std::uint64_t kLarge = 64 * 1024;
  row.iterations = options.iterations > 0 ? options.iterations : size <= kLarge ? 100 : 20;
  double shortcut_ns = 0;
  double native_us = 0;
  double predicted_ns = 0;
  int wrong = 0;
  for (int i = -options.warmup; i < row.iterations; ++i) {
    shortcut_choice choice;
    workload.prepare();
    shortcut_barrier(comm);  // aligns the clocks, too
    shortcut_query(workload.planner_name(), workload.vector_bytes(), comm, &choice);
    const double start_ns = shortcut_time_ns(comm);
    workload.run_shortcut();
    const double elapsed_ns = shortcut_time_ns(comm) - start_ns;
    const bool ends = i == row.iterations - 1 || i == -options.warmup;
    if (options.validate && ends && !workload.check()) wrong = 1;
    if (i >= 0) {
      shortcut_ns += elapsed_ns;
      predicted_ns += choice.predicted_ns;
      row.plan = choice.plan;
    }
    if (!options.compare_native) continue;
    workload.prepare();
    PMPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    workload.run_native();
    const double elapsed_us = (MPI_Wtime() - start_s) * 1e6;
    if (options.validate && ends && !workload.check()) wrong = 1;
    if (i >= 0) native_us += elapsed_us;
  }
  row.shortcut = over_ranks(shortcut_ns / 1e3 / row.iterations);
  row.native = over_ranks(native_us / row.iterations);
  row.predicted_us = predicted_ns / 1e3 / row.iterations;
  int any_wrong = 0;
  PMPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  row.right = any_wrong == 0;
  return row;
}

void print_head(const Options& options) {
  fmt::print("# Shortcut MPI {} Latency Test\n# Datatype: {}, op: {}\n", options.collective,
             options.type, options.op);
  fmt::print("{:<12}{:>16}", "# Size", "Avg Latency(us)");
  if (options.full) fmt::print("{:>16}", "Min Latency(us)");
  fmt::print("{:>16}", "Max Latency(us)");
  if (options.full) fmt::print("{:>12}", "Iterations");
  fmt::print("{:>16}", "Predicted(us)");
  if (options.compare_native) fmt::print("{:>14}{:>10}", "Native(us)", "Ratio");
  if (options.validate) fmt::print("{:>12}", "Validation");
  fmt::print("  Algorithm\n");
}

void print_row(const Options& options, const Row& row) {
  fmt::print("{:<12}{:>16.2f}", row.size, row.shortcut.mean);
  if (options.full) fmt::print("{:>16.2f}", row.shortcut.fastest);
  fmt::print("{:>16.2f}", row.shortcut.slowest);
  if (options.full) fmt::print("{:>12}", row.iterations);
  fmt::print("{:>16.2f}", row.predicted_us);
  if (options.compare_native) {
    fmt::print("{:>14.2f}{:>10.2f}", row.native.mean, row.native.mean / row.shortcut.mean);
  }
  if (options.validate) fmt::print("{:>12}", row.right ? "Pass" : "FAIL");
  fmt::print("  {}\n", row.plan);
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const Options& options, const Row& row) {
  nlohmann::ordered_json one{{"size", row.size},
                             {"iterations", row.iterations},
                             {"latency_us", row.shortcut.mean},
                             {"min_us", row.shortcut.fastest},
                             {"max_us", row.shortcut.slowest},
                             {"predicted_us", row.predicted_us},
                             {"algorithm", row.plan},
                             {"validation", !options.validate ? "off"
                                            : row.right       ? "pass"
                                                              : "fail"}};
  if (options.compare_native) {
    one["native_us"] = row.native.mean;
    one["ratio"] = row.native.mean / row.shortcut.mean;
  }
  return one;
}

/// Asked before the measurement, which may take long. The same on all ranks.
bool can_write_json(const Options& options, bool speaks) {
  int can = 1;
  if (speaks && !options.json.empty() && !std::ofstream(options.json, std::ios::app)) {
    can = 0;
    fmt::print(stderr, "shortcut-bench: --json: cannot write '{}': {}\n", options.json,
               std::strerror(errno));
  }
  PMPI_Bcast(&can, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return can != 0;
}

bool write_json(const Options& options, const nlohmann::ordered_json& rows) {
  nlohmann::ordered_json out;
  out["collective"] = options.collective;
  out["rows"] = rows;
  std::ofstream file(options.json);
  file << out.dump(2) << '\n';
  file.flush();
  if (!file) fmt::print(stderr, "shortcut-bench: --json: cannot write '{}'\n", options.json);
  return static_cast<bool>(file);
}

/// By rank 0's settings, which are everyone's.
bool virtual_time() {
  int is_virtual = config::load_from_process().settings.fabric == config::Fabric::virtual_ ? 1 : 0;
  PMPI_Bcast(&is_virtual, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return is_virtual != 0;
}

/// visit(size) for every size that is asked for.
template <class Visit>
void for_each_size(const Options& options, bool speaks, const Visit& visit) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::uint64_t last = 0;
  for (std::uint64_t asked = options.smallest; asked <= options.largest; asked *= 2) {
    // What is sent is what is shown: sizes that round to the same are measured once.
    const std::uint64_t size = Workload::whole(options, asked, ranks);
    if (size == last) continue;
    last = size;
    const std::uint64_t vector = options.collective.starts_with("allgather")
                                     ? size * static_cast<std::uint64_t>(ranks)
                                     : size;
    if (vector / 4 > 0x7fffffffU) {
      if (speaks) {
        fmt::print(stderr, "shortcut-bench: stopping at {} B: over 2^31 elements\n", size);
      }
      return;
    }
    visit(size);
  }
}

std::size_t width_of(const std::string& name) { return std::max<std::size_t>(name.size(), 10) + 2; }

/// The free choice and the algorithms asked for, as far as they can serve: at least in one
/// dimension of a torus.
std::vector<Column> make_columns(const Options& options, bool speaks) {
  std::vector<Column> columns;
  std::vector<std::string> names{"auto"};
  names.insert(names.end(), options.algorithms.begin(), options.algorithms.end());
  Workload workload(options, options.smallest, MPI_COMM_WORLD);
  for (const std::string& name : names) {
    Column column{name, MPI_COMM_NULL};
    shortcut_set("algorithm", name.c_str());
    MPI_Comm_dup(MPI_COMM_WORLD, &column.comm);
    shortcut_choice choice;
    shortcut_query(workload.planner_name(), workload.vector_bytes(), column.comm, &choice);
    if (choice.as_asked != 0) {
      columns.push_back(column);
      continue;
    }
    if (speaks) fmt::print("# {} cannot serve here: {}\n", name, choice.reason);
    MPI_Comm_free(&column.comm);
  }
  return columns;
}

/// A column per algorithm. False: a result was wrong.
bool run_side_by_side(const Options& options, bool speaks, nlohmann::ordered_json& rows) {
  if (speaks) {
    fmt::print("# Shortcut MPI {} Latency Test, slowest rank, us\n# Datatype: {}, op: {}\n",
               options.collective, options.type, options.op);
  }
  const std::vector<Column> columns = make_columns(options, speaks);
  if (speaks) {
    fmt::print("{:<12}", "# Size");
    for (const Column& column : columns) fmt::print("{:>{}}", column.name, width_of(column.name));
    fmt::print("  Best, and what auto ran\n");
  }
  bool right = true;
  for_each_size(options, speaks, [&](std::uint64_t size) {
    if (speaks) fmt::print("{:<12}", size);
    std::string best;
    std::string plan;
    double least = 0;
    for (const Column& column : columns) {
      const Row row = measure(options, size, column.comm);
      right = right && row.right;
      if (column.name == "auto") plan = row.plan;
      if (best.empty() || row.shortcut.slowest < least) {
        best = column.name;
        least = row.shortcut.slowest;
      }
      rows.push_back(json_of(options, row));
      rows.back()["asked"] = column.name;
      if (speaks) {
        fmt::print("{:>{}}", row.right ? fmt::format("{:.2f}", row.shortcut.slowest) : "FAIL",
                   width_of(column.name));
        std::fflush(stdout);
      }
    }
    if (speaks) fmt::print("  {}; {}\n", best, plan);
  });
  for (Column column : columns) MPI_Comm_free(&column.comm);
  return right;
}

int run(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool done = false;
  int exit_code = 0;
  const Options options = parse(argc, argv, rank == 0, done, exit_code);
  if (done) return exit_code;
  if (options.compare_native && virtual_time()) {
    if (rank == 0) {
      fmt::print(stderr,
                 "shortcut-bench: --compare native: the fabric is virtual, so Shortcut's times are "
                 "the model's and the MPI library's this machine's; compare under "
                 "SHORTCUT_FABRIC=static or modeled\n");
    }
    return 2;
  }
  if (!can_write_json(options, rank == 0)) return 2;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool right = true;
  if (!options.algorithms.empty()) {
    right = run_side_by_side(options, rank == 0, rows);
  } else {
    if (rank == 0) print_head(options);
    for_each_size(options, rank == 0, [&](std::uint64_t size) {
      const Row row = measure(options, size, MPI_COMM_WORLD);
      right = right && row.right;
      if (rank == 0) print_row(options, row);
      rows.push_back(json_of(options, row));
    });
  }
  if (rows.empty()) exit_code = 2;  // every size was too large
  if (rank == 0 && !options.json.empty() && !write_json(options, rows)) exit_code = 1;
  return right ? exit_code : 1;
}

}  // namespace
}  // namespace shortcut::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = shortcut::bench::run(argc, argv);
  MPI_Finalize();
  return code;
}
