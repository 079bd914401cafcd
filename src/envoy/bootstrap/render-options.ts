/**
 * Options of a rendered bootstrap in addition to the gateway's configuration. Users get the defaults; tests
 * shorten the timeouts.
 */

/** Timeouts at the edge in seconds. Fractions are allowed. */
export interface EdgeTimeouts {
  /** Until a connection's first bytes or TLS handshake, and for each request's headers from their first byte. */
  readonly requestHeadersSeconds: number;
  /** For a connection without requests. Longer than load balancers keep one (600 s), so that they close it first. */
  readonly connectionIdleSeconds: number;
  /** For a whole request, headers and body; slower ones get 408. */
  readonly requestSeconds: number;
  /** For a stream without data: SDKs wait 10 minutes for responses that are not streamed. */
  readonly streamIdleSeconds: number;
  /**
   * For one ext_authz call. Longer than the sidecar's timeout for Redis (4 s), so that the sidecar's answer
   * comes first, and than the delay of a sidecar on busy cores, where requests should wait and not fail.
   */
  readonly admissionSeconds: number;
  /** For one reply of the sidecar in an ext_proc stream; does not cover the upstream. */
  readonly processingSeconds: number;
  /**
   * For a worker's reply to a PING; afterwards it is considered hung, and all its calls fail. Far above the
   * delay of a busy event loop.
   */
  readonly hangSeconds: number;
}

export interface RenderOptions {
  /** Number of the sidecar's workers. Default: from the configuration. */
  readonly workers?: number;
  /** Address of the workers for Envoy, if `sidecar.tcp.host` is an address to listen on, such as `0.0.0.0`. */
  readonly sidecarHost?: string;
  /** Directory of `writeUpstreamSecrets`. Default: `secrets` in the socket directory. */
  readonly secretsDirectory?: string;
  /** File of the access log. Default: standard output. */
  readonly accessLogFile?: string;
  /** Browser origins that may call the gateway: enables the CORS filter. `"*"` allows every origin. */
  readonly corsAllowOrigins?: readonly string[];
  /** Number of trusted proxies in front of Envoy, whose `x-forwarded-for` entries are used. */
  readonly trustedHops?: number;
  /** Heap size above which Envoy rejects new requests. */
  readonly maxHeapBytes?: number;
  /** PEM bundle for `https` upstreams without a `ca_file`. Default: the system's. */
  readonly systemCaFile?: string;
  readonly timeouts?: Partial<EdgeTimeouts>;
}

/** Options with all defaults applied. */
export interface ResolvedOptions {
  readonly accessLogFile: string | null;
  readonly corsAllowOrigins: readonly string[];
  readonly trustedHops: number;
  readonly maxHeapBytes: number;
  readonly timeouts: EdgeTimeouts;
}

export const DEFAULT_TIMEOUTS: EdgeTimeouts = {
  requestHeadersSeconds: 10,
  connectionIdleSeconds: 620,
  requestSeconds: 60,
  streamIdleSeconds: 900,
  admissionSeconds: 5,
  processingSeconds: 5,
  hangSeconds: 10,
};

/** About fifty of the largest bodies at once, and memory for streams. */
const DEFAULT_MAX_HEAP_BYTES = 2 * 1024 ** 3;

/** Applies the defaults. */
export function resolveOptions(options: RenderOptions): ResolvedOptions {
  return {
    accessLogFile: options.accessLogFile ?? null,
    corsAllowOrigins: options.corsAllowOrigins ?? [],
    trustedHops: options.trustedHops ?? 0,
    maxHeapBytes: options.maxHeapBytes ?? DEFAULT_MAX_HEAP_BYTES,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
  };
}

/** Formats a duration as in Envoy's protobuf JSON: "0.25s". */
export function formatSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(3))}s`;
}
