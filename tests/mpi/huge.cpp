// Sizes past 2^31 bytes: the arithmetic on a type of large extent with little data (most pages are
// never touched), and cut_evenly.
#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "collective/executor.hpp"
#include "mpi/matrix/report.hpp"

namespace {

matrix::Tally tally;

void arithmetic() {
  for (const std::size_t elements : {std::size_t{1} << 31, (std::size_t{1} << 33) + 5}) {
    for (const int blocks : {2, 3, 7, 16}) {
      shortcut::collective::BlockedVector vector;
      shortcut::collective::cut_evenly(elements, blocks, vector);
      std::size_t next = 0;
      for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) {
        tally.check(vector.first_element[b] == next && vector.end_element[b] >= next,
                    "blocks join");
        next = vector.end_element[b];
      }
      tally.check(next == elements, "blocks cover everything");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  arithmetic();
  // One int every 64 MiB.
  constexpr MPI_Aint kExtent = MPI_Aint{64} << 20;
  constexpr int kCount = 40;  // 2.5 GiB from first to last
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, kExtent, &sparse);
  MPI_Type_commit(&sparse);
  const std::size_t bytes = static_cast<std::size_t>(kExtent) * kCount;
  const auto map = [](std::size_t size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 2);
    return static_cast<char*>(memory);
  };
  const std::size_t all_bytes = bytes * static_cast<std::size_t>(ranks);
  char* send = map(bytes);
  char* receive = map(all_bytes);
  const auto at = [](char* base, std::size_t i) -> std::int32_t& {
    return *reinterpret_cast<std::int32_t*>(base + i * static_cast<std::size_t>(kExtent));
  };
  for (std::size_t i = 0; i < kCount; ++i) at(send, i) = rank * 1000 + static_cast<int>(i);
  MPI_Allgather(send, kCount, sparse, receive, kCount, sparse, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < kCount; ++i) {
      tally.check(
          at(receive, static_cast<std::size_t>(r) * kCount + i) == r * 1000 + static_cast<int>(i),
          "allgather far out");
    }
  }
  munmap(send, bytes);
  munmap(receive, all_bytes);
  MPI_Type_free(&sparse);
  const int code = tally.finish("checks");
  MPI_Finalize();
  return code;
}
