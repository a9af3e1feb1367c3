/* An ordinary MPI program in C that checks every result against a serial reference.
 * Prints "calls <collective> <count>" for each collective it used, as seen by rank 0, then "OK". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int errors = 0;
static int allreduce_calls, reduce_scatter_calls, reduce_scatter_block_calls;
static int allgather_calls, allgatherv_calls;

#define ALLREDUCE(...) (allreduce_calls++, MPI_Allreduce(__VA_ARGS__))
#define REDUCE_SCATTER(...) (reduce_scatter_calls++, MPI_Reduce_scatter(__VA_ARGS__))
#define REDUCE_SCATTER_BLOCK(...) \
  (reduce_scatter_block_calls++, MPI_Reduce_scatter_block(__VA_ARGS__))
#define ALLGATHER(...) (allgather_calls++, MPI_Allgather(__VA_ARGS__))
#define ALLGATHERV(...) (allgatherv_calls++, MPI_Allgatherv(__VA_ARGS__))

static void check(int good, const char* what, int count) {
  if (good) return;
  ++errors;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: wrong: %s, count %d\n", rank, what, count);
}

/* Small, so that every sum is exact in every type. */
static int value(int rank, int index) { return (rank * 7 + index * 3) % 11; }

/* Sum and maximum of one type, with and without MPI_IN_PLACE. */
#define CHECK_TYPE(TYPE, DATATYPE)                                                \
  static void check_##TYPE(MPI_Comm comm, int count) {                            \
    int rank, size;                                                               \
    MPI_Comm_rank(comm, &rank);                                                   \
    MPI_Comm_size(comm, &size);                                                   \
    TYPE* in = malloc(sizeof(TYPE) * (count + 1));                                \
    TYPE* out = malloc(sizeof(TYPE) * (count + 1));                               \
    int good_sum = 1, good_in_place = 1, good_max = 1, untouched = 1;             \
    for (int i = 0; i <= count; ++i) in[i] = (TYPE)value(rank, i), out[i] = 99;   \
    ALLREDUCE(in, out, count, DATATYPE, MPI_SUM, comm);                           \
    for (int i = 0; i < count; ++i) {                                             \
      int sum = 0;                                                                \
      for (int r = 0; r < size; ++r) sum += value(r, i);                          \
      good_sum &= out[i] == (TYPE)sum;                                            \
      untouched &= in[i] == (TYPE)value(rank, i);                                 \
    }                                                                             \
    untouched &= out[count] == 99;                                                \
    ALLREDUCE(MPI_IN_PLACE, in, count, DATATYPE, MPI_SUM, comm);                  \
    for (int i = 0; i < count; ++i) good_in_place &= in[i] == out[i];             \
    for (int i = 0; i <= count; ++i) in[i] = (TYPE)value(rank, i);                \
    ALLREDUCE(in, out, count, DATATYPE, MPI_MAX, comm);                           \
    for (int i = 0; i < count; ++i) {                                             \
      int max = 0;                                                                \
      for (int r = 0; r < size; ++r) max = value(r, i) > max ? value(r, i) : max; \
      good_max &= out[i] == (TYPE)max;                                            \
    }                                                                             \
    check(good_sum, #DATATYPE " sum", count);                                     \
    check(good_in_place, #DATATYPE " sum in place", count);                       \
    check(good_max, #DATATYPE " max", count);                                     \
    check(untouched, #DATATYPE " send buffer and end of receive buffer", count);  \
    free(in);                                                                     \
    free(out);                                                                    \
  }
CHECK_TYPE(int, MPI_INT)
CHECK_TYPE(long, MPI_LONG)
CHECK_TYPE(short, MPI_SHORT)
CHECK_TYPE(unsigned, MPI_UNSIGNED)
CHECK_TYPE(float, MPI_FLOAT)
CHECK_TYPE(double, MPI_DOUBLE)

/* Composition of x -> a x + b, modulo 2^32: associative, not commutative. */
typedef struct {
  unsigned a, b;
} Affine;

static Affine compose(Affine left, Affine right) {
  Affine both = {right.a * left.a, right.a * left.b + right.b};
  return both;
}

static void compose_op(void* in, void* inout, int* len, MPI_Datatype* type) {
  (void)type;
  Affine *left = in, *right = inout;
  for (int i = 0; i < *len; ++i) right[i] = compose(left[i], right[i]);
}

static Affine affine(int rank, int index) {
  Affine map = {(unsigned)(2 * rank + 3), (unsigned)(5 * rank + index + 1)};
  return map;
}

static void check_rank_order(MPI_Comm comm, int count) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(compose_op, 0, &op);
  Affine* in = malloc(sizeof(Affine) * (count + 1));
  Affine* out = malloc(sizeof(Affine) * (count + 1));
  for (int i = 0; i < count; ++i) in[i] = affine(rank, i);
  ALLREDUCE(in, out, count, type, op, comm);
  int good = 1;
  for (int i = 0; i < count; ++i) {
    Affine all = affine(0, i);
    for (int r = 1; r < size; ++r) all = compose(all, affine(r, i));
    good &= memcmp(&all, &out[i], sizeof all) == 0;
  }
  check(good, "non-commutative op", count);
  free(in);
  free(out);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

static void check_minloc(MPI_Comm comm) {
  struct {
    double value;
    int rank;
  } in, out;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  in.value = (rank * 5 + 3) % size;
  in.rank = rank;
  ALLREDUCE(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  int best = 0;
  for (int r = 1; r < size; ++r) {
    if ((r * 5 + 3) % size < (best * 5 + 3) % size) best = r;
  }
  check(out.rank == best && out.value == (best * 5 + 3) % size, "MINLOC", 1);
}

static int sum_at(int size, int index) {
  int sum = 0;
  for (int r = 0; r < size; ++r) sum += value(r, index);
  return sum;
}

/* Rank r gets (r mod 3) * scale elements: unequal, some zero. */
static void check_reduce_scatter(MPI_Comm comm, int scale, int in_place) {
  int rank, size, total = 0, first = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* counts = malloc(sizeof(int) * size);
  for (int r = 0; r < size; ++r) {
    counts[r] = (r % 3) * scale;
    if (r < rank) first += counts[r];
    total += counts[r];
  }
  double* in = malloc(sizeof(double) * (total + 1));
  double* out = malloc(sizeof(double) * (total + 1));
  for (int i = 0; i < total; ++i) in[i] = value(rank, i);
  REDUCE_SCATTER(in_place ? MPI_IN_PLACE : in, in_place ? in : out, counts, MPI_DOUBLE, MPI_SUM,
                 comm);
  const double* result = in_place ? in : out;
  int good = 1;
  for (int i = 0; i < counts[rank]; ++i) good &= result[i] == sum_at(size, first + i);
  check(good, in_place ? "Reduce_scatter in place" : "Reduce_scatter", scale);
  free(counts);
  free(in);
  free(out);
}

static void check_reduce_scatter_block(MPI_Comm comm, int count, int in_place) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* in = malloc(sizeof(int) * (count * size + 1));
  int* out = malloc(sizeof(int) * (count + 1));
  for (int i = 0; i < count * size; ++i) in[i] = value(rank, i);
  REDUCE_SCATTER_BLOCK(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, MPI_INT, MPI_SUM,
                       comm);
  const int* result = in_place ? in : out;
  int good = 1;
  for (int i = 0; i < count; ++i) good &= result[i] == sum_at(size, rank * count + i);
  check(good, in_place ? "Reduce_scatter_block in place" : "Reduce_scatter_block", count);
  free(in);
  free(out);
}

static void check_allgather(MPI_Comm comm, int count, int in_place) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* in = malloc(sizeof(int) * (count + 1));
  int* out = malloc(sizeof(int) * (count * size + 1));
  for (int i = 0; i < count; ++i) {
    in[i] = value(rank, i);
    if (in_place) out[rank * count + i] = in[i];
  }
  if (in_place) {
    ALLGATHER(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, comm);
  } else {
    ALLGATHER(in, count, MPI_INT, out, count, MPI_INT, comm);
  }
  int good = 1;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < count; ++i) good &= out[r * count + i] == value(r, i);
  }
  check(good, in_place ? "Allgather in place" : "Allgather", count);
  free(in);
  free(out);
}

