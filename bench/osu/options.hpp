// What shortcut-bench was asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace shortcut::bench {

struct Options {
  std::string collective;      ///< allreduce, reduce_scatter(_block), allgather(v)
  std::uint64_t smallest = 4;  ///< bytes
  std::uint64_t largest = 1 << 20;
  int iterations = 0;  ///< 0: 100 up to 64 KiB, 20 above
  int warmup = 3;
  bool full = false;  ///< minimum, maximum and iterations too
  bool validate = true;
  bool in_place = false;
  std::string type = "float";  ///< int, float or double
  std::string op = "sum";      ///< sum, max or min
  bool compare_native = false;
  /// Registry names to run side by side; empty: what the settings say, alone.
  std::vector<std::string> algorithms;
  std::string json;  ///< file; empty: none
};

/// Reads the command line. `done` is set when the program should end with `exit_code` (help,
/// errors); the message has been printed then, by the rank that `speaks`.
Options parse(int argc, char** argv, bool speaks, bool& done, int& exit_code);

}  // namespace shortcut::bench
