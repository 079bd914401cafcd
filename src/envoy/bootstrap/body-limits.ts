/**
 * Buffers for request bodies at the edge. While ext_authz decides, Envoy reads on until the connection's buffer limit and
 * then stops reading; what it holds is at most twice that limit and one read of 16 KiB, on HTTP/2 the limit and one window.
 * From the admission on, what comes goes to the sidecar piece by piece.
 */
export interface BodyLimits {
  /** The largest body that the sidecar may put in the place of a client's. */
  readonly maxRequestBytes: number;
  readonly connectionBufferBytes: number;
  /** HTTP/2's window per stream. */
  readonly streamWindowBytes: number;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 ** 2;

/**
 * What a body may gain on its way through the sidecar: the upstream's own name of the model, `stream_options`, the form of
 * another protocol. Envoy answers 413 to a body that is over its limit when it comes back.
 */
const GROWTH_BYTES = 512 * KIBIBYTE;

/** HTTP/2's own smallest and default window. */
const MIN_WINDOW_BYTES = 64 * KIBIBYTE - 1;

/** The edge's limits for `limits.max_body_bytes`. */
export function createBodyLimits(maxBodyBytes: number): BodyLimits {
  const maxRequestBytes = maxBodyBytes + GROWTH_BYTES;
  const connectionBufferBytes = Math.min(MEBIBYTE, Math.floor(maxRequestBytes / 8));
  return {
    maxRequestBytes,
    connectionBufferBytes,
    streamWindowBytes: Math.max(MIN_WINDOW_BYTES, connectionBufferBytes),
  };
}
