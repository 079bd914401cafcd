/**
 * Buffers for request bodies at the edge. While ext_authz decides, Envoy reads until the connection's buffer
 * limit; it holds at most twice that limit plus one read of 16 KiB, on HTTP/2 the limit plus one window.
 * After the admission, data goes to the sidecar piece by piece.
 */
export interface BodyLimits {
  /** Largest body that the sidecar may substitute for a client's. */
  readonly maxRequestBytes: number;
  readonly connectionBufferBytes: number;
  /** HTTP/2 window per stream. */
  readonly streamWindowBytes: number;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 ** 2;

/**
 * Maximum growth of a body in the sidecar: the upstream's model name, `stream_options`, another protocol's
 * form. Envoy answers 413 if the returned body exceeds its limit.
 */
const GROWTH_BYTES = 512 * KIBIBYTE;

/** Smallest and default window of HTTP/2. */
const MIN_WINDOW_BYTES = 64 * KIBIBYTE - 1;

/** Returns the edge's limits for `limits.max_body_bytes`. */
export function createBodyLimits(maxBodyBytes: number): BodyLimits {
  const maxRequestBytes = maxBodyBytes + GROWTH_BYTES;
  const connectionBufferBytes = Math.min(MEBIBYTE, Math.floor(maxRequestBytes / 8));
  return {
    maxRequestBytes,
    connectionBufferBytes,
    streamWindowBytes: Math.max(MIN_WINDOW_BYTES, connectionBufferBytes),
  };
}
