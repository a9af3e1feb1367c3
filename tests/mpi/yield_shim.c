/* MPICH (ch4:ucx) waits by polling and never yields, so more ranks than cores take turns by whole
 * scheduler ticks. Preloaded in tests: every fruitless poll of UCX gives the core away. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  typedef unsigned (*Progress)(void*);
  static Progress next;
  if (next == 0) *(void**)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned done = next(worker);
  if (done == 0) sched_yield();
  return done;
}
