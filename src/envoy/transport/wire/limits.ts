/** Resource limits of one connection. Each is far above what Envoy needs, and small compared to a host's memory. */
const MEBIBYTE = 1024 * 1024;

/**
 * Window per stream. With the default of 64 kB Envoy waits for us several times per larger body, which halves
 * the throughput at 100 kB. Also the maximum of an incomplete message per stream that is not counted.
 */
export const STREAM_WINDOW_BYTES = MEBIBYTE;
/** Window over all streams of a connection. Envoy has one or two connections per thread and cluster. */
export const CONNECTION_WINDOW_BYTES = 64 * MEBIBYTE;
/**
 * Bytes of incomplete messages over all streams of a connection, above which only one stream at a time gets
 * more window.
 */
export const INCOMPLETE_BYTES = 64 * MEBIBYTE;
/**
 * Bytes above which a call that adds to them fails: two hundred large messages have started at once, and none
 * is complete.
 */
export const MAX_INCOMPLETE_BYTES = 256 * MEBIBYTE;
export const MAX_FRAME_BYTES = MEBIBYTE;
/** Every request in flight needs a stream or two; Envoy opens another connection for more. */
export const MAX_CONCURRENT_STREAMS = 16_384;
/**
 * Limit over all connections. Each call needs a few kilobytes, so a worker's memory limits them before
 * Envoy's circuit breaker does.
 */
export const MAX_CALLS = 65_536;
/** Limit of headers, encoded and decoded. Envoy's calls have about 300 bytes. */
export const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Bytes of replies that wait for a window or the socket, over all streams, above which calls with more than
 * their share fail.
 */
export const MAX_QUEUED_BYTES = 256 * MEBIBYTE;
/** Share of a call that passes even then: calls that are being read did not fill the connection. */
export const QUEUED_SHARE_BYTES = 256 * 1024;
/**
 * Bytes of frames that the socket has not taken. DATA waits elsewhere, so these are replies to a peer that
 * does not read.
 */
export const MAX_UNSENT_BYTES = 4 * MEBIBYTE;

/** Limit of PING, SETTINGS, PRIORITY, empty DATA and unknown frames, which cost work without carrying data. */
export const IDLE_FRAMES = { burst: 1_000, perSecond: 200 };
/** Limit in addition to two per DATA frame of ours and per call. */
export const WINDOW_UPDATES = { burst: 1_000, perSecond: 200 };

/** Timeout for the peer's preface, acknowledgment of our SETTINGS, or the rest of a header block. */
export const PEER_ANSWER_WITHIN_MS = 10_000;
/** Time after our end of a call until the peer must end its side; then the call is reset. */
export const END_WITHIN_MS = 1_000;
/** Interval of checking deadlines and the timeouts above. */
export const TICK_MS = 250;
