/** What each alarm must make of a series of samples: one a minute, in Prometheus's notation for them. */

export interface AlarmCase {
  readonly alert: string;
  /** Samples that are a fault, without the label `instance`, which each gets. */
  readonly fault: Readonly<Record<string, string>>;
  /** Samples close to it that are none. */
  readonly calm: Readonly<Record<string, string>>;
  /** When it is looked at. */
  readonly at: string;
  /** A time at which the fault is there and the alarm still waits; null for alarms that do not wait. */
  readonly pendingAt: string | null;
  /** Beside `instance` and what the rule puts on. */
  readonly labels?: Readonly<Record<string, string>>;
  /** There is no instance that it could be about. */
  readonly isOfNoInstance?: true;
  /** As its reader gets them. */
  readonly summary: string;
  readonly description: string;
}

const REQUESTS = "inference_gateway_requests_total";
const ADMIT = "inference_gateway_redis_operation_duration_seconds_bucket";
const ECHO = "acme/echo-small";

export const ALARM_CASES: readonly AlarmCase[] = [
  {
    alert: "GatewayDown",
    fault: { 'up{job="inference-gateway"}': "1 0x10" },
    calm: { 'up{job="inference-gateway"}': "1x10", 'up{job="something-else"}': "0x10" },
    at: "3m",
    pendingAt: "1m",
    labels: { job: "inference-gateway" },
    summary: "The gateway on gw:10001 cannot be scraped",
    description:
      "Its admin port hasn't replied for a minute. If its workers are also down, Envoy returns 503.",
  },
  {
    alert: "GatewayNotScraped",
    fault: { 'up{job="something-else"}': "1x10" },
    calm: { 'up{job="inference-gateway"}': "0x10" },
    at: "7m",
    pendingAt: "4m",
    labels: { job: "inference-gateway" },
    isOfNoInstance: true,
    summary: "No gateway is scraped",
    description:
      "For five minutes Prometheus has had no target of the job inference-gateway, so no other alert can fire.",
  },
  {
    alert: "GatewayUnadmittedRequests",
    fault: { inference_gateway_unadmitted_requests_total: "0 0 2x10" },
    calm: { inference_gateway_unadmitted_requests_total: "7x10" },
    at: "4m",
    pendingAt: null,
    summary: "Requests reach ext_proc without an admission on gw:10001",
    description: "2 requests in five minutes. They were rejected, but Envoy's filter chain is wrong.",
  },
  {
    alert: "GatewayRedisOutOfReach",
    fault: {
      'inference_gateway_redis_out_of_reach{process="worker-0"}': "0 1x10",
      'inference_gateway_redis_out_of_reach{process="worker-1"}': "0x10",
    },
    calm: {
      'inference_gateway_redis_out_of_reach{process="worker-0"}': "0x10",
      'inference_gateway_redis_out_of_reach{process="supervisor"}': "0x10",
    },
    at: "2m",
    pendingAt: "1m",
    summary: "Redis unreachable from gw:10001",
    description:
      "Known API keys continue for settlement.grace_seconds (default: 60 s). After that, every request returns 503.",
  },
  {
    alert: "GatewayRedisSlow",
    fault: {
      [`${ADMIT}{operation="admit",le="0.05"}`]: "0x20",
      [`${ADMIT}{operation="admit",le="0.1"}`]: "0+60x20",
      [`${ADMIT}{operation="admit",le="+Inf"}`]: "0+60x20",
    },
    calm: {
      [`${ADMIT}{operation="admit",le="0.05"}`]: "0+60x20",
      [`${ADMIT}{operation="admit",le="+Inf"}`]: "0+60x20",
      [`${ADMIT}{operation="usage",le="0.05"}`]: "0x20",
      [`${ADMIT}{operation="usage",le="+Inf"}`]: "0+60x20",
    },
    at: "10m",
    pendingAt: "4m",
    summary: "Redis replies slowly on gw:10001",
    description:
      "The 99th percentile of an admission is 99.5ms; after 250 ms, the gateway treats Redis as unreachable.",
  },
  {
    alert: "GatewayRedisErrors",
    fault: {
      'inference_gateway_redis_errors_total{operation="admit"}': "0+9x20",
      'inference_gateway_redis_errors_total{operation="charge"}': "0+9x20",
    },
    calm: { 'inference_gateway_redis_errors_total{operation="admit"}': "0+3x20" },
    at: "6m",
    pendingAt: "2m",
    summary: "Redis operations fail on gw:10001",
    description: "0.30 a second.",
  },
  {
    alert: "GatewayRedisMemory",
    fault: {
      inference_gateway_redis_memory_bytes: "700 850x20",
      inference_gateway_redis_memory_max_bytes: "1000x20",
    },
    calm: {
      inference_gateway_redis_memory_bytes: "800x20",
      inference_gateway_redis_memory_max_bytes: "1000x20",
    },
    at: "8m",
    pendingAt: "4m",
    summary: "Redis of gw:10001 runs out of memory",
    description: "85% are used. From 90% nothing new can be created; at 100% requests fail.",
  },
  {
    alert: "GatewayConfigurationRefused",
    fault: { inference_gateway_config_refused: "0 1x10" },
    calm: { inference_gateway_config_refused: "0x10" },
    at: "3m",
    pendingAt: "1m",
    summary: "The changed gateway.yaml of gw:10001 isn't active",
    description:
      "The gateway rejected it and uses the previous catalog. The log and doctor list every problem.",
  },
  {
    alert: "GatewayWorkerMissing",
    fault: { inference_gateway_workers: "2x10", inference_gateway_workers_reporting: "2 1x10" },
    calm: { inference_gateway_workers: "2x10", inference_gateway_workers_reporting: "2x10" },
    at: "3m",
    pendingAt: "1m",
    summary: "A worker of gw:10001 doesn't report",
    description: "Workers that report: 1.",
  },
  {
    alert: "GatewayWorkerRestarts",
    fault: { inference_gateway_worker_restarts_total: "0x5 1 2 3 4 4x10" },
    calm: { inference_gateway_worker_restarts_total: "0x5 1 1x14" },
    at: "15m",
    pendingAt: null,
    summary: "Workers of gw:10001 restart repeatedly",
    description: "4 restarts in 15 minutes. Each restart cuts the streams of its worker.",
  },
  {
    alert: "GatewayServerErrors",
    fault: {
      [`${REQUESTS}{route="chat_completions",status="200",code=""}`]: "0+90x20",
      [`${REQUESTS}{route="chat_completions",status="502",code="upstream_error"}`]: "0+5x20",
      // Their answers broke off behind the head.
      [`${REQUESTS}{route="chat_completions",status="200",code="upstream_error"}`]: "0+5x20",
    },
    calm: {
      [`${REQUESTS}{route="chat_completions",status="200",code=""}`]: "0+96x20",
      [`${REQUESTS}{route="chat_completions",status="500",code="internal_error"}`]: "0+4x20",
      [`${REQUESTS}{route="chat_completions",status="429",code="rate_limit_exceeded"}`]: "0+90x20",
    },
    at: "10m",
    pendingAt: "4m",
    summary: "10% of the requests to gw:10001 fail",
    description:
      "See the labels code and model: upstream_* comes from the upstream, internal_error from the gateway.",
  },
  {
    alert: "GatewayUpstreamUnavailable",
    fault: {
      [`${REQUESTS}{model="${ECHO}",status="200",code=""}`]: "0+15x20",
      [`${REQUESTS}{model="${ECHO}",status="503",code="model_starting"}`]: "0+2x20",
      [`${REQUESTS}{model="${ECHO}",status="503",code="model_unreachable"}`]: "0+1x20",
      [`${REQUESTS}{model="${ECHO}",status="503",code="model_overloaded"}`]: "0+2x20",
      [`${REQUESTS}{model="acme/other",status="200",code=""}`]: "0+900x20",
    },
    calm: {
      [`${REQUESTS}{model="${ECHO}",status="200",code=""}`]: "0+85x20",
      [`${REQUESTS}{model="${ECHO}",status="503",code="model_starting"}`]: "0+15x20",
    },
    at: "10m",
    pendingAt: "4m",
    labels: { model: ECHO },
    summary: `${ECHO} is often unavailable`,
    description: "25% of its requests fail.",
  },
  {
    alert: "GatewaySpoolPending",
    fault: { inference_gateway_spool_pending_bytes: "0 2048x20" },
    calm: { inference_gateway_spool_pending_bytes: "2048 2048 0 2048x3 0x20" },
    at: "8m",
    pendingAt: "4m",
    summary: "Charges wait on the disk of gw:10001",
    description:
      "2kiB for five minutes. They are safe there for six days, but caps on other hosts don't count them.",
  },
  {
    alert: "GatewayDiskShort",
    fault: {
      inference_gateway_disk_free_bytes: "2048 1024x20",
      inference_gateway_disk_reserve_bytes: "2048x20",
    },
    calm: {
      inference_gateway_disk_free_bytes: "2048x20",
      inference_gateway_disk_reserve_bytes: "2048x20",
    },
    at: "4m",
    pendingAt: "1m",
    summary: "The disk of gw:10001 has less free space than the spool may need",
    description: "1kiB are free. Logs are cut first; with a full disk, requests can return 503.",
  },
  {
    alert: "GatewaySpoolLoss",
    fault: { 'inference_gateway_spool_entries_total{result="refused"}': "0x5 3x15" },
    calm: {
      'inference_gateway_spool_entries_total{result="replayed"}': "0x5 3x15",
      'inference_gateway_spool_entries_total{result="refused"}': "3x20",
    },
    at: "15m",
    pendingAt: null,
    labels: { result: "refused" },
    summary: "Charges were not recorded on gw:10001 (refused)",
    description: "3 entries. Expired and rejected entries are in reported.jsonl.",
  },
  {
    alert: "GatewayUnacknowledgedCharges",
    fault: { inference_gateway_unacknowledged_charges: "0 2x10" },
    calm: { inference_gateway_unacknowledged_charges: "0 2 0x10" },
    at: "3m",
    pendingAt: "1m",
    summary: "Charges are in memory only on gw:10001",
    description: "2 charges: neither Redis nor the spool accepts them. Do not restart the gateway.",
  },
  {
    alert: "GatewayUnpricedServiceTier",
    fault: {
      [`inference_gateway_unpriced_service_tiers_total{model="${ECHO}",service_tier="flex"}`]: "_ _ 2x10",
    },
    calm: {
      [`inference_gateway_unpriced_service_tiers_total{model="${ECHO}",service_tier="flex"}`]: "2x10",
    },
    at: "5m",
    pendingAt: null,
    labels: { model: ECHO, service_tier: "flex" },
    summary: `${ECHO} is served at a service tier without a price (flex)`,
    description: "2 requests in five minutes were charged at the default price.",
  },
  {
    alert: "GatewayRequestsReaped",
    fault: { inference_gateway_reaped_requests_total: "0x5 4x15" },
    calm: { inference_gateway_reaped_requests_total: "4x20" },
    at: "15m",
    pendingAt: null,
    summary: "Dead workers left requests open; gw:10001 closed them",
    description: "4 in 15 minutes, at the cost charged so far.",
  },
  {
    alert: "GatewayEventLoopLag",
    fault: { 'inference_gateway_event_loop_lag_seconds{process="worker-0"}': "0.01 0.45x10" },
    calm: { 'inference_gateway_event_loop_lag_seconds{process="worker-0"}': "0.01 0.45 0.02x10" },
    at: "4m",
    pendingAt: "2m",
    labels: { process: "worker-0" },
    summary: "worker-0 on gw:10001 is overloaded",
    description: "Its event loop is 450ms late (99th percentile).",
  },
  {
    alert: "GatewayBodiesRefused",
    // The first refusals since the gateway's start, all within one scrape.
    fault: { [`${REQUESTS}{status="503",code="gateway_overloaded"}`]: "_ _ 4x10" },
    calm: {
      [`${REQUESTS}{status="503",code="gateway_overloaded"}`]: "4x10",
      [`${REQUESTS}{status="503",code="model_starting"}`]: "_ _ 4x10",
    },
    at: "5m",
    pendingAt: null,
    summary: "A worker rejects bodies for lack of memory",
    description: "4 requests returned 503 gateway_overloaded in five minutes.",
  },
  {
    alert: "GatewayTokensRefused",
    fault: {
      [`${REQUESTS}{status="200",code=""}`]: "0+75x20",
      [`${REQUESTS}{status="429",code="token_rate_limit_exceeded"}`]: "0+25x20",
      'inference_gateway_refusals_total{reason="tokens",period=""}': "0+25x20",
    },
    calm: {
      [`${REQUESTS}{status="200",code=""}`]: "0+85x20",
      [`${REQUESTS}{status="429",code="token_rate_limit_exceeded"}`]: "0+15x20",
      'inference_gateway_refusals_total{reason="tokens",period=""}': "0+15x20",
      'inference_gateway_refusals_total{reason="bucket",period=""}': "0+90x20",
    },
    at: "10m",
    pendingAt: "4m",
    summary: "Limits of tokens per minute reject 25% of the requests to gw:10001",
    description: "Clients wait for the time in Retry-After. `requests list` shows the API keys.",
  },
  {
    alert: "GatewayAlertsUndelivered",
    fault: { inference_gateway_alert_oldest_undelivered_seconds: "840+60x20" },
    calm: { inference_gateway_alert_oldest_undelivered_seconds: "0+60x20" },
    at: "10m",
    pendingAt: "5m",
    summary: "Budget and cap alerts of gw:10001 aren't delivered",
    description: "The oldest alert has waited for 24m 0s.",
  },
];
