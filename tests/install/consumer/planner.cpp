// Plans without MPI.
#include <cstdio>

#include "planner/selector.hpp"

int main() {
  const shortcut::planner::Selector selector(shortcut::planner::Options{}, 8);
  std::printf("%zu\n", selector.starts().size());
}
