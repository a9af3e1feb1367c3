#include "collective/typed_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace shortcut::collective {
namespace {

constexpr int kCopyTag = 0;

/// work(first element, elements, first byte, bytes) for pieces whose bytes an int can count.
template <class Work>
int by_pieces(const TypeInfo& type, std::size_t elements, const Work& work) {
  if (type.size == 0) return MPI_SUCCESS;
  const std::size_t most = std::max<std::size_t>(1, kMostElements / type.size);
  for (std::size_t done = 0; done < elements; done += most) {
    const std::size_t count = std::min(most, elements - done);
    const int code =
        work(done, static_cast<int>(count), done * type.size, static_cast<int>(count * type.size));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

int TypeInfo::query(MPI_Datatype type, TypeInfo& info) {
  info.type = type;
  int code = PMPI_Type_get_extent(type, &info.lower_bound, &info.extent);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Type_get_true_extent(type, &info.true_lower_bound, &info.true_extent);
  if (code != MPI_SUCCESS) return code;
  MPI_Count size = 0;
  code = PMPI_Type_size_x(type, &size);
  if (code != MPI_SUCCESS) return code;
  info.size = static_cast<std::size_t>(size);
  info.contiguous = info.true_lower_bound == 0 && info.extent == info.true_extent &&
                    static_cast<MPI_Count>(info.extent) == size;
  return MPI_SUCCESS;
}

void* Scratch::reserve(const TypeInfo& type, std::size_t elements) {
  if (elements == 0) elements = 1;
  const MPI_Aint reach = static_cast<MPI_Aint>(elements - 1) * type.extent;
  const MPI_Aint low = type.true_lower_bound + std::min<MPI_Aint>(reach, 0);
  const MPI_Aint high = type.true_lower_bound + type.true_extent + std::max<MPI_Aint>(reach, 0);
  // Types may be aligned to 16 bytes: keep the origin so.
  constexpr MPI_Aint kAlignment = 16;
  const MPI_Aint shift = ((-low % kAlignment) + kAlignment) % kAlignment;
  const std::size_t bytes = static_cast<std::size_t>(high - low + kAlignment);
  if (storage_.size() < bytes) {
    storage_.clear();
    storage_.resize(bytes);
  }
  // Origin = storage - low + padding, a multiple of 16 from the (16-aligned) storage.
  return reinterpret_cast<char*>(storage_.data()) - low + ((kAlignment - shift) % kAlignment);
}

int copy_elements(const TypeInfo& type, const void* from, void* to, std::size_t elements,
                  MPI_Comm self) {
  if (elements == 0 || type.size == 0 || from == to) return MPI_SUCCESS;
  if (type.contiguous) {
    std::memmove(to, from, elements * type.size);  // callers' buffers may overlap, wrongly
    return MPI_SUCCESS;
  }
  for (std::size_t done = 0; done < elements; done += kMostElements) {
    const auto count = static_cast<MPI_Count>(std::min(kMostElements, elements - done));
    const int code = convert_elements(type.at(from, done), count, type.type, type.at(to, done),
                                      count, type.type, self);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int pack_elements(const TypeInfo& type, const void* from, std::size_t elements, char* packed,
                  MPI_Comm self) {
  return by_pieces(type, elements, [&](std::size_t first, int count, std::size_t byte, int bytes) {
    int position = 0;
    return PMPI_Pack(type.at(from, first), count, type.type, packed + byte, bytes, &position, self);
  });
}

int unpack_elements(const TypeInfo& type, const char* packed, void* to, std::size_t elements,
                    MPI_Comm self) {
  return by_pieces(type, elements, [&](std::size_t first, int count, std::size_t byte, int bytes) {
    int position = 0;
    return PMPI_Unpack(packed + byte, bytes, &position, type.at(to, first), count, type.type, self);
  });
}

int convert_elements(const void* from, MPI_Count from_count, MPI_Datatype from_type, void* to,
                     MPI_Count to_count, MPI_Datatype to_type, MPI_Comm self) {
  int rank = 0;
  PMPI_Comm_rank(self, &rank);
#if MPI_VERSION >= 4
  return PMPI_Sendrecv_c(from, from_count, from_type, rank, kCopyTag, to, to_count, to_type, rank,
                         kCopyTag, self, MPI_STATUS_IGNORE);
#else
  return PMPI_Sendrecv(from, static_cast<int>(from_count), from_type, rank, kCopyTag, to,
                       static_cast<int>(to_count), to_type, rank, kCopyTag, self,
                       MPI_STATUS_IGNORE);
#endif
}

}  // namespace shortcut::collective
