#include "collective/operation.hpp"

#include <algorithm>
#include <iterator>

namespace shortcut::collective {
namespace {

// The operations of a type, as the standard groups them.
constexpr unsigned kExtremes = 1;  // MAX, MIN
constexpr unsigned kSums = 2;      // SUM, PROD
constexpr unsigned kLogic = 4;     // LAND, LOR, LXOR
constexpr unsigned kBits = 8;      // BAND, BOR, BXOR
constexpr unsigned kPlaces = 16;   // MAXLOC, MINLOC
constexpr unsigned kFloating = 32;

constexpr unsigned kCInteger = kExtremes | kSums | kLogic | kBits;
constexpr unsigned kFortranInteger = kExtremes | kSums | kBits;
constexpr unsigned kReal = kExtremes | kSums | kFloating;
constexpr unsigned kComplex = kSums | kFloating;

unsigned group(MPI_Op op) {
  if (op == MPI_SUM || op == MPI_PROD) return kSums;
  if (op == MPI_MAX || op == MPI_MIN) return kExtremes;
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return kLogic;
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) return kBits;
  if (op == MPI_MAXLOC || op == MPI_MINLOC) return kPlaces;
  return 0;
}

unsigned groups(MPI_Datatype type) {
  struct Row {
    MPI_Datatype type;
    unsigned groups;
  };
  // The most used first.
  static const Row rows[] = {
      {MPI_DOUBLE, kReal},
      {MPI_INT, kCInteger},
      {MPI_FLOAT, kReal},
      {MPI_DOUBLE_PRECISION, kReal},
      {MPI_INTEGER, kFortranInteger},
      {MPI_LONG, kCInteger},
      {MPI_LONG_LONG, kCInteger},
      {MPI_UNSIGNED_LONG, kCInteger},
      {MPI_UNSIGNED, kCInteger},
      {MPI_UNSIGNED_LONG_LONG, kCInteger},
      {MPI_SIGNED_CHAR, kCInteger},
      {MPI_UNSIGNED_CHAR, kCInteger},
      {MPI_SHORT, kCInteger},
      {MPI_UNSIGNED_SHORT, kCInteger},
      {MPI_INT8_T, kCInteger},
      {MPI_INT16_T, kCInteger},
      {MPI_INT32_T, kCInteger},
      {MPI_INT64_T, kCInteger},
      {MPI_UINT8_T, kCInteger},
      {MPI_UINT16_T, kCInteger},
      {MPI_UINT32_T, kCInteger},
      {MPI_UINT64_T, kCInteger},
      {MPI_AINT, kFortranInteger},
      {MPI_OFFSET, kFortranInteger},
      {MPI_COUNT, kFortranInteger},
      {MPI_BYTE, kBits},
      {MPI_C_BOOL, kLogic},
      {MPI_LOGICAL, kLogic},
      {MPI_REAL, kReal},
      {MPI_LONG_DOUBLE, kReal},
      {MPI_C_FLOAT_COMPLEX, kComplex},
      {MPI_C_DOUBLE_COMPLEX, kComplex},
      {MPI_C_LONG_DOUBLE_COMPLEX, kComplex},
      {MPI_COMPLEX, kComplex},
      {MPI_DOUBLE_COMPLEX, kComplex},
      {MPI_INTEGER4, kFortranInteger},
      {MPI_INTEGER8, kFortranInteger},
      {MPI_REAL4, kReal},
      {MPI_REAL8, kReal},
      {MPI_2INT, kPlaces},
      {MPI_2INTEGER, kPlaces},
      {MPI_LONG_INT, kPlaces},
      {MPI_SHORT_INT, kPlaces},
      {MPI_FLOAT_INT, kPlaces | kFloating},
      {MPI_DOUBLE_INT, kPlaces | kFloating},
      {MPI_LONG_DOUBLE_INT, kPlaces | kFloating},
      {MPI_2REAL, kPlaces | kFloating},
      {MPI_2DOUBLE_PRECISION, kPlaces | kFloating},
  };
  // A type that an MPI library lacks is MPI_DATATYPE_NULL there, which nobody asks for.
  const auto* found = std::find_if(std::begin(rows), std::end(rows),
                                   [&](const Row& row) { return row.type == type; });
  return found == std::end(rows) ? 0 : found->groups;
}

}  // namespace

OperationInfo describe_operation(MPI_Op op, MPI_Datatype type) {
  OperationInfo info;
  const unsigned own = group(op);
  if (own == 0) return info;
  const unsigned all = groups(type);
  info.predefined = true;
  info.defined_for_type = (all & own) != 0;
  info.order_shows = (all & kFloating) != 0;
  return info;
}

}  // namespace shortcut::collective
