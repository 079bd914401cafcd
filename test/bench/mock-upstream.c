/*
 * The model server of the benchmarks, compiled: what it takes of the machine is not the gateway's to lose. It answers as
 * mock-upstream.ts does, with the same bytes, which it reads from a file: records of a length (4 bytes, big-endian) and so
 * many bytes. First the whole JSON answer, then the beginning of a held stream, then the chunk that is sent on it once
 * a second; each further record is one write of a streamed answer. Linux only. `mock-upstream <answers>` prints its port.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RECORDS = 4096, MAX_EVENTS = 256, MAX_CONNECTIONS = 65536, FIRST_CAPACITY = 16 * 1024 };
enum { JSON_ANSWER, HELD_HEAD, HELD_CHUNK, FIRST_STREAM_WRITE };

typedef struct { const char *bytes; size_t length; } Record;
/* `unsent` is what the socket did not take; it goes first. */
typedef struct { char *bytes; size_t length, capacity; char *unsent; size_t unsent_length; int is_held; } Connection;

static Record records[MAX_RECORDS];
static int record_count;
static Connection *connections[MAX_CONNECTIONS];
static int poller;

static void fail(const char *what) { perror(what); exit(1); }

static void read_records(const char *path) {
  FILE *file = fopen(path, "rb");
  uint32_t length;
  if (!file) fail(path);
  while (record_count < MAX_RECORDS && fread(&length, sizeof length, 1, file) == 1) {
    length = ntohl(length);
    char *bytes = malloc(length);
    if (fread(bytes, 1, length, file) != length) fail("a record that is cut off");
    records[record_count++] = (Record){ bytes, length };
  }
  fclose(file);
  if (record_count <= FIRST_STREAM_WRITE) { fprintf(stderr, "too few records\n"); exit(1); }
}

static void watch(int socket, int operation, uint32_t events) {
  struct epoll_event event = { .events = events, .data.fd = socket };
  if (epoll_ctl(poller, operation, socket, &event) != 0 && operation != EPOLL_CTL_DEL) fail("epoll_ctl");
}

static void drop(int socket) {
  Connection *connection = connections[socket];
  connections[socket] = NULL;
  close(socket);
  if (!connection) return;
  free(connection->bytes);
  free(connection->unsent);
  free(connection);
}

/* 0 when the connection is gone. */
static int send_record(int socket, Connection *connection, const Record *record) {
  size_t sent = 0;
  if (connection->unsent_length == 0) {
    ssize_t count = send(socket, record->bytes, record->length, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN) { drop(socket); return 0; }
    if (count > 0) sent = (size_t)count;
  }
  if (sent == record->length) return 1;
  size_t rest = record->length - sent;
  connection->unsent = realloc(connection->unsent, connection->unsent_length + rest);
  memcpy(connection->unsent + connection->unsent_length, record->bytes + sent, rest);
  connection->unsent_length += rest;
  watch(socket, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
  return 1;
}

static void send_rest(int socket) {
  Connection *connection = connections[socket];
  if (!connection || connection->unsent_length == 0) return;
  ssize_t count = send(socket, connection->unsent, connection->unsent_length, MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN) { drop(socket); return; }
  if (count <= 0) return;
  connection->unsent_length -= (size_t)count;
  memmove(connection->unsent, connection->unsent + count, connection->unsent_length);
  if (connection->unsent_length == 0) watch(socket, EPOLL_CTL_MOD, EPOLLIN);
}

static size_t read_content_length(const char *head, size_t length) {
  static const char name[] = "\r\ncontent-length:";
  for (size_t at = 0; at + sizeof name <= length; at += 1) {
    if (strncasecmp(head + at, name, sizeof name - 1) == 0) return strtoull(head + at + sizeof name - 1, NULL, 10);
  }
  return 0;
}

/* Answers the first whole request; its length, or 0 when it is not there yet, or -1 when the connection is gone. */
static ssize_t answer_one(int socket, Connection *connection) {
  char *head_end = memmem(connection->bytes, connection->length, "\r\n\r\n", 4);
  if (!head_end) return 0;
  size_t head = (size_t)(head_end - connection->bytes) + 4;
  size_t total = head + read_content_length(connection->bytes, head);
  if (connection->length < total) return 0;
  const char *body = connection->bytes + head;
  if (!memmem(body, total - head, "\"stream\":true", 13)) {
    if (!send_record(socket, connection, &records[JSON_ANSWER])) return -1;
  } else if (memmem(body, total - head, "\"x_hold\":true", 13)) {
    connection->is_held = 1;
    if (!send_record(socket, connection, &records[HELD_HEAD])) return -1;
  } else {
    for (int index = FIRST_STREAM_WRITE; index < record_count; index += 1) {
      if (!send_record(socket, connection, &records[index])) return -1;
    }
  }
  return (ssize_t)total;
}

static void receive(int socket) {
  Connection *connection = connections[socket];
  if (!connection) return;
  if (connection->length == connection->capacity) {
    connection->capacity *= 2;
    connection->bytes = realloc(connection->bytes, connection->capacity);
  }
  ssize_t count = recv(socket, connection->bytes + connection->length, connection->capacity - connection->length, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) { drop(socket); return; }
  connection->length += (size_t)count;
  ssize_t answered;
  while (connection->length > 0 && (answered = answer_one(socket, connection)) != 0) {
    if (answered < 0) return;
    connection->length -= (size_t)answered;
    memmove(connection->bytes, connection->bytes + answered, connection->length);
  }
}

static void accept_all(int listener) {
  for (;;) {
    int on = 1, socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (socket < 0) return;
    if (socket >= MAX_CONNECTIONS) { close(socket); continue; }
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection *connection = calloc(1, sizeof *connection);
    connection->capacity = FIRST_CAPACITY;
    connection->bytes = malloc(FIRST_CAPACITY);
    connections[socket] = connection;
    watch(socket, EPOLL_CTL_ADD, EPOLLIN);
  }
}

static void send_held_chunks(void) {
  for (int socket = 0; socket < MAX_CONNECTIONS; socket += 1) {
    Connection *connection = connections[socket];
    if (connection && connection->is_held) send_record(socket, connection, &records[HELD_CHUNK]);
  }
}

static void end(int signal) { (void)signal; _exit(0); }

int main(int count, char **arguments) {
  if (count != 2) { fprintf(stderr, "usage: mock-upstream <answers>\n"); return 2; }
  read_records(arguments[1]);
  signal(SIGTERM, end);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 4096) != 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  poller = epoll_create1(0);
  watch(listener, EPOLL_CTL_ADD, EPOLLIN);
  printf("{\"port\":%d}\n", ntohs(address.sin_port));
  fflush(stdout);
  time_t chunks_sent_at = time(NULL);
  for (;;) {
    struct epoll_event events[MAX_EVENTS];
    int ready = epoll_wait(poller, events, MAX_EVENTS, 1000);
    for (int index = 0; index < ready; index += 1) {
      int socket = events[index].data.fd;
      if (socket == listener) { accept_all(listener); continue; }
      if (events[index].events & EPOLLOUT) send_rest(socket);
      if (events[index].events & ~EPOLLOUT) receive(socket);
    }
    if (time(NULL) != chunks_sent_at) {
      chunks_sent_at = time(NULL);
      send_held_chunks();
    }
  }
}
