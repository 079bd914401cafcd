/*
 * Load on one URL, compiled: one request in flight per connection, answers read to their end, and no more of the machine
 * taken than that needs. `load-generator <port> <connections> <seconds> <requests> <pause> <request file> [<keys file>]`:
 * ends after so many seconds or requests (0: no such end); each connection sends a request every <pause> milliseconds (0: when
 * it has its answer). The request file holds the whole HTTP request; keys of the keys file (one a line, as long as KEY_MARK)
 * take turns in the place of KEY_MARK. Prints one line of JSON, as load-generator.ts does. Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, READ_BYTES = 256 * 1024, MAX_HEAD_BYTES = 64 * 1024, DRAIN_SECONDS = 5, MAX_WAIT_MS = 100 };
static const char KEY_MARK[] = "{key";

/* What is read of an answer: its head until it is whole, then how much of its body is missing (or chunks to their end). */
typedef struct {
  int socket, has_head, is_chunked;
  char head[MAX_HEAD_BYTES];
  size_t head_length, missing, sent;
  char tail[5];
  double started, due;
} Connection;

static char *request, *keys, *key_place;
static size_t request_length, key_length, key_count, next_key;
static uint16_t port;
static int poller, open_connections;
static double ends_at, pause_seconds;
static long unsent_requests;
static double *latencies;
static size_t latency_count, latency_capacity;
static long status_errors, socket_errors;
static double last_answer;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) { perror(path); exit(1); }
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (fread(bytes, 1, *length, file) != *length) exit(1);
  bytes[*length] = 0;
  fclose(file);
  return bytes;
}

static void watch(Connection *connection, int operation, uint32_t events) {
  struct epoll_event event = { .events = events, .data.ptr = connection };
  epoll_ctl(poller, operation, connection->socket, &event);
}

