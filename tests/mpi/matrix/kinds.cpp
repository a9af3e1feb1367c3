#include "mpi/matrix/kinds.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace matrix {

Layout current_layout;
long user_items = 0;
bool user_length_wrong = false;

namespace {

struct Matrix {
  std::int32_t m[4];
};
struct Record {  // four bytes of padding behind key
  double value;
  std::int32_t key;
};
template <class V>
struct Pair {
  V value;
  int index;
};

MPI_Op user_commutative = MPI_OP_NULL;
MPI_Op user_ordered = MPI_OP_NULL;
MPI_Datatype matrix_type = MPI_DATATYPE_NULL;
MPI_Datatype record_type = MPI_DATATYPE_NULL;

constexpr std::int32_t kPrime = 9973;

std::size_t mix(int rank, std::size_t index) {
  return static_cast<std::size_t>(rank) * 3 + index * 5 + index / 11;
}

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

/// Small whole numbers: sums and products of 16 fit every type and are exact in floating types.
template <class T>
T value(int rank, std::size_t index) {
  const std::size_t v = mix(rank, index);
  if constexpr (std::is_same_v<T, bool>) {
    return v % 3 != 0;
  } else if constexpr (is_complex<T>::value) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(1 + v % 2), static_cast<Part>(v % 2));
  } else {
    constexpr int kNarrow[] = {1, 2, 1, 1, 2, 1, 1};
    constexpr int kWide[] = {1, 2, 3, 1, 5, 2, 1};
    return static_cast<T>(sizeof(T) < 4 ? kNarrow[v % 7] : kWide[v % 7]);
  }
}

template <class T>
T load(const void* from) {
  T item;
  std::memcpy(&item, from, sizeof(T));
  return item;
}
template <class T>
void store(void* to, const T& item) {
  std::memcpy(to, &item, sizeof(T));
}

template <class T>
void fill(int rank, std::size_t index, void* out) {
  store(out, value<T>(rank, index));
}
template <class T>
bool equal(const void* a, const void* b) {
  return load<T>(a) == load<T>(b);
}

#define MATRIX_COMBINE(NAME, EXPRESSION)                      \
  template <class T>                                          \
  void NAME(const void* left, const void* right, void* out) { \
    const T a = load<T>(left);                                \
    const T b = load<T>(right);                               \
    store<T>(out, static_cast<T>(EXPRESSION));                \
  }
MATRIX_COMBINE(sum, a + b)
MATRIX_COMBINE(product, a* b)
MATRIX_COMBINE(largest, a > b ? a : b)
MATRIX_COMBINE(smallest, a < b ? a : b)
MATRIX_COMBINE(logical_and, a&& b)
MATRIX_COMBINE(logical_or, a || b)
MATRIX_COMBINE(logical_xor, !a != !b)
MATRIX_COMBINE(bit_and, a& b)
MATRIX_COMBINE(bit_or, a | b)
MATRIX_COMBINE(bit_xor, a ^ b)

template <class V>
void pair_fill(int rank, std::size_t index, void* out) {
  Pair<V> item{};
  item.value = static_cast<V>(mix(rank, index) % 4);  // ties are common
  item.index = rank;
  store(out, item);
}
template <class V>
bool pair_equal(const void* a, const void* b) {
  const auto x = load<Pair<V>>(a);
  const auto y = load<Pair<V>>(b);
  return x.value == y.value && x.index == y.index;
}
template <class V, bool Largest>
void pair_pick(const void* left, const void* right, void* out) {
  const auto a = load<Pair<V>>(left);
  const auto b = load<Pair<V>>(right);
  const bool better = Largest ? a.value > b.value : a.value < b.value;
  Pair<V> pick = better ? a : b;
  if (a.value == b.value) pick.index = a.index < b.index ? a.index : b.index;
  store(out, pick);
}

