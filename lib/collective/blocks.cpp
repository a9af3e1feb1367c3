#include "collective/blocks.hpp"

namespace shortcut::collective {

std::vector<OwnedRun> lay_out(const std::vector<int>& owner,
                              const std::vector<std::size_t>& elements, BlockedVector& vector) {
  const std::size_t each = owner.size() / elements.size();
  std::vector<std::size_t> met(elements.size(), 0);   // blocks of each rank so far
  std::vector<std::size_t> laid(elements.size(), 0);  // its elements
  std::vector<OwnedRun> runs;
  std::size_t place = 0;
  for (const int endpoint : owner) {
    const std::size_t index = static_cast<std::size_t>(endpoint);
    const std::size_t count =
        elements[index] / each + (met[index]++ < elements[index] % each ? 1 : 0);
    vector.first_element.push_back(place);
    if (!runs.empty() && runs.back().endpoint == endpoint) {
      runs.back().count += count;
    } else {
      runs.push_back({endpoint, laid[index], place, count});
    }
    laid[index] += count;
    place += count;
    vector.end_element.push_back(place);
  }
  return runs;
}

std::vector<std::size_t> elements_of(const Communicator& comm,
                                     const std::vector<std::size_t>& offset) {
  std::vector<std::size_t> elements;
  for (int endpoint = 0; endpoint < comm.ranks(); ++endpoint) {
    const std::size_t r = static_cast<std::size_t>(comm.user_rank(endpoint));
    elements.push_back(offset[r + 1] - offset[r]);
  }
  return elements;
}

}  // namespace shortcut::collective
