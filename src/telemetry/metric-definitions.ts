/**
 * Every metric that the gateway exports, in one table: instruments are made from it, docs/metrics.md is held equal to
 * it, and the rules and dashboards in deploy/ may name nothing else. Names follow Prometheus (base units, `_total`) and,
 * where there is one, OpenTelemetry's semantic conventions for generative AI (`gen_ai.…`, dots as underscores).
 */
export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, of histograms. */
  readonly buckets?: readonly number[];
  /** Of gauges: what the page shows of the values of all processes. Their sum when left out. */
  readonly aggregator?: "max";
}

const LATENCY_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const CHUNK_SECONDS = [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025, 0.1];
/** As the GenAI conventions advise. */
const DURATION_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300,
];
const FIRST_TOKEN_SECONDS = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];
const PER_TOKEN_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const TOKENS = [1, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
const TOKENS_PER_SECOND = [1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 400, 1000];

const REQUEST_METRICS = {
  requests: {
    name: "inference_gateway_requests_total",
    type: "counter",
    help: "Requests by endpoint, catalog model, status and error code as the client saw them; 499: the client went away.",
    labels: ["route", "model", "status", "code"],
  },
  refusals: {
    name: "inference_gateway_refusals_total",
    type: "counter",
    help: "Requests refused by a limit: bucket, concurrency, a key's cap, an organization's cap.",
    labels: ["reason"],
  },
  unadmitted: {
    name: "inference_gateway_unadmitted_requests_total",
    type: "counter",
    help: "Requests that came to ext_proc without an admission of ext_authz and were refused. Must stay 0.",
    labels: [],
  },
  tokens: {
    name: "inference_gateway_tokens_total",
    type: "counter",
    help: "Tokens charged; input excludes the cached ones and includes cache writes and audio, output includes reasoning and audio.",
    labels: ["model", "type"],
  },
  spend: {
    name: "inference_gateway_spend_microcents_total",
    type: "counter",
    help: "Cost of finished requests in millionths of a cent. Past the first 100 organizations of a worker: `other`.",
    labels: ["organization_id", "model", "currency"],
  },
  upstreamRetries: {
    name: "inference_gateway_upstream_retries_total",
    type: "counter",
    help: "Requests tried a second time, at another server of their upstream: not a byte had been sent to the first.",
    labels: ["upstream"],
  },
  estimated: {
    name: "inference_gateway_estimated_requests_total",
    type: "counter",
    help: "Requests charged by an estimate, because the upstream told no usable usage or the answer was cut.",
    labels: ["model"],
  },
  unpricedTiers: {
    name: "inference_gateway_unpriced_service_tiers_total",
    type: "counter",
    help: "Answers that an upstream served at a service tier without a price, which were charged at the default price.",
    labels: ["model", "service_tier"],
  },
  usageContradictions: {
    name: "inference_gateway_usage_contradictions_total",
    type: "counter",
    help: "Answers whose usage has figures that cannot all be true, by kind: cached_above_prompt, cache_write_above_prompt, cache_write_split, audio_above_prompt, reasoning_above_output, audio_above_output, total.",
    labels: ["model", "kind"],
  },
  duration: {
    name: "gen_ai_server_request_duration_seconds",
    type: "histogram",
    help: "From a metered request's headers to its settled end.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: DURATION_SECONDS,
  },
  firstToken: {
    name: "gen_ai_server_time_to_first_token_seconds",
    type: "histogram",
    help: "From a request's headers to the first bytes of its streamed answer.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: FIRST_TOKEN_SECONDS,
  },
  perToken: {
    name: "gen_ai_server_time_per_output_token_seconds",
    type: "histogram",
    help: "Seconds per output token after the first, of streamed answers.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: PER_TOKEN_SECONDS,
  },
  tokenUsage: {
    name: "gen_ai_client_token_usage",
    type: "histogram",
    help: "Tokens of a request by gen_ai_token_type (input, output); input includes the cached ones.",
    labels: ["gen_ai_token_type", "gen_ai_request_model"],
    buckets: TOKENS,
  },
  tokensPerSecond: {
    name: "inference_gateway_output_tokens_per_second",
    type: "histogram",
    help: "Output tokens a second of streamed answers, from the first bytes on.",
    labels: ["model"],
    buckets: TOKENS_PER_SECOND,
  },
  authz: {
    name: "inference_gateway_authz_duration_seconds",
    type: "histogram",
    help: "Latency that ext_authz adds: key, bucket, caps, Redis included.",
    labels: [],
    buckets: LATENCY_SECONDS,
  },
  requestBody: {
    name: "inference_gateway_request_body_duration_seconds",
    type: "histogram",
    help: "Latency that the request body's stage adds: parse, model, translation, journal or hold in Redis.",
    labels: [],
    buckets: LATENCY_SECONDS,
  },
  chunk: {
    name: "inference_gateway_response_chunk_duration_seconds",
    type: "histogram",
    help: "Latency that a chunk of a streamed answer gets; the last one, which waits for its charge, is not in it.",
    labels: [],
    buckets: CHUNK_SECONDS,
  },
} as const satisfies Record<string, MetricDefinition>;

const STATE_METRICS = {
  redisLatency: {
    name: "inference_gateway_redis_operation_duration_seconds",
    type: "histogram",
    help: "Redis's answers as the gateway sees them, by operation of the store; failed ones included.",
    labels: ["operation"],
    buckets: LATENCY_SECONDS,
  },
  redisErrors: {
    name: "inference_gateway_redis_errors_total",
    type: "counter",
    help: "Operations of the store that failed: no connection, no answer in time, an error.",
    labels: ["operation"],
  },
  redisOut: {
    name: "inference_gateway_redis_out_of_reach",
    type: "gauge",
    help: "1: the process cannot reach Redis and is in degraded mode (known keys go on for the grace time).",
    labels: ["process"],
  },
  openHolds: {
    name: "inference_gateway_open_holds",
    type: "gauge",
    help: "Metered requests in flight, each on record in Redis or in this host's journal.",
    labels: [],
  },
  reaped: {
    name: "inference_gateway_reaped_holds_total",
    type: "counter",
    help: "Holds that a dead or stuck worker left open and that were closed for it.",
    labels: [],
  },
  spendFalls: {
    name: "inference_gateway_spend_falls_total",
    type: "counter",
    help: "Times that spend as it is shown went down, by cause: interim (a request came to less than its upstream had reported before), reaped (to less than it was closed at while its worker was silent), correction (by a person).",
    labels: ["cause"],
  },
  overheadsExceeded: {
    name: "inference_gateway_prompt_overhead_exceeded_total",
    type: "counter",
    help: "Prompts whose chat template took more tokens than prompt_overhead_tokens says; strict caps hold the larger, from then on.",
    labels: ["model", "tools"],
  },
  overheadSeen: {
    name: "inference_gateway_prompt_overhead_seen_tokens",
    type: "gauge",
    help: "The most tokens that a prompt had beyond its bytes, of models whose chat template took more than configured; with or without tools.",
    labels: ["model", "tools"],
    aggregator: "max",
  },
  unacknowledged: {
    name: "inference_gateway_unacknowledged_charges",
    type: "gauge",
    help: "Final charges that are neither acknowledged by Redis nor in the spool: they are in memory only.",
    labels: [],
  },
  spoolBytes: {
    name: "inference_gateway_spool_pending_bytes",
    type: "gauge",
    help: "Charges on this host's disk that are not known to be in Redis.",
    labels: [],
  },
  spoolEntries: {
    name: "inference_gateway_spool_entries_total",
    type: "counter",
    help: "Entries of the spool by what became of them: replayed, expired, rejected, damaged, refused (spool full or disk failing).",
    labels: ["result"],
  },
  requestLogBytes: {
    name: "inference_gateway_request_log_bytes",
    type: "gauge",
    help: "Bytes of this host's log of requests, looked up every five minutes.",
    labels: [],
  },
  bufferedBytes: {
    name: "inference_gateway_buffered_bytes",
    type: "gauge",
    help: "Bytes of request bodies that a worker holds, against limits.max_buffered_bytes.",
    labels: ["process"],
  },
  eventLoopLag: {
    name: "inference_gateway_event_loop_lag_seconds",
    type: "gauge",
    help: "99th percentile of the event loop's delay since the last report (about 5 s).",
    labels: ["process"],
  },
  residentMemory: {
    name: "inference_gateway_resident_memory_bytes",
    type: "gauge",
    help: "Resident memory of a process.",
    labels: ["process"],
  },
  cpu: {
    name: "inference_gateway_cpu_seconds_total",
    type: "counter",
    help: "CPU time of a process, user and system.",
    labels: ["process"],
  },
  workersExpected: {
    name: "inference_gateway_workers",
    type: "gauge",
    help: "Workers that this host is configured for.",
    labels: [],
  },
  workersReporting: {
    name: "inference_gateway_workers_reporting",
    type: "gauge",
    help: "Workers that have reported in the last 15 seconds.",
    labels: [],
  },
  workerRestarts: {
    name: "inference_gateway_worker_restarts_total",
    type: "counter",
    help: "Worker processes that took the place of another since the supervisor started.",
    labels: [],
  },
  alertsFired: {
    name: "inference_gateway_alerts_fired_total",
    type: "counter",
    help: "Budget and cap alerts that commands of this host's processes fired.",
    labels: [],
  },
  alertDeliveries: {
    name: "inference_gateway_alert_deliveries_total",
    type: "counter",
    help: "Alert deliveries by channel and result: delivered, failed (given up), failed_attempt.",
    labels: ["channel", "result"],
  },
  alertAge: {
    name: "inference_gateway_alert_oldest_undelivered_seconds",
    type: "gauge",
    help: "Age of the oldest alert that some channel is still owed; 0 when there is none.",
    labels: [],
  },
  configRefused: {
    name: "inference_gateway_config_refused",
    type: "gauge",
    help: "1: gateway.yaml as it is now was refused, an older catalog is in force.",
    labels: [],
  },
  configWaiting: {
    name: "inference_gateway_config_fields_waiting_for_restart",
    type: "gauge",
    help: "Fields of gateway.yaml that have changed since the start and count after a restart.",
    labels: [],
  },
  buildInfo: {
    name: "inference_gateway_build_info",
    type: "gauge",
    help: "1, with the version, Node's version and the gRPC transport as labels.",
    labels: ["version", "node_version", "transport"],
  },
} as const satisfies Record<string, MetricDefinition>;

export const METRICS = { ...REQUEST_METRICS, ...STATE_METRICS } as const;
