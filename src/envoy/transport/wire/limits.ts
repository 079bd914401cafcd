/** What one connection may cost. Each limit is far above what Envoy needs, and small against a machine's memory. */
const MEBIBYTE = 1024 * 1024;

/**
 * The default of 64 kB makes Envoy wait for us several times in each larger body: half the throughput at 100 kB. It is
 * also what each stream may have sent of a message that is not whole, before anybody counts it.
 */
export const STREAM_WINDOW_BYTES = MEBIBYTE;
/** Over all streams of a connection. Envoy has one or two connections per thread. */
export const CONNECTION_WINDOW_BYTES = 64 * MEBIBYTE;
/** Of messages that are not whole, over all streams of a connection: beyond, one at a time gets window. */
export const HELD_BYTES = 64 * MEBIBYTE;
/** With more, a call that adds to it fails: two hundred large messages have begun at once, and none is whole. */
export const MAX_HELD_BYTES = 256 * MEBIBYTE;
export const MAX_FRAME_BYTES = MEBIBYTE;
/** Every request in flight is a stream or two; Envoy opens another connection for more. */
export const MAX_CONCURRENT_STREAMS = 16_384;
/** Over all connections. Each call keeps some kilobytes, so a worker's memory bounds them before Envoy's breaker does. */
export const MAX_CALLS = 65_536;
/** Encoded and decoded. Envoy's calls carry some 300 bytes of headers. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** Replies that wait for a window or the socket, over all streams: from here on a call fails that has more than its share. */
export const MAX_QUEUED_BYTES = 256 * MEBIBYTE;
/** Small replies of a call pass even then: it is not those that are read that have filled the connection. */
export const QUEUED_SHARE_BYTES = 256 * 1024;
/** Frames that the socket does not take. DATA waits elsewhere, so these are answers to a peer that reads nothing. */
export const MAX_UNSENT_BYTES = 4 * MEBIBYTE;

/** PING, SETTINGS, PRIORITY, empty DATA, unknown frames: they cost an answer or at least a look, and bring nothing. */
export const IDLE_FRAMES = { burst: 1_000, perSecond: 200 };
/** Beyond two per DATA frame of ours and per call. */
export const WINDOW_UPDATES = { burst: 1_000, perSecond: 200 };

/** For what the peer owes: the preface, the acknowledgement of our SETTINGS, the rest of a block of headers. */
export const OWED_WITHIN_MS = 10_000;
/** After the end of a call on our side, for the peer to end its own; then it is reset. */
export const END_WITHIN_MS = 1_000;
/** Deadlines and the waits above are looked at so often. */
export const TICK_MS = 250;