/* Unequal and zero counts, blocks in reverse order with a gap after each. */
static void check_allgatherv(MPI_Comm comm, int scale, int in_place) {
  enum { kGap = 2 };
  int rank, size, end = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* counts = malloc(sizeof(int) * size);
  int* starts = malloc(sizeof(int) * size);
  for (int r = size - 1; r >= 0; --r) {
    counts[r] = (r % 3) * scale;
    starts[r] = end;
    end += counts[r] + kGap;
  }
  double* in = malloc(sizeof(double) * (counts[rank] + 1));
  double* out = malloc(sizeof(double) * end);
  for (int i = 0; i < end; ++i) out[i] = -1;
  for (int i = 0; i < counts[rank]; ++i) {
    in[i] = value(rank, i);
    if (in_place) out[starts[rank] + i] = in[i];
  }
  ALLGATHERV(in_place ? MPI_IN_PLACE : in, counts[rank], MPI_DOUBLE, out, counts, starts,
             MPI_DOUBLE, comm);
  int good = 1;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[r]; ++i) good &= out[starts[r] + i] == value(r, i);
    for (int i = 0; i < kGap; ++i) good &= out[starts[r] + counts[r] + i] == -1;
  }
  check(good, in_place ? "Allgatherv in place" : "Allgatherv", scale);
  free(counts);
  free(starts);
  free(in);
  free(out);
}

static void check_communicator(MPI_Comm comm) {
  const int counts[] = {0, 1, 3, 17, 1000, 65537};
  for (unsigned c = 0; c < sizeof counts / sizeof *counts; ++c) {
    const int count = counts[c];
    check_int(comm, count);
    check_long(comm, count);
    check_short(comm, count);
    check_unsigned(comm, count);
    check_float(comm, count);
    check_double(comm, count);
    check_rank_order(comm, count);
    if (count > 1000) continue; /* times the number of ranks */
    for (int in_place = 0; in_place < 2; ++in_place) {
      check_reduce_scatter(comm, count, in_place);
      check_reduce_scatter_block(comm, count, in_place);
      check_allgather(comm, count, in_place);
      check_allgatherv(comm, count, in_place);
    }
  }
  check_minloc(comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, all_errors = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  check_communicator(MPI_COMM_WORLD);
  MPI_Comm parity, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
  check_communicator(parity);
  MPI_Comm_free(&parity);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  check_communicator(reversed);
  MPI_Comm_free(&reversed);
  check_communicator(MPI_COMM_SELF);

  MPI_Reduce(&errors, &all_errors, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("calls allreduce %d\n", allreduce_calls);
    printf("calls reduce_scatter %d\n", reduce_scatter_calls);
    printf("calls reduce_scatter_block %d\n", reduce_scatter_block_calls);
    printf("calls allgather %d\n", allgather_calls);
    printf("calls allgatherv %d\n", allgatherv_calls);
    puts(all_errors == 0 ? "OK" : "WRONG");
  }
  MPI_Finalize();
  return all_errors != 0;
}
