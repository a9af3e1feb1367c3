#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>

#include "schedule/registry.hpp"
#include "support/units.hpp"

namespace shortcut::bench {
namespace {

/// "1024" (bytes, as OSU has it) or "1KiB".
std::uint64_t size_of(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const auto bytes = parse_bytes(digits ? text + "B" : text);
  if (!bytes.ok()) throw CLI::ValidationError("-m", bytes.error().message);
  return bytes.value();
}

void read_range(const std::string& text, Options& options) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    options.largest = size_of(text);
    options.smallest = std::min<std::uint64_t>(options.smallest, options.largest);
  } else {
    options.smallest = size_of(text.substr(0, colon));
    options.largest = size_of(text.substr(colon + 1));
  }
  if (options.smallest < 1 || options.smallest > options.largest) {
    throw CLI::ValidationError("-m", "'" + text + "' is not MIN:MAX with 1 <= MIN <= MAX");
  }
}

void read_algorithms(const std::string& text, Options& options) {
  if (text == "all") {
    for (const schedule::Algorithm& row : schedule::algorithms()) {
      options.algorithms.emplace_back(row.name);
    }
    return;
  }
  std::stringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = schedule::find_algorithm(name);
    if (!found.ok()) throw CLI::ValidationError("--algorithms", found.error().message);
    options.algorithms.push_back(name);
  }
  if (options.algorithms.empty()) throw CLI::ValidationError("--algorithms", "no name given");
}

}  // namespace

Options parse(int argc, char** argv, bool speaks, bool& done, int& exit_code) {
  Options options;
  std::string range;
  std::string compare;
  std::string algorithms;
  bool no_validate = false;
  CLI::App app{
      "Times a collective through Shortcut over a range of message sizes, in the OSU benchmarks' "
      "format.\nSizes double from MIN to MAX, rounded up to whole elements. Avg, Min and Max are "
      "over "
      "the ranks.\nPredicted is when the last rank is done: compare it with Max. Under "
      "SHORTCUT_FABRIC=virtual times are virtual."};
  app.name("shortcut-bench");
  app.add_option("collective", options.collective,
                 "allreduce, reduce_scatter, reduce_scatter_block, allgather or allgatherv")
      ->required()
      ->check(CLI::IsMember(
          {"allreduce", "reduce_scatter", "reduce_scatter_block", "allgather", "allgatherv"}));
  app.add_option("-m,--message-size", range,
                 "MIN:MAX in bytes or with a unit; bytes of the vector (reductions) or of one "
                 "rank's part (gathers); default 4:1MiB");
  app.add_option("-i,--iterations", options.iterations, "timed calls per size, 1 to 1000000")
      ->check(CLI::Range(1, 1000000));
  app.add_option("-x,--warmup", options.warmup, "calls before them, 0 to 1000000")
      ->check(CLI::Range(0, 1000000));
  app.add_flag("-f,--full", options.full, "also the fastest rank and the iterations");
  app.add_flag("-c,--validation", options.validate, "check the results (the default)");
  app.add_flag("--no-validation", no_validate, "do not check the results");
  app.add_flag("--in-place", options.in_place, "MPI_IN_PLACE");
  app.add_option("--type", options.type, "int, float or double")
      ->check(CLI::IsMember({"int", "float", "double"}));
  app.add_option("--op", options.op, "sum, max or min")
      ->check(CLI::IsMember({"sum", "max", "min"}));
  app.add_option("--compare", compare,
                 "'native': alternate with the MPI library's own, one call "
                 "each in turn, and print the ratio; not under SHORTCUT_FABRIC=virtual")
      ->check(CLI::IsMember({"native"}));
  app.add_option("--algorithms", algorithms,
                 "'all', or names of 'shortcut info' with commas between: one column each, beside "
                 "the free choice (auto), each on a communicator of its own");
  app.add_option("--json", options.json, "write the rows to this file too");
  app.set_version_flag("--version", "shortcut-bench 0.1.0");
  done = false;
  exit_code = 0;
  try {
    app.parse(argc, argv);
    if (!range.empty()) read_range(range, options);
    if (!algorithms.empty()) read_algorithms(algorithms, options);
    if (!options.algorithms.empty() && !compare.empty()) {
      throw CLI::ValidationError("--algorithms", "not together with --compare");
    }
  } catch (const CLI::Success& help) {
    done = true;
    if (speaks) app.exit(help);
  } catch (const CLI::Error& error) {
    done = true;
    exit_code = 2;
    if (speaks) std::fprintf(stderr, "shortcut-bench: %s\n", error.what());
  }
  options.validate = !no_validate;
  options.compare_native = !compare.empty();
  return options;
}

}  // namespace shortcut::bench
