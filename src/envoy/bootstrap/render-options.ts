/**
 * What a rendered bootstrap can vary in beside the gateway's own configuration. The defaults are what is shipped; tests
 * shorten the timeouts.
 */

/** Seconds of each wait at the edge. Fractions are allowed. */
export interface EdgeTimeouts {
  /** A connection's first bytes or its TLS handshake, and each request's headers from their first byte. */
  readonly requestHeadersSeconds: number;
  /** A connection without a request. Longer than load balancers keep one (600 s), which are to close it first. */
  readonly connectionIdleSeconds: number;
  /** A whole request, headers and body: what is slower gets 408. */
  readonly requestSeconds: number;
  /** Nothing sent or received on a stream: SDKs wait 10 minutes for answers that are not streamed. */
  readonly streamIdleSeconds: number;
  /** One ext_authz call. Above the sidecar's own wait for Redis (0.25 s), so that the sidecar's answer wins. */
  readonly admissionSeconds: number;
  /** One reply of the sidecar in an ext_proc stream; it does not time the upstream. */
  readonly processingSeconds: number;
  /** A worker that answers no PING for so long hangs, and is given up with all its calls. Far above a busy event loop. */
  readonly hangSeconds: number;
}

export interface RenderOptions {
  /** Workers of the sidecar; those of the configuration when left out. */
  readonly workers?: number;
  /** Where Envoy finds the workers when `sidecar.tcp.host` is an address to listen on, as `0.0.0.0`. */
  readonly sidecarHost?: string;
  /** Folder of `writeUpstreamSecrets`; `secrets` in the folder of sockets when left out. */
  readonly secretsDirectory?: string;
  /** The access log's file; standard output when left out. */
  readonly accessLogFile?: string;
  /** Browser origins that may call the gateway: turns the CORS filter on. `"*"` allows every origin. */
  readonly corsAllowOrigins?: readonly string[];
  /** Proxies in front of Envoy whose `x-forwarded-for` entries are true. */
  readonly trustedHops?: number;
  /** Envoy's heap from which on it refuses new requests. */
  readonly maxHeapBytes?: number;
  /** PEM bundle for `https` upstreams without a `ca_file`; the system's when left out. */
  readonly systemCaFile?: string;
  readonly timeouts?: Partial<EdgeTimeouts>;
}

/** All options, decided. */
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
  admissionSeconds: 2,
  processingSeconds: 5,
  hangSeconds: 10,
};

/** Some fifty of the largest bodies at once, and room for streams. */
const DEFAULT_MAX_HEAP_BYTES = 2 * 1024 ** 3;

/** Options with their defaults. */
export function resolveOptions(options: RenderOptions): ResolvedOptions {
  return {
    accessLogFile: options.accessLogFile ?? null,
    corsAllowOrigins: options.corsAllowOrigins ?? [],
    trustedHops: options.trustedHops ?? 0,
    maxHeapBytes: options.maxHeapBytes ?? DEFAULT_MAX_HEAP_BYTES,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
  };
}

/** A duration as Envoy's protobuf JSON writes it: "0.25s". */
export function formatSeconds(seconds: number): string {
  return `${Number(seconds.toFixed(3))}s`;
}
