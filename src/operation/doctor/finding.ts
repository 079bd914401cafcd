import type { HostFinding } from "../../shared/host/finding.ts";

interface Kind {
  /** `problem`: requests fail or spend can be lost. `warning`: they will, or may. */
  readonly level: "warning" | "problem";
  /** Description for docs/doctor.md, whose table is generated from this one. */
  readonly meaning: string;
  /** Fix of a finding, unless the check provides one with names and figures. */
  readonly fix: string;
}

const problemThat = (meaning: string, fix: string): Kind => ({ level: "problem", meaning, fix });
const warningThat = (meaning: string, fix: string): Kind => ({ level: "warning", meaning, fix });

/** All findings. A test provokes each of them. */
export const FINDINGS = {
  configuration_invalid: problemThat(
    "The configuration has a mistake; only this is checked.",
    "Correct the field that it names.",
  ),
  gateway_not_running: problemThat(
    "No gateway runs with this configuration.",
    "Start it: `inference-gateway up`, or `serve` next to your own Envoy. Other findings can follow.",
  ),
  configuration_refused: problemThat(
    "The running gateway rejected the changed file and uses the previous one.",
    "Correct the file. Restart the gateway, and Envoy with a new bootstrap, if the problem says so.",
  ),
  configuration_waits: warningThat(
    "Changed fields take effect after a restart.",
    "Restart the gateway; after changes of `listen`, `limits` or `upstreams` also Envoy, with a new bootstrap.",
  ),
  check_failed: problemThat(
    "A check had no permission, or didn't end in time.",
    "Run the command again as the gateway's user.",
  ),
  redis_unreachable: problemThat(
    "Redis doesn't respond, or rejects the login.",
    "Start Redis or correct `redis` in the configuration. Known API keys work for `settlement.grace_seconds`; everything else returns 503.",
  ),
  redis_too_old: problemThat("Redis is older than 6.2.", "Upgrade Redis to 6.2 or newer."),
  redis_append_only_off: problemThat(
    "Redis keeps no append-only file.",
    "`CONFIG SET appendonly yes`, and in redis.conf `appendonly yes` and `appendfsync everysec`. Otherwise a restart loses data.",
  ),
  redis_append_only_failing: problemThat(
    "Redis can't write its append-only file.",
    "Check Redis's disk and log. Redis rejects writes.",
  ),
  redis_snapshot_failing: problemThat(
    "Redis can't write its snapshot.",
    "Check Redis's disk, memory and log, then run `BGSAVE`. Until it succeeds, Redis can reject writes.",
  ),
  redis_evicts: problemThat(
    "Redis may evict API keys, caps and spend, which are then lost.",
    "Set `maxmemory-policy noeviction`.",
  ),
  redis_memory_short: warningThat(
    "Redis uses more than 80% of its memory.",
    "Raise `maxmemory`, or give Redis's host more memory. At 90% nothing new can be created, at 100% requests fail.",
  ),
  redis_slow: warningThat(
    "Redis responds in more than 10 ms.",
    "Check Redis's CPU, `SLOWLOG GET`, disk and network. Every request waits for Redis once, with strict caps three times.",
  ),
  clock_differs: warningThat(
    "The clocks of this host and of Redis differ by more than 2 s.",
    "Run NTP on both hosts.",
  ),
  worker_no_socket: problemThat(
    "A worker's socket path is a file.",
    "Remove the file and restart the gateway.",
  ),
  worker_silent: problemThat(
    "A worker doesn't respond.",
    "Start the gateway with this configuration. If it runs without `worker exited unexpectedly` in its log, kill the hanging worker: another one starts.",
  ),
  worker_not_serving: warningThat(
    "A worker doesn't accept requests.",
    "Wait until the worker has started or drained, or restart the gateway.",
  ),
  envoy_unreachable: problemThat(
    "Envoy's admin socket doesn't respond.",
    "Start Envoy with the bootstrap of `inference-gateway envoy render`, and run this command as its user.",
  ),
  envoy_not_live: problemThat("Envoy is starting or draining.", "Wait, or check Envoy's log."),
  envoy_unproven: warningThat(
    "The gateway isn't tested with this version of Envoy.",
    "Run a tested version, or test your traffic first.",
  ),
  envoy_no_listener: problemThat(
    "Envoy has no HTTP listener.",
    "Start Envoy with the bootstrap of `inference-gateway envoy render`.",
  ),
  envoy_filters_wrong: problemThat(
    "Envoy's filters are missing, in the wrong order, or fail open.",
    "Correct the bootstrap: `config check --envoy FILE` names each place. Requests may pass without a key or a charge.",
  ),
  envoy_cluster_missing: problemThat(
    "Envoy has no cluster for an upstream.",
    "Restart Envoy with a new bootstrap (`envoy render`).",
  ),
  certificate_unusable: problemThat(
    "A certificate of `listen.tls` or `admin.tls` is unreadable or expired, or its key doesn't fit.",
    "Correct the files. Connections fail.",
  ),
  certificate_expires: warningThat(
    "A certificate of `listen.tls` or `admin.tls` expires within 14 days.",
    "Renew it. No restart is needed.",
  ),
  upstream_unreachable: problemThat(
    "An upstream accepts no connections.",
    "Start the model server, or correct `url`. Its models return 503.",
  ),
  upstream_untrusted: problemThat(
    "An upstream's certificate is expired, for another name, or of an unknown authority.",
    "Renew the certificate, or set `upstreams[].tls`. Its models return 503.",
  ),
  upstream_credential_missing: warningThat(
    "An upstream's credential can't be read here.",
    "Make the credential readable for the user that starts Envoy and runs this command.",
  ),
  upstream_refuses_credential: warningThat(
    "An upstream has rejected the gateway's credential (401, 403) since Envoy's start.",
    "Correct the credential, its header or prefix. Clients get 502.",
  ),
  upstream_model_unknown: warningThat(
    "A model server has returned 404 for a model or path since the workers' start.",
    "Correct `catalog[].upstream_model`, or the upstream's `url` and `path_prefix`.",
  ),
  upstream_refuses_account: warningThat(
    "A model server has rejected the gateway's account since the workers' start.",
    "Renew the credential, or check the account at the model provider.",
  ),
  model_server_unnamed: warningThat(
    "The list of models shows another model server than `server` does, or `server` isn't set.",
    "Set `server` of this upstream.",
  ),
  upstream_model_unlisted: warningThat(
    "The model server doesn't list the catalog's `upstream_model`.",
    "Set a name that the model server lists, or load the model there.",
  ),
  context_window_too_large: warningThat(
    "The model server accepts fewer tokens than `context_window`.",
    "Lower `context_window`, or start the server with a larger window.",
  ),
  upstream_all_unhealthy: problemThat(
    "Envoy considers every endpoint of an upstream unhealthy.",
    "Start the model servers, or correct `health_check.path`. Its models fail.",
  ),
  upstream_endpoint_unhealthy: warningThat(
    "Envoy considers an endpoint of an upstream unhealthy.",
    "Start the model server, or correct `health_check.path`.",
  ),
  token_keys_unreachable: problemThat(
    "The keys of an identity provider can't be read from here.",
    "Check `jwks` in gateway.yaml, and the connection from Envoy's host. Tokens may return 503.",
  ),
  prompt_overhead_exceeded: warningThat(
    "A model's chat template takes more tokens than configured.",
    "Set the model's `prompt_overhead_tokens` or `prompt_overhead_tokens_with_tools`.",
  ),
  smtp_unreachable: problemThat(
    "The mail server doesn't respond.",
    "Correct `notifications.smtp.url`, or open the connection.",
  ),
  smtp_login_refused: problemThat(
    "The mail server rejects user or password.",
    "Correct `notifications.smtp.username` and `password`.",
  ),
  smtp_unencrypted: problemThat(
    "The mail server offers no TLS.",
    "Use a server or port with TLS (`smtps://`, or STARTTLS on 587).",
  ),
  webhook_unreachable: warningThat(
    "The host of an organization's webhook can't be reached.",
    "Open the connection, or notify the organization. Deliveries are retried for three days.",
  ),
  webhook_not_allowed: warningThat(
    "An organization's webhook has an address that isn't allowed.",
    "Notify the organization, or set `notifications.webhooks.allow_private_networks`.",
  ),
  public_url_unencrypted: warningThat(
    "`public_base_url` isn't encrypted.",
    "Put TLS in front of the gateway and use `https://…`.",
  ),
  public_url_elsewhere: problemThat(
    "`public_base_url` doesn't lead to the API.",
    "Pass every path to Envoy's listener, not to the admin port.",
  ),
  public_url_unreachable: problemThat(
    "`public_base_url` can't be reached from here.",
    "Check DNS, load balancer and certificate. In a cluster the name may lead elsewhere.",
  ),
  dashboard_url_missing: warningThat(
    "Emails are configured, but `dashboard.base_url` isn't set.",
    "Set `dashboard.base_url`, for links in emails.",
  ),
  dashboard_url_unencrypted: warningThat(
    "`dashboard.base_url` isn't encrypted.",
    "Put TLS in front of the admin port and use `https://…`.",
  ),
  dashboard_url_elsewhere: problemThat(
    "`dashboard.base_url` doesn't lead to the dashboard.",
    "Pass every path to the admin port, not to Envoy's listener.",
  ),
  dashboard_url_unreachable: problemThat(
    "`dashboard.base_url` can't be reached from here.",
    "Check DNS, load balancer and certificate.",
  ),
  folder_not_writable: problemThat(
    "The gateway can't write a directory.",
    "Make it writable for the gateway's user, or change the field.",
  ),
  folder_is_none: problemThat("A directory's path is a file.", "Remove it or change the field."),
  folder_cannot_be_made: problemThat(
    "A directory doesn't exist and can't be created.",
    "Create it, writable for the gateway's user, or change the field.",
  ),
  sockets_open: warningThat(
    "Every user of this host can reach the workers' sockets.",
    "`chmod o-rwx` the directory.",
  ),
  data_dir_open: warningThat(
    "Every user of this host can read the gateway's data.",
    "`chmod o-rwx` the directory.",
  ),
  operator_token_readable: problemThat(
    "Other users can read the operator's token.",
    "`chmod 600` the file. To replace the token, remove the file and restart.",
  ),
  spool_space_short: warningThat(
    "The disk has less space than the spool may take.",
    "Free space or lower `settlement.spool_max_bytes`. The oldest request logs are deleted.",
  ),
  spool_reported: problemThat(
    "Redis rejected charges. They wait for you in `reported.jsonl`.",
    "Compare each charge with the request log, correct spend with `usage correct`, and move the file away.",
  ),
  spool_waiting: problemThat(
    "Charges have waited for Redis for more than a minute.",
    "Check that Redis and the gateway run: the gateway then sends the charges. Never delete them.",
  ),
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof FINDINGS;

/** Result of one check; no fix if everything is right. */
export interface DoctorFinding extends HostFinding {
  /** Null if everything is right, or was not checked. */
  readonly code: FindingCode | null;
}

export function ok(check: string, message: string): DoctorFinding {
  return { check, level: "ok", code: null, message, since: null, fix: null };
}

/** Creates the result of a check that was skipped. @param message Reason. */
export function skipped(check: string, message: string): DoctorFinding {
  return { ...ok(check, message), level: "skipped" };
}

/** Creates a finding; its code determines the level. @param fix Default: the code's. */
export function found(
  code: FindingCode,
  check: string,
  { message, fix = FINDINGS[code].fix, since = null }: { message: string; fix?: string; since?: Date | null },
): DoctorFinding {
  return { check, level: FINDINGS[code].level, code, message, since: since?.toISOString() ?? null, fix };
}

/** Returns "ECONNREFUSED" for system calls, otherwise the error's message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  return error.message === "" ? (code ?? error.name) : error.message;
}
