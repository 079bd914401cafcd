import type { Finding } from "../host/finding.ts";

interface Kind {
  /** `problem`: requests fail or spend can be lost. `warning`: they will, or may. */
  readonly level: "warning" | "problem";
  /** What is so; for docs/doctor.md, whose table is made from this one. */
  readonly meaning: string;
}

const problemThat = (meaning: string): Kind => ({ level: "problem", meaning });
const warningThat = (meaning: string): Kind => ({ level: "warning", meaning });

/** Everything that can be wrong. A test provokes each of them. */
export const FINDINGS = {
  configuration_invalid: problemThat("A mistake in the configuration; nothing else is looked at."),
  gateway_not_running: problemThat(
    "No gateway runs with this configuration: workers and Envoy do not answer for that.",
  ),
  configuration_refused: problemThat("The changed file is not in force: the running gateway refused it."),
  configuration_waits: warningThat("Fields of the file have changed that take effect after a restart."),
  check_failed: problemThat("A part could not be looked at: no right to, or no end in time."),
  redis_unreachable: problemThat("Redis does not answer, or does not let the gateway in."),
  redis_too_old: problemThat("Redis is older than 6.2, which the gateway's scripts need."),
  redis_append_only_off: problemThat("A restart of Redis loses what came since its last snapshot."),
  redis_append_only_failing: problemThat("Redis cannot write its append-only file."),
  redis_snapshot_failing: problemThat("Redis cannot write its snapshot, and may refuse writes for it."),
  redis_evicts: problemThat("Redis may throw keys, caps and spend away."),
  redis_slow: warningThat("Redis takes more than 10 ms for an answer."),
  clock_differs: warningThat("This host's clock and Redis's are more than 2 s apart."),
  worker_no_socket: problemThat("A file that is no socket is where a worker's should be."),
  worker_silent: problemThat("A worker does not answer."),
  worker_not_serving: warningThat("A worker says that it takes no requests: it starts, or drains."),
  envoy_unreachable: problemThat("Envoy's admin socket does not answer."),
  envoy_not_live: problemThat("Envoy starts or drains."),
  envoy_unproven: warningThat("Envoy is of a version that the gateway is not tested with."),
  envoy_no_listener: problemThat("Envoy has no HTTP listener."),
  envoy_filters_wrong: problemThat("Requests may pass without a key or without being charged."),
  envoy_cluster_missing: problemThat("Envoy does not know an upstream of the configuration."),
  upstream_unreachable: problemThat("An upstream takes no connections."),
  upstream_untrusted: problemThat(
    "An upstream's certificate is expired, for another name, or of an unknown authority.",
  ),
  upstream_credential_missing: warningThat("An upstream's credential cannot be read here."),
  upstream_refuses_credential: warningThat(
    "An upstream has answered 401 or 403 to the gateway's own credential since Envoy's start.",
  ),
  upstream_model_unknown: warningThat(
    "A model server has answered 404 since the workers' start: it knows no such model or path.",
  ),
  upstream_refuses_account: warningThat(
    "A model server has refused requests for the gateway's account there since the workers' start.",
  ),
  model_server_unnamed: warningThat(
    "A model server is known by its list of models, and `server` says nothing or something else.",
  ),
  upstream_model_unlisted: warningThat("A model server's list has no model of the catalog's name."),
  context_window_too_large: warningThat("A model server takes fewer tokens than `context_window` says."),
  upstream_all_unhealthy: problemThat("Envoy holds every endpoint of an upstream for unhealthy."),
  upstream_endpoint_unhealthy: warningThat("Envoy holds an endpoint of an upstream for unhealthy."),
  token_keys_unreachable: problemThat(
    "The keys of an identity provider cannot be had from here: its tokens may be refused.",
  ),
  prompt_overhead_exceeded: warningThat(
    "A model's chat template takes more tokens than configured: strict caps can be passed until each worker has seen it.",
  ),
  smtp_unreachable: problemThat("The mail server does not answer as one."),
  smtp_login_refused: problemThat("The mail server refuses user or password."),
  smtp_unencrypted: problemThat("The mail server offers no TLS, and the password is not sent without."),
  webhook_unreachable: warningThat("There is no way to the host of an organization's webhook."),
  webhook_not_allowed: warningThat("An organization's webhook leads to an address that is not allowed."),
  public_url_unencrypted: warningThat("Keys travel in the clear."),
  public_url_elsewhere: problemThat("The public address does not lead to the API."),
  public_url_unreachable: problemThat("The public address cannot be reached from here."),
  dashboard_url_missing: warningThat("Emails are sent whose links lead to the admin server's own address."),
  dashboard_url_unencrypted: warningThat("Sign-ins travel in the clear."),
  dashboard_url_elsewhere: problemThat("The dashboard's address does not lead to its pages."),
  dashboard_url_unreachable: problemThat("The dashboard's address cannot be reached from here."),
  folder_not_writable: problemThat("A directory of the gateway cannot be written."),
  folder_is_none: problemThat("A file is where a directory should be."),
  folder_cannot_be_made: problemThat("A directory doesn't exist and can't be created."),
  sockets_open: warningThat("Every user of this host reaches the workers' sockets."),
  data_dir_open: warningThat("Every user of this host can look into the gateway's data."),
  operator_token_readable: problemThat("Others can read the operator's token."),
  spool_space_short: warningThat("The disk has less room than the spool may take: logs give way to it."),
  spool_reported: problemThat("Charges that Redis will not take wait for a person."),
  spool_waiting: problemThat("Charges have waited for more than a minute for Redis."),
} as const satisfies Record<string, Kind>;

export type FindingCode = keyof typeof FINDINGS;

/** What one look at one part of the gateway found; nothing to fix where all is well. */
export interface DoctorFinding extends Finding<"ok" | "warning" | "problem"> {
  /** Null when all is well. */
  readonly code: FindingCode | null;
  /** RFC 3339, where it is known. */
  readonly since: string | null;
}

export function ok(check: string, message: string): DoctorFinding {
  return { check, level: "ok", code: null, message, since: null, fix: null };
}

/** Something is wrong; how bad it is, its code says. */
export function found(
  code: FindingCode,
  check: string,
  { message, fix, since = null }: { message: string; fix: string; since?: Date | null },
): DoctorFinding {
  return { check, level: FINDINGS[code].level, code, message, since: since?.toISOString() ?? null, fix };
}

/** "ECONNREFUSED" where a system call says so, else the error's own words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  return error.message === "" ? (code ?? error.name) : error.message;
}
