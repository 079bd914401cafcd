/**
 * Table of all exported metrics. Instruments are derived from it, docs/observability.md is compared with it, and
 * rules and dashboards in deploy/ may only use its names. Names follow Prometheus (base units, `_total`) and,
 * if applicable, OpenTelemetry's semantic conventions for generative AI (`gen_ai.…`, with underscores for
 * dots).
 */
export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** Aggregation of a gauge's values over all processes. Default: sum. */
  readonly aggregator?: "max";
}

const LATENCY_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const CHUNK_SECONDS = [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025, 0.1];
/** Bounds recommended by the GenAI conventions. */
const DURATION_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300,
];
const FIRST_TOKEN_SECONDS = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];
const PER_TOKEN_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const TOKENS = [1, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
const TOKENS_PER_SECOND = [1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 400, 1000];

export const METRICS = {
  requests: counter(
    "inference_gateway_requests_total",
    "Requests by endpoint, catalog model, status and error code; status 499: the client left, or the cause is unknown.",
    ["route", "model", "status", "code"],
  ),
  refusals: counter(
    "inference_gateway_refusals_total",
    "Requests rejected by a limit, by reason (a rate, concurrency, request bodies, a cap) and period of the cap.",
    ["reason", "period"],
  ),
  unadmitted: counter(
    "inference_gateway_unadmitted_requests_total",
    "Requests that reached ext_proc without an admission by ext_authz; must stay 0.",
  ),
  tokens: counter(
    "inference_gateway_tokens_total",
    "Tokens charged, by type: input without cached tokens, output with reasoning.",
    ["model", "type"],
  ),
  spend: counter(
    "inference_gateway_spend_microcents_total",
    "Cost of finished requests, in microcents (millionths of a cent); `other` after a worker's first 100 organizations.",
    ["organization_id", "model", "currency"],
  ),
  organizationInfo: gauge(
    "inference_gateway_organization_info",
    "Always 1; the labels name each organization that has spend above.",
    ["organization_id", "organization"],
    "max",
  ),
  upstreamRetries: counter(
    "inference_gateway_upstream_retries_total",
    "Requests that the gateway retried at another server of their upstream.",
    ["upstream"],
  ),
  estimated: counter(
    "inference_gateway_estimated_requests_total",
    "Requests charged by an estimate, because usage is missing or the response was cut.",
    ["model"],
  ),
  unpricedTiers: counter(
    "inference_gateway_unpriced_service_tiers_total",
    "Responses at a service tier without a price, charged at the default price.",
    ["model", "service_tier"],
  ),
  usageContradictions: counter(
    "inference_gateway_usage_contradictions_total",
    "Responses with contradictory usage figures, by kind, such as cached_above_prompt.",
    ["model", "kind"],
  ),
  unknownFinishReasons: counter(
    "inference_gateway_unknown_finish_reasons_total",
    "Responses with a finish reason that the gateway doesn't know; the request log has it.",
    ["model"],
  ),
  duration: histogram(
    "gen_ai_server_request_duration_seconds",
    "Seconds from a metered request's headers to its final charge.",
    DURATION_SECONDS,
    ["gen_ai_operation_name", "gen_ai_request_model"],
  ),
  firstToken: histogram(
    "gen_ai_server_time_to_first_token_seconds",
    "Seconds from a request's headers to the first bytes of its streamed response.",
    FIRST_TOKEN_SECONDS,
    ["gen_ai_operation_name", "gen_ai_request_model"],
  ),
  perToken: histogram(
    "gen_ai_server_time_per_output_token_seconds",
    "Seconds per output token after the first, of streamed responses.",
    PER_TOKEN_SECONDS,
    ["gen_ai_operation_name", "gen_ai_request_model"],
  ),
  tokenUsage: histogram(
    "gen_ai_client_token_usage",
    "Tokens of a request, by gen_ai_token_type (input, output). Input includes cached tokens.",
    TOKENS,
    ["gen_ai_token_type", "gen_ai_request_model"],
  ),
  tokensPerSecond: histogram(
    "inference_gateway_output_tokens_per_second",
    "Output tokens per second of a streamed response, from its first bytes.",
    TOKENS_PER_SECOND,
    ["model"],
  ),
  authz: histogram(
    "inference_gateway_authz_duration_seconds",
    "Seconds of an admission: API key, rate limit and caps, Redis included.",
    LATENCY_SECONDS,
  ),
  requestBody: histogram(
    "inference_gateway_request_body_duration_seconds",
    "Seconds that the gateway adds to a request when its body has arrived, Redis included.",
    LATENCY_SECONDS,
  ),
  chunk: histogram(
    "inference_gateway_response_chunk_duration_seconds",
    "Seconds that the gateway adds to a chunk of a streamed response, except the last.",
    CHUNK_SECONDS,
  ),
  redisLatency: histogram(
    "inference_gateway_redis_operation_duration_seconds",
    "Seconds until Redis replies, by operation; failed operations included.",
    LATENCY_SECONDS,
    ["operation"],
  ),
  redisErrors: counter(
    "inference_gateway_redis_errors_total",
    "Redis operations that failed, by operation: no connection, no reply in time, or an error.",
    ["operation"],
  ),
  redisOut: gauge(
    "inference_gateway_redis_out_of_reach",
    "1 while the process can't reach Redis, otherwise 0.",
    ["process"],
  ),
  requestsInFlight: gauge(
    "inference_gateway_open_requests",
    "Metered requests in flight; previously `inference_gateway_open_holds`.",
  ),
  reaped: counter(
    "inference_gateway_reaped_requests_total",
    "Requests of a dead or stalled worker that another process closed; previously `inference_gateway_reaped_holds_total`.",
  ),
  spendFalls: counter(
    "inference_gateway_spend_falls_total",
    "Decreases of a spend figure, by cause: interim or reaped (a request cost less than assumed), correction.",
    ["cause"],
  ),
  uncappedSessions: counter(
    "inference_gateway_uncapped_session_requests_total",
    "Requests of sessions without a cap, because their API key had 10,000 live sessions.",
  ),
  overheadsExceeded: counter(
    "inference_gateway_prompt_overhead_exceeded_total",
    "Prompts whose chat template took more tokens than `prompt_overhead_tokens`.",
    ["model", "tools"],
  ),
  overheadSeen: gauge(
    "inference_gateway_prompt_overhead_seen_tokens",
    "Most tokens that a prompt had beyond its bytes, of models above `prompt_overhead_tokens`.",
    ["model", "tools"],
    "max",
  ),
  unacknowledged: gauge(
    "inference_gateway_unacknowledged_charges",
    "Final charges that are only in memory: neither acknowledged by Redis nor in the spool.",
  ),
  spoolBytes: gauge(
    "inference_gateway_spool_pending_bytes",
    "Bytes of charges on this host's disk that Redis hasn't acknowledged.",
  ),
  spoolEntries: counter(
    "inference_gateway_spool_entries_total",
    "Spool entries by result: replayed, expired, rejected, damaged, refused (spool full, or its disk fails).",
    ["result"],
  ),
  requestLogBytes: gauge("inference_gateway_request_log_bytes", "Bytes of this host's request log."),
  redisMemory: gauge(
    "inference_gateway_redis_memory_bytes",
    "Bytes of memory that Redis uses, in a cluster of the fullest primary.",
  ),
  redisMemoryMax: gauge(
    "inference_gateway_redis_memory_max_bytes",
    "Redis's `maxmemory` in bytes; without one, the memory of its host.",
  ),
  diskFree: gauge("inference_gateway_disk_free_bytes", "Free bytes on the disk of `data_dir`."),
  diskReserve: gauge(
    "inference_gateway_disk_reserve_bytes",
    "Free bytes below which logs stop: `settlement.spool_max_bytes`.",
  ),
  bufferedBytes: gauge(
    "inference_gateway_buffered_bytes",
    "Bytes of bodies in a worker's memory, at most `limits.max_buffered_bytes`.",
    ["process"],
  ),
  eventLoopLag: gauge(
    "inference_gateway_event_loop_lag_seconds",
    "Seconds of delay of the event loop, 99th percentile of about 5 s.",
    ["process"],
  ),
  residentMemory: gauge("inference_gateway_resident_memory_bytes", "Bytes of resident memory of a process.", [
    "process",
  ]),
  cpu: counter("inference_gateway_cpu_seconds_total", "CPU seconds of a process, user and system.", [
    "process",
  ]),
  workersExpected: gauge("inference_gateway_workers", "Workers that this host is configured for."),
  workersReporting: gauge(
    "inference_gateway_workers_reporting",
    "Workers that reported in the last 15 seconds.",
  ),
  workerRestarts: counter(
    "inference_gateway_worker_restarts_total",
    "Worker processes that replaced another since the start.",
  ),
  alertsFired: counter(
    "inference_gateway_alerts_fired_total",
    "Alerts of budgets and caps that this host's processes fired.",
  ),
  alertDeliveries: counter(
    "inference_gateway_alert_deliveries_total",
    "Deliveries of alerts, by channel and result: delivered, failed (given up), failed_attempt.",
    ["channel", "result"],
  ),
  alertAge: gauge(
    "inference_gateway_alert_oldest_undelivered_seconds",
    "Seconds since the oldest undelivered alert fired, otherwise 0.",
  ),
  configRefused: gauge(
    "inference_gateway_config_refused",
    "1 while gateway.yaml is invalid and an older catalog is in force, otherwise 0.",
  ),
  configWaiting: gauge(
    "inference_gateway_config_fields_waiting_for_restart",
    "Fields of gateway.yaml that changed since the start and take effect after a restart.",
  ),
  buildInfo: gauge("inference_gateway_build_info", "Always 1; the labels are the information.", [
    "version",
    "node_version",
    "transport",
  ]),
} satisfies Record<string, MetricDefinition>;

function counter(name: string, help: string, labels: readonly string[] = []) {
  return { name, type: "counter", help, labels } as const;
}

function gauge(name: string, help: string, labels: readonly string[] = [], aggregator?: "max") {
  return { name, type: "gauge", help, labels, ...(aggregator && { aggregator }) } as const;
}

function histogram(name: string, help: string, buckets: readonly number[], labels: readonly string[] = []) {
  return { name, type: "histogram", help, labels, buckets } as const;
}
