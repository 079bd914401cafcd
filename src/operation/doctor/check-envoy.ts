/** Checks of Envoy: reachable by its admin socket, ready, and with the filters that require an admission. */
import type { Config } from "../../shared/config/schema.ts";
import { describeUnprovenEnvoy, PROVEN_ENVOYS } from "../../shared/contract/proven-versions.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";
import { envoyAdminSocket, readEnvoyAdmin } from "./read-envoy-admin.ts";

const AUTHZ = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";
const PROC = "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor";
const MANAGER = "HttpConnectionManager";

type Node = Readonly<Record<string, unknown>>;

export async function checkEnvoy(config: Config): Promise<DoctorFinding[]> {
  try {
    const ready = await readEnvoyAdmin(config, "/ready");
    const { version } = JSON.parse(await readEnvoyAdmin(config, "/server_info")) as { version: string };
    const dump = JSON.parse(await readEnvoyAdmin(config, "/config_dump")) as unknown;
    const state = ready.trim();
    const readiness =
      state === "LIVE"
        ? ok("envoy.ready", "Envoy is live.")
        : found("envoy_not_live", "envoy.ready", {
            message: `Envoy reports ${state}.`,
          });
    return [readiness, checkVersion(version), ...checkFilters(dump), ...checkClusters(dump, config)];
  } catch (error) {
    const message = `Envoy's admin interface ${envoyAdminSocket(config)} doesn't respond: ${reasonOf(error)}.`;
    return [found("envoy_unreachable", "envoy.reachable", { message })];
  }
}

/** @param reported "<commit>/1.40.0/Clean/RELEASE/BoringSSL", as `GET /server_info` of Envoy's admin interface reports it. */
function checkVersion(reported: string): DoctorFinding {
  const check = "envoy.version";
  const version = reported.split("/")[1] ?? reported;
  const message = describeUnprovenEnvoy(version);
  if (message === null) return ok(check, `Envoy ${version}.`);
  const fix = `Run Envoy ${PROVEN_ENVOYS.at(-1)}, or test your traffic on this version first.`;
  return found("envoy_unproven", check, { message, fix });
}

/** Checks order and flags of the filters in Envoy's configuration dump. */
export function checkFilters(dump: unknown): DoctorFinding[] {
  const check = "envoy.filters";
  const managers = collect(dump, (node) => String(node["@type"]).endsWith(MANAGER));
  if (managers.length === 0) {
    return [found("envoy_no_listener", check, { message: "Envoy has no HTTP listener." })];
  }
  const findings = managers.flatMap((manager) => {
    const filters = (manager["http_filters"] ?? []) as readonly Node[];
    const find = (type: string) =>
      filters.findIndex((filter) => String((filter["typed_config"] as Node)?.["@type"]).endsWith(type));
    const [authz, proc] = [find(AUTHZ), find(PROC)];
    const wrong: string[] = [];
    if (authz === -1) wrong.push("ext_authz is missing");
    if (proc === -1) wrong.push("ext_proc is missing");
    if (authz > proc && proc !== -1) wrong.push("ext_proc comes before ext_authz");
    for (const [name, index] of Object.entries({ ext_authz: authz, ext_proc: proc })) {
      const filter = filters[index];
      if (filter === undefined) continue;
      if ((filter["typed_config"] as Node)["failure_mode_allow"] === true) {
        wrong.push(`${name} lets requests pass when it fails (failure_mode_allow)`);
      }
      if (filter["disabled"] === true) wrong.push(`${name} is disabled`);
    }
    return wrong;
  });
  if (findings.length === 0) return [ok(check, "ext_authz and ext_proc are in order and fail closed.")];
  return findings.map((fault) =>
    found("envoy_filters_wrong", check, { message: `Envoy's filter chain: ${fault}.` }),
  );
}

function checkClusters(dump: unknown, config: Config): DoctorFinding[] {
  const clusters = collect(dump, (node) => String(node["@type"]).endsWith(".Cluster"));
  const names = new Set(clusters.map((cluster) => cluster["name"]));
  const missing = config.upstreams.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  if (missing.length === 0) return [ok("envoy.clusters", "Envoy has a cluster for every upstream.")];
  const message = `Envoy has no cluster for the upstreams ${missing.join(", ")}.`;
  return [found("envoy_cluster_missing", "envoy.clusters", { message })];
}

/** Collects all matching objects of the tree. */
function collect(value: unknown, isWanted: (node: Node) => boolean): Node[] {
  if (typeof value !== "object" || value === null) return [];
  const own = !Array.isArray(value) && isWanted(value as Node) ? [value as Node] : [];
  return [...own, ...Object.values(value).flatMap((member) => collect(member, isWanted))];
}