void matrix_fill(int rank, std::size_t index, void* out) {
  Matrix item;
  for (std::size_t i = 0; i < 4; ++i) {
    item.m[i] = static_cast<std::int32_t>((mix(rank, index) * 31 + i * 17 + 3) % 97);
  }
  store(out, item);
}
bool matrix_equal(const void* a, const void* b) { return std::memcmp(a, b, sizeof(Matrix)) == 0; }
void matrix_product(const void* left, const void* right, void* out) {
  const auto a = load<Matrix>(left);
  const auto b = load<Matrix>(right);
  Matrix c;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      c.m[2 * i + j] = (a.m[2 * i] * b.m[j] + a.m[2 * i + 1] * b.m[2 + j]) % kPrime;
    }
  }
  store(out, c);
}
void matrix_sum(const void* left, const void* right, void* out) {
  auto a = load<Matrix>(left);
  const auto b = load<Matrix>(right);
  for (int i = 0; i < 4; ++i) a.m[i] = (a.m[i] + b.m[i]) % kPrime;
  store(out, a);
}

void record_fill(int rank, std::size_t index, void* out) {
  Record item{};
  item.value = static_cast<double>(mix(rank, index) % 13);
  item.key = rank;
  store(out, item);
}
bool record_equal(const void* a, const void* b) {
  const auto x = load<Record>(a);
  const auto y = load<Record>(b);
  return x.value == y.value && x.key == y.key;
}
void record_best(const void* left, const void* right, void* out) {
  const auto a = load<Record>(left);
  const auto b = load<Record>(right);
  const bool first = a.value > b.value || (a.value == b.value && a.key < b.key);
  store(out, first ? a : b);
}
/// Associative, not commutative: the first record with an even value, else the last.
void record_first(const void* left, const void* right, void* out) {
  const auto a = load<Record>(left);
  store(out, static_cast<int>(a.value) % 2 == 0 ? a : load<Record>(right));
}

void user_function(void* in, void* inout, int* length, MPI_Datatype*) {
  if (*length < 1) user_length_wrong = true;
  user_items += *length;
  for (int i = 0; i < *length; ++i) {
    for (const MPI_Aint offset : current_layout.offsets) {
      const MPI_Aint at = i * current_layout.extent + offset;
      char* right = static_cast<char*>(inout) + at;
      current_layout.combine(static_cast<char*>(in) + at, right, right);
    }
  }
}

template <class T>
Kind scalar(const char* name, MPI_Datatype type) {
  Kind kind{name, type, sizeof(T), fill<T>, equal<T>, {{0, sizeof(T)}}, {}};
  return kind;
}
template <class T>
Kind arithmetic(const char* name, MPI_Datatype type) {
  Kind kind = scalar<T>(name, type);
  kind.operations = {{"sum", MPI_SUM, sum<T>}, {"prod", MPI_PROD, product<T>}};
  if constexpr (!is_complex<T>::value) {
    kind.operations.push_back({"max", MPI_MAX, largest<T>});
    kind.operations.push_back({"min", MPI_MIN, smallest<T>});
    kind.operations.push_back({"user", user_commutative, sum<T>, true});
  }
  return kind;
}
template <class T>
void add_bits(Kind& kind) {
  kind.operations.push_back({"band", MPI_BAND, bit_and<T>});
  kind.operations.push_back({"bor", MPI_BOR, bit_or<T>});
  kind.operations.push_back({"bxor", MPI_BXOR, bit_xor<T>});
}
template <class T>
void add_logic(Kind& kind) {
  kind.operations.push_back({"land", MPI_LAND, logical_and<T>});
  kind.operations.push_back({"lor", MPI_LOR, logical_or<T>});
  kind.operations.push_back({"lxor", MPI_LXOR, logical_xor<T>});
}
template <class T>
Kind integer(const char* name, MPI_Datatype type, bool logic = true) {
  Kind kind = arithmetic<T>(name, type);
  if (logic) add_logic<T>(kind);
  add_bits<T>(kind);
  return kind;
}
template <class V>
Kind pair(const char* name, MPI_Datatype type) {
  using P = Pair<V>;
  Kind kind{name, type, sizeof(P), pair_fill<V>, pair_equal<V>, {}, {}};
  kind.fields = {{0, sizeof(V)}, {offsetof(P, index), sizeof(int)}};
  kind.operations = {{"maxloc", MPI_MAXLOC, pair_pick<V, true>},
                     {"minloc", MPI_MINLOC, pair_pick<V, false>}};
  return kind;
}

}  // namespace

