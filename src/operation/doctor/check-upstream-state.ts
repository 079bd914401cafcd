/** Checks of upstreams in Envoy: credentials, used endpoints, and rejected credentials. */
import type { Config, UpstreamConfig } from "../../shared/config/schema.ts";
import { type DoctorFinding, found, ok, skipped } from "./finding.ts";
import { readEnvoyAdmin } from "./read-envoy-admin.ts";

/** Checks that the credentials for Envoy are readable here. */
export function checkCredentials({ upstreams }: Config): DoctorFinding[] {
  return upstreams.flatMap(({ name, credentials }) =>
    credentials.map(({ secret, header }): DoctorFinding => {
      const check = `upstream.${name}.credential`;
      const absence = secret.explainAbsence();
      if (absence === null) return ok(check, `The credential of ${name} for \`${header}\` can be read.`);
      return found("upstream_credential_missing", check, {
        message: `The credential of ${name} for \`${header}\` can't be read: ${absence}.`,
      });
    }),
  );
}

/** State of an upstream's endpoints in Envoy's admin interface. */
interface HostStatus {
  readonly address?: { readonly socket_address?: { readonly address: string; readonly port_value: number } };
  readonly health_status?: {
    readonly eds_health_status?: string;
    readonly failed_active_health_check?: boolean;
    readonly failed_outlier_check?: boolean;
  };
}

/** No findings if Envoy is unreachable: another check reports that. */
export async function checkUpstreamState(config: Config): Promise<DoctorFinding[]> {
  const answers = await Promise.all(
    ["/clusters?format=json", "/stats?filter=upstream_rq_40[13]$"].map((path) =>
      readEnvoyAdmin(config, path),
    ),
  ).catch(() => null);
  if (answers === null) return [];
  const [clusters = "{}", stats = ""] = answers;
  const statuses = (JSON.parse(clusters) as { cluster_statuses?: readonly Cluster[] }).cluster_statuses ?? [];
  return config.upstreams.flatMap((upstream) => {
    const hosts = statuses.find(({ name }) => name === upstream.name)?.host_statuses ?? [];
    return [...checkHealth(upstream, hosts), ...checkRefusals(upstream, stats)];
  });
}

interface Cluster {
  readonly name: string;
  readonly host_statuses?: readonly HostStatus[];
}

function checkHealth({ name, healthCheck }: UpstreamConfig, hosts: readonly HostStatus[]): DoctorFinding[] {
  const check = `upstream.${name}.endpoints`;
  const bad = hosts.flatMap((host) => {
    const reason = explainHealth(host);
    return reason === null ? [] : [`${formatAddress(host)} (${reason})`];
  });
  if (hosts.length === 0) return [];
  if (bad.length === 0) {
    return healthCheck === null
      ? [skipped(check, `Envoy uses every endpoint of ${name}; without \`health_check\` it tests none.`)]
      : [ok(check, `Every endpoint of ${name} passes Envoy's health check.`)];
  }
  const areAllBad = bad.length === hosts.length;
  const message = `Envoy considers ${bad.length} of ${hosts.length} endpoints of ${name} unhealthy: ${bad.join(", ")}.`;
  const fix = areAllBad
    ? "Start the model servers, or correct `health_check.path`. Until then requests to these models fail."
    : "Start the model server, or correct `health_check.path`. Until then the other endpoints receive all requests.";
  return [
    found(areAllBad ? "upstream_all_unhealthy" : "upstream_endpoint_unhealthy", check, { message, fix }),
  ];
}

/** Returns the reason why Envoy does not use the server; null if Envoy uses it. */
function explainHealth({ health_status: health = {} }: HostStatus): string | null {
  if (health.failed_active_health_check === true) return "fails its health check";
  if (health.failed_outlier_check === true) return "its requests failed";
  return health.eds_health_status === "UNHEALTHY" ? "by its control plane" : null;
}

function formatAddress({ address }: HostStatus): string {
  const { address: host = "?", port_value: port = 0 } = address?.socket_address ?? {};
  return `${host}:${port}`;
}

/** Clients' credentials never reach an upstream, so rejected ones are ours. */
function checkRefusals({ name }: UpstreamConfig, stats: string): DoctorFinding[] {
  const refused = stats.split("\n").flatMap((line) => {
    const [stat = "", count = "0"] = line.split(": ");
    const status = /^cluster\.(.+)\.upstream_rq_(40[13])$/u.exec(stat);
    return status?.[1] === name && Number(count) > 0 ? [`${status[2]} (${Number(count)}×)`] : [];
  });
  if (refused.length === 0) return [];
  const message = `Upstream ${name} has returned ${refused.join(" and ")} since Envoy's start.`;
  return [found("upstream_refuses_credential", `upstream.${name}.refusals`, { message })];
}
