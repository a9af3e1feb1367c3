#include "mpi/matrix/items.hpp"

#include <algorithm>

namespace matrix {
namespace {

constexpr std::size_t kGuard = 64;

unsigned char pattern(std::size_t i) { return static_cast<unsigned char>(0xA5 ^ (i * 37)); }

Item finish(const Kind& kind, const char* name, MPI_Datatype type, std::vector<MPI_Aint> offsets,
            std::size_t most = 0) {
  MPI_Type_commit(&type);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  return {kind.name + "/" + name, &kind, type, std::move(offsets), extent, most, true};
}

MPI_Datatype at_places(const Kind& kind, std::vector<MPI_Aint> places) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 1, places.data(), kind.type,
                                 &type);
  return type;
}

MPI_Datatype resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(old, lower, extent, &type);
  MPI_Type_free(&old);
  return type;
}

}  // namespace

Item plain(const Kind& kind) {
  return {kind.name, &kind, kind.type, {0}, static_cast<MPI_Aint>(kind.size), 0, false};
}

std::vector<Item> derived(const Kind& kind) {
  const auto s = static_cast<MPI_Aint>(kind.size);
  std::vector<Item> items;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, kind.type, &type);
  items.push_back(finish(kind, "contiguous", type, {0, s, 2 * s}));
  MPI_Type_vector(2, 1, 3, kind.type, &type);
  items.push_back(finish(kind, "gaps", type, {0, 3 * s}));
  items.push_back(finish(kind, "lower_bound", at_places(kind, {2 * s}), {2 * s}));
  items.push_back(
      finish(kind, "true_lower_bound", resized(at_places(kind, {2 * s}), 0, 4 * s), {2 * s}));
  items.push_back(finish(kind, "negative_lower_bound", at_places(kind, {-2 * s, s}), {-2 * s, s}));
  MPI_Type_contiguous(2, kind.type, &type);
  items.push_back(finish(kind, "larger_extent", resized(type, 0, 5 * s), {0, s}));
  items.push_back(finish(kind, "turned_round", at_places(kind, {s, 0}), {s, 0}));
  // Columns of a row-major matrix: the extent is smaller than the data, items interleave.
  constexpr int kColumns = 600;
  MPI_Type_vector(3, 1, kColumns, kind.type, &type);
  items.push_back(finish(kind, "smaller_extent", resized(type, 0, s),
                         {0, kColumns * s, 2 * kColumns * s}, kColumns));
  // Last item first in memory.
  items.push_back(finish(kind, "negative_extent", resized(at_places(kind, {0}), 0, -2 * s), {0}));
  MPI_Type_contiguous(0, kind.type, &type);
  items.push_back(finish(kind, "nothing", type, {}));
  MPI_Type_contiguous(0, kind.type, &type);
  items.push_back(finish(kind, "nothing_wide", resized(type, 0, 2 * s), {}));
  return items;
}

void free_item(Item& item) {
  if (item.owned) MPI_Type_free(&item.type);
}

Buffer::Buffer(const Item& item, std::size_t items, bool padding_is_data)
    : item_(&item), items_(items) {
  MPI_Aint low = 0;
  MPI_Aint high = 0;
  if (items > 0) {
    const MPI_Aint reach = static_cast<MPI_Aint>(items - 1) * item.extent;
    for (const MPI_Aint offset : item.offsets) {
      low = std::min({low, offset, offset + reach});
      high = std::max({high, offset, offset + reach});
    }
  }
  high += static_cast<MPI_Aint>(item.kind->size);
  origin_ = (kGuard + static_cast<std::size_t>(-low) + 15) / 16 * 16;
  const std::size_t bytes = origin_ + static_cast<std::size_t>(high) + kGuard;
  bytes_.resize(bytes);
  data_.resize(bytes);
  for (std::size_t i = 0; i < bytes; ++i) bytes_[i] = pattern(i);
  for (std::size_t i = 0; i < items; ++i) {
    for (const MPI_Aint offset : item.offsets) {
      const auto mark = [&](std::size_t first, std::size_t count) {
        std::fill_n(data_.begin() + static_cast<std::ptrdiff_t>(place(i, offset) + first), count,
                    true);
      };
      if (padding_is_data) mark(0, item.kind->size);
      for (const auto& [first, count] : item.kind->fields) mark(first, count);
    }
  }
}

bool Buffer::pattern_intact() const {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (!data_[i] && bytes_[i] != pattern(i)) return false;
  }
  return true;
}

}  // namespace matrix
