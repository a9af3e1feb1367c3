// More than 2^31 bytes of data really moved, in little memory: the caller's vector is one small
// file mapped again and again, and the data are such that it does not matter (a bitwise or of equal
// values). What a rank receives, one block of the vector, is real memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "mpi/matrix/report.hpp"

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kBytes = (std::size_t{1} << 31) + 5 * kPiece;

char* map_again_and_again() {
  const int file = memfd_create("vector", 0);
  if (file < 0 || ftruncate(file, kPiece) != 0) return nullptr;
  void* all = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  for (std::size_t done = 0; done < kBytes; done += kPiece) {
    void* here = mmap(static_cast<char*>(all) + done, kPiece, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, file, 0);
    if (here == MAP_FAILED) return nullptr;
  }
  close(file);
  return static_cast<char*>(all);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  matrix::Tally tally;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* vector = map_again_and_again();
  if (vector == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  auto* numbers = reinterpret_cast<std::uint32_t*>(vector);
  for (std::size_t i = 0; i < kPiece / sizeof(std::uint32_t); ++i) numbers[i] = 1u << rank;
  static_assert(kBytes / sizeof(std::uint32_t) < 0x7fffffff, "what an int can count");
  MPI_Allreduce(MPI_IN_PLACE, numbers, static_cast<int>(kBytes / sizeof(std::uint32_t)),
                MPI_UINT32_T, MPI_BOR, MPI_COMM_WORLD);
  bool right = true;
  for (std::size_t i = 0; i < kPiece / sizeof(std::uint32_t); ++i) {
    right &= numbers[i] == (1u << ranks) - 1;
  }
  tally.check(right, "allreduce of over 2^31 bytes");
  munmap(vector, kBytes);
  const int code = tally.finish("checks");
  MPI_Finalize();
  return code;
}
