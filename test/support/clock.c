/*
 * A clock that a test sets, put before a redis-server by LD_PRELOAD. The file named by TEST_CLOCK_FILE holds Unix
 * microseconds as one 64-bit integer in the machine's byte order; every look at the clock reads it. Only the calls
 * that Redis takes its TIME and its expiry from are replaced: its timers run on. Without a file the clock runs, ahead of
 * the real one by as many microseconds as TEST_CLOCK_AHEAD says. (libfaketime does the same and more,
 * but does not start together with jemalloc, which most builds of Redis have.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t running_microseconds(const char *ahead) {
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  return (int64_t)real.tv_sec * 1000000 + real.tv_nsec / 1000 + strtoll(ahead, NULL, 10);
}

static int64_t now_microseconds(void) {
  static int file = -1;
  const char *ahead = getenv("TEST_CLOCK_AHEAD");
  int64_t now = 0;
  if (ahead) return running_microseconds(ahead);
  if (file < 0) file = open(getenv("TEST_CLOCK_FILE"), O_RDONLY | O_CLOEXEC);
  if (pread(file, &now, sizeof now, 0) != sizeof now) abort();
  return now;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone) {
  int64_t now = now_microseconds();
  (void)zone;
  value->tv_sec = now / 1000000;
  value->tv_usec = now % 1000000;
  return 0;
}

time_t time(time_t *result) {
  time_t now = now_microseconds() / 1000000;
  if (result) *result = now;
  return now;
}

/*
 * Valkey looks at the clock once a millisecond and adds what the processor counts, if /proc/cpuinfo says that it counts
 * evenly. A server that cannot read that file looks each time.
 */
FILE *fopen64(const char *restrict path, const char *restrict mode) {
  FILE *(*original)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen64");
  return strcmp(path, "/proc/cpuinfo") == 0 ? NULL : original(path, mode);
}