static void open_connection(Connection *connection) {
  int on = 1;
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connect(connection->socket, (struct sockaddr *)&address, sizeof address);
  connection->has_head = 0;
  connection->head_length = connection->sent = 0;
  connection->started = now();
  open_connections += 1;
  watch(connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

static void close_connection(Connection *connection) {
  close(connection->socket);
  open_connections -= 1;
}

static void fail_connection(Connection *connection) {
  socket_errors += 1;
  close_connection(connection);
  if (now() < ends_at && unsent_requests > 0) open_connection(connection);
}

/* As much as the socket takes; a key is put into the one copy of the request, so a request is written at one go or waits. */
static void send_request(Connection *connection) {
  if (connection->sent == 0) {
    if (unsent_requests == 0) { close_connection(connection); return; }
    unsent_requests -= 1;
    connection->started = now();
    connection->due = 0;
    if (key_place) memcpy(key_place, keys + (next_key++ % key_count) * (key_length + 1), key_length);
  }
  ssize_t count = send(connection->socket, request + connection->sent, request_length - connection->sent, MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN) { fail_connection(connection); return; }
  if (count > 0) connection->sent += (size_t)count;
  watch(connection, EPOLL_CTL_MOD, EPOLLIN | (connection->sent < request_length ? EPOLLOUT : 0));
}

static void finish_answer(Connection *connection) {
  last_answer = now();
  if (latency_count == latency_capacity) {
    latency_capacity = latency_capacity ? 2 * latency_capacity : 65536;
    latencies = realloc(latencies, latency_capacity * sizeof *latencies);
  }
  latencies[latency_count++] = last_answer - connection->started;
  if (atoi(connection->head + 9) >= 400) status_errors += 1;
  connection->has_head = 0;
  connection->head_length = connection->sent = 0;
  double due = pause_seconds > 0 ? connection->started + pause_seconds : last_answer;
  if (due >= ends_at) close_connection(connection);
  else if (due > last_answer) connection->due = due;
  else send_request(connection);
}

/* Reads on; 1 when the answer is whole. */
static int take(Connection *connection, const char *bytes, size_t length) {
  if (!connection->has_head) {
    size_t before = connection->head_length, room = MAX_HEAD_BYTES - 1 - before;
    size_t copied = length < room ? length : room;
    memcpy(connection->head + before, bytes, copied);
    connection->head_length += copied;
    connection->head[connection->head_length] = 0;
    char *end = strstr(connection->head, "\r\n\r\n");
    if (!end) return 0;
    char *field = strcasestr(connection->head, "\r\ncontent-length:");
    connection->has_head = 1;
    connection->is_chunked = !field || field > end;
    connection->missing = connection->is_chunked ? 0 : strtoull(field + 17, NULL, 10);
    memset(connection->tail, 0, sizeof connection->tail);
    size_t head = (size_t)(end - connection->head) + 4;
    bytes += head - before;
    length -= head - before;
  }
  if (!connection->is_chunked) {
    connection->missing -= length < connection->missing ? length : connection->missing;
    return connection->missing == 0;
  }
  size_t kept = length < 5 ? length : 5;
  memmove(connection->tail, connection->tail + kept, 5 - kept);
  memcpy(connection->tail + 5 - kept, bytes + length - kept, kept);
  return memcmp(connection->tail, "0\r\n\r\n", 5) == 0;
}

static void receive(Connection *connection) {
  static char bytes[READ_BYTES];
  ssize_t count = recv(connection->socket, bytes, sizeof bytes, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) { fail_connection(connection); return; }
  if (take(connection, bytes, (size_t)count)) finish_answer(connection);
}

/* Sends what is due; returns the milliseconds until the next request is, at most MAX_WAIT_MS. */
static int send_due(Connection *all, int connections) {
  double time = now(), wait = MAX_WAIT_MS / 1000.0;
  for (int index = 0; index < connections; index += 1) {
    if (all[index].due == 0) continue;
    if (all[index].due <= time) send_request(&all[index]);
    else if (all[index].due - time < wait) wait = all[index].due - time;
  }
  return (int)(wait * 1000) + 1;
}

static int compare(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return difference < 0 ? -1 : difference > 0;
}

static double percentile_ms(double part) {
  return latency_count == 0 ? 0 : 1000 * latencies[(size_t)((double)(latency_count - 1) * part)];
}

int main(int count, char **arguments) {
  if (count < 7) {
    fprintf(stderr, "usage: load-generator <port> <connections> <seconds> <requests> <pause> <request> [<keys>]\n");
    return 2;
  }
  port = (uint16_t)atoi(arguments[1]);
  int connections = atoi(arguments[2]);
  double seconds = atof(arguments[3]);
  unsent_requests = atol(arguments[4]);
  if (unsent_requests == 0) unsent_requests = LONG_MAX;
  pause_seconds = atof(arguments[5]) / 1000;
  request = read_file(arguments[6], &request_length);
  if (count > 7) {
    size_t length;
    keys = read_file(arguments[7], &length);
    key_length = (size_t)(strchr(keys, '\n') - keys);
    key_count = length / (key_length + 1);
    key_place = strstr(request, KEY_MARK);
  }
  poller = epoll_create1(0);
  Connection *all = calloc((size_t)connections, sizeof *all);
  double begun = now();
  last_answer = begun;
  ends_at = begun + seconds;
  for (int index = 0; index < connections; index += 1) open_connection(&all[index]);
  while (open_connections > 0 && now() < ends_at + DRAIN_SECONDS) {
    struct epoll_event events[MAX_EVENTS];
    int ready = epoll_wait(poller, events, MAX_EVENTS, pause_seconds > 0 ? send_due(all, connections) : MAX_WAIT_MS);
    for (int index = 0; index < ready; index += 1) {
      Connection *connection = events[index].data.ptr;
      if (events[index].events & EPOLLOUT && connection->sent < request_length) send_request(connection);
      if (events[index].events & (EPOLLIN | EPOLLERR | EPOLLHUP)) receive(connection);
    }
  }
  qsort(latencies, latency_count, sizeof *latencies, compare);
  printf("{\"requests\":%zu,\"seconds\":%f,\"p50Ms\":%f,\"p99Ms\":%f,\"statusErrors\":%ld,\"socketErrors\":%ld}\n",
         latency_count, last_answer - begun, percentile_ms(0.5), percentile_ms(0.99), status_errors, socket_errors);
  return 0;
}
