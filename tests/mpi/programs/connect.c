/* Two halves meet through a port, merge and reduce together: two jobs, or one job that splits
   itself. The port's name goes through FILE.  connect accept|connect|halves FILE */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sum_is_right.h"

/* The file appears whole or not at all. */
static int write_line(const char* path, const char* line) {
  char partial[4096];
  FILE* file;
  snprintf(partial, sizeof partial, "%s.partial", path);
  file = fopen(partial, "w");
  return file && fputs(line, file) >= 0 && fclose(file) == 0 && rename(partial, path) == 0;
}

static int read_line(const char* path, char* line, int size) {
  FILE* file = NULL;
  int read = 0;
  for (int waited_ms = 0; waited_ms < 20000 && !file; waited_ms += 10) {
    file = fopen(path, "r");
    if (!file) usleep(10000);
  }
  if (file) {
    read = fgets(line, size, file) != NULL;
    fclose(file);
  }
  return read;
}

int main(int argc, char** argv) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half = MPI_COMM_NULL, other = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  int rank = 0, ranks = 0, here = 0, accepts = 0, right = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = sum_is_right(MPI_COMM_WORLD);
  accepts = strcmp(argv[1], "halves") == 0 ? rank < ranks / 2 : strcmp(argv[1], "accept") == 0;
  MPI_Comm_split(MPI_COMM_WORLD, accepts, rank, &half);
  MPI_Comm_rank(half, &here);
  if (here == 0 && accepts) {
    MPI_Open_port(MPI_INFO_NULL, port);
    if (!write_line(argv[2], port)) MPI_Abort(MPI_COMM_WORLD, 3);
  } else if (here == 0 && !read_line(argv[2], port, sizeof port)) {
    fprintf(stderr, "no port in %s\n", argv[2]);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (accepts) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
  }
  if (here == 0 && accepts) MPI_Close_port(port);
  right &= sum_is_right(half);
  MPI_Intercomm_merge(other, !accepts, &merged);
  for (int i = 0; i < 10; ++i) right &= sum_is_right(merged);
  MPI_Comm_size(merged, &ranks);
  right &= ranks == 4;
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&other);
  right &= sum_is_right(half);
  MPI_Comm_free(&half);
  right &= sum_is_right(MPI_COMM_WORLD);
  if (here == 0) printf("%s %s\n", argv[1], right ? "OK" : "WRONG");
  MPI_Finalize();
  return !right;
}
