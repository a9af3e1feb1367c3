// Drawings of circuit states: endpoints on a circle, fixed and switched links.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shortcut::cli {

struct Panel {
  std::string title;
  std::string subtitle;
  std::vector<int> order;  ///< the endpoints round the circle
  std::vector<std::pair<int, int>> fixed;
  std::vector<std::pair<int, int>> switched;
};

/// One graph per panel, with positions (for `neato -n`).
std::string dot_of(const std::vector<Panel>& panels);
/// All panels on one picture.
std::string svg_of(const std::vector<Panel>& panels);

}  // namespace shortcut::cli
