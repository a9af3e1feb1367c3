// Every rank gets the same bits, with every algorithm, where the order of operations shows: sums
// of mixed magnitudes, zeros of both signs, NaNs of different payloads.
// Several runs of one process are compared too: same call, same bits.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "mpi/matrix/report.hpp"

namespace {

matrix::Tally tally;
int rank = 0;
int ranks = 1;

/// Bits of one value; x87's long double has ten bytes of them.
template <class T>
std::string bits(const T& value) {
  const char* bytes = reinterpret_cast<const char*>(&value);
  if constexpr (std::is_same_v<T, long double>) {
    return {bytes, std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(T)};
  } else if constexpr (std::is_same_v<T, std::complex<long double>>) {
    return bits(value.real()) + bits(value.imag());
  } else {
    return {bytes, sizeof(T)};
  }
}

template <class T>
std::string bits(const std::vector<T>& values) {
  std::string all;
  for (const T& value : values) all += bits(value);
  return all;
}

void same_everywhere(const std::string& mine, const std::string& what) {
  std::string first = mine;
  PMPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  tally.check(first == mine, what + ": bits differ from rank 0's");
}

double mixed(int r, std::size_t i) {
  const double magnitudes[] = {1e16, 1, -1e16, 1e-3, 3};
  return magnitudes[(static_cast<std::size_t>(r) + i) % 5] * (1 + 0.1 * static_cast<double>(i % 7));
}
double signed_zero(int r, std::size_t i) {
  return (static_cast<std::size_t>(r) + i) % 2 == 0 ? 0.0 : -0.0;
}
double not_a_number(int r, std::size_t i) {
  if ((static_cast<std::size_t>(r) * 3 + i) % 3 != 0) return r;
  std::uint64_t payload = 0x7ff8000000000000ULL + static_cast<std::uint64_t>(r + 1);
  double value = 0;
  std::memcpy(&value, &payload, sizeof value);
  return value;
}

template <class T>
T make(double value, double other) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>> ||
                std::is_same_v<T, std::complex<long double>>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(value), static_cast<Part>(other));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
void check(const char* name, MPI_Datatype type,
           const std::vector<std::pair<const char*, MPI_Op>>& ops) {
  using Source = double (*)(int, std::size_t);
  const std::pair<const char*, Source> sources[] = {
      {"mixed", mixed}, {"zeros", signed_zero}, {"NaN", not_a_number}};
  for (const auto& [source_name, source] : sources) {
    for (const auto& [op_name, op] : ops) {
      for (const std::size_t count : {1UL, 2UL, 7UL, 100UL, 5000UL}) {
        std::vector<T> send(count);
        for (std::size_t i = 0; i < count; ++i) {
          send[i] = make<T>(source(rank, i), source(rank + 1, i + 2));
        }
        std::string first;
        const std::string what =
            std::string(name) + " " + op_name + " " + source_name + " " + std::to_string(count);
        for (int run = 0; run < 2; ++run) {
          std::vector<T> receive(count);
          MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), type, op,
                        MPI_COMM_WORLD);
          same_everywhere(bits(receive), what);
          if (run == 0) first = bits(receive);
          tally.check(first == bits(receive), what + ": second run differs");
        }
      }
    }
  }
}

/// Commutative for numbers; with a NaN the order of the operands shows.
void larger(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* a = static_cast<const double*>(in);
  auto* b = static_cast<double*>(inout);
  for (int i = 0; i < *length; ++i) b[i] = a[i] > b[i] ? a[i] : b[i];
}

void check_users_op() {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(larger, 1, &op);
  for (int where = 0; where < ranks; ++where) {
    std::vector<double> send(33, 1.0);
    std::vector<double> receive(33);
    if (rank == where) send.assign(33, std::nan(""));
    MPI_Allreduce(send.data(), receive.data(), 33, MPI_DOUBLE, op, MPI_COMM_WORLD);
    same_everywhere(bits(receive), "user's maximum, NaN on rank " + std::to_string(where));
  }
  MPI_Op_free(&op);
}

struct DoubleInt {
  double value;
  int index;
};

void check_maxloc() {
  for (const MPI_Op op : {MPI_MAXLOC, MPI_MINLOC}) {
    std::vector<DoubleInt> send(33);
    std::vector<DoubleInt> receive(33);
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = {not_a_number(rank, i), rank};
    MPI_Allreduce(send.data(), receive.data(), 33, MPI_DOUBLE_INT, op, MPI_COMM_WORLD);
    std::string mine;
    for (const DoubleInt& item : receive) mine += bits(item.value) + bits(item.index);
    same_everywhere(mine, "maxloc or minloc of NaN");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<std::pair<const char*, MPI_Op>> real = {
      {"sum", MPI_SUM}, {"prod", MPI_PROD}, {"max", MPI_MAX}, {"min", MPI_MIN}};
  const std::vector<std::pair<const char*, MPI_Op>> complex = {{"sum", MPI_SUM},
                                                               {"prod", MPI_PROD}};
  check<float>("float", MPI_FLOAT, real);
  check<double>("double", MPI_DOUBLE, real);
  check<long double>("long double", MPI_LONG_DOUBLE, real);
  check<std::complex<float>>("float complex", MPI_C_FLOAT_COMPLEX, complex);
  check<std::complex<double>>("double complex", MPI_C_DOUBLE_COMPLEX, complex);
  check<std::complex<long double>>("long double complex", MPI_C_LONG_DOUBLE_COMPLEX, complex);
  check_maxloc();
  check_users_op();
  const int code = tally.finish("checks");
  MPI_Finalize();
  return code;
}