std::vector<Kind> make_kinds() {
  MPI_Op_create(user_function, 1, &user_commutative);
  MPI_Op_create(user_function, 0, &user_ordered);
  MPI_Type_contiguous(4, MPI_INT32_T, &matrix_type);
  MPI_Type_commit(&matrix_type);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(Record, value), offsetof(Record, key)};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT32_T};
  MPI_Datatype bare = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, parts, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(Record), &record_type);
  MPI_Type_free(&bare);
  MPI_Type_commit(&record_type);

  std::vector<Kind> kinds = {
      integer<signed char>("signed_char", MPI_SIGNED_CHAR),
      integer<unsigned char>("unsigned_char", MPI_UNSIGNED_CHAR),
      integer<short>("short", MPI_SHORT),
      integer<unsigned short>("unsigned_short", MPI_UNSIGNED_SHORT),
      integer<int>("int", MPI_INT),
      integer<unsigned>("unsigned", MPI_UNSIGNED),
      integer<long>("long", MPI_LONG),
      integer<unsigned long>("unsigned_long", MPI_UNSIGNED_LONG),
      integer<long long>("long_long", MPI_LONG_LONG_INT),
      integer<unsigned long long>("unsigned_long_long", MPI_UNSIGNED_LONG_LONG),
      integer<std::int8_t>("int8", MPI_INT8_T),
      integer<std::int16_t>("int16", MPI_INT16_T),
      integer<std::int32_t>("int32", MPI_INT32_T),
      integer<std::int64_t>("int64", MPI_INT64_T),
      integer<std::uint8_t>("uint8", MPI_UINT8_T),
      integer<std::uint16_t>("uint16", MPI_UINT16_T),
      integer<std::uint32_t>("uint32", MPI_UINT32_T),
      integer<std::uint64_t>("uint64", MPI_UINT64_T),
      integer<MPI_Aint>("aint", MPI_AINT, false),
      integer<MPI_Offset>("offset", MPI_OFFSET, false),
      integer<MPI_Count>("count", MPI_COUNT, false),
      arithmetic<float>("float", MPI_FLOAT),
      arithmetic<double>("double", MPI_DOUBLE),
      arithmetic<long double>("long_double", MPI_LONG_DOUBLE),
      arithmetic<std::complex<float>>("c_float_complex", MPI_C_FLOAT_COMPLEX),
      arithmetic<std::complex<double>>("c_double_complex", MPI_C_DOUBLE_COMPLEX),
      arithmetic<std::complex<long double>>("c_long_double_complex", MPI_C_LONG_DOUBLE_COMPLEX),
      scalar<char>("char", MPI_CHAR),
      scalar<wchar_t>("wchar", MPI_WCHAR),
      scalar<bool>("c_bool", MPI_C_BOOL),
      scalar<unsigned char>("byte", MPI_BYTE),
      pair<float>("float_int", MPI_FLOAT_INT),
      pair<double>("double_int", MPI_DOUBLE_INT),
      pair<long>("long_int", MPI_LONG_INT),
      pair<int>("2int", MPI_2INT),
      pair<short>("short_int", MPI_SHORT_INT),
      pair<long double>("long_double_int", MPI_LONG_DOUBLE_INT),
  };
  for (Kind& kind : kinds) {
    if (kind.name == "c_bool") add_logic<bool>(kind);
    if (kind.name == "byte") add_bits<unsigned char>(kind);
  }
  Kind matrix{"matrix", matrix_type, sizeof(Matrix), matrix_fill, matrix_equal, {{0, 16}}, {}};
  matrix.operations = {{"user_sum", user_commutative, matrix_sum, true},
                       {"user_product", user_ordered, matrix_product, true, false, false}};
  kinds.push_back(matrix);
  Kind record{"record",         record_type, sizeof(Record), record_fill, record_equal,
              {{0, 8}, {8, 4}}, {}};
  record.operations = {{"user_best", user_commutative, record_best, true, true},
                       {"user_first", user_ordered, record_first, true, true, false}};
  kinds.push_back(record);
  return kinds;
}

void free_kinds() {
  MPI_Op_free(&user_commutative);
  MPI_Op_free(&user_ordered);
  MPI_Type_free(&matrix_type);
  MPI_Type_free(&record_type);
}

}  // namespace matrix
