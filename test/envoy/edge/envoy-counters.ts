/** Counters of a stack's Envoy, from its admin interface. */
import { request } from "node:http";
import { join } from "node:path";
import { WORKER_CLUSTERS } from "../../../src/envoy/names.ts";
import type { Stack } from "../../support/stack.ts";

/** Counter of the workers, over both clusters; 0 as long as Envoy has none of that name. */
export async function readSidecarCounter(stack: Stack, name: string): Promise<number> {
  const adminSocket = adminSocketOf(stack);
  const counts = await Promise.all(
    WORKER_CLUSTERS.map((cluster) => readClusterCounter(adminSocket, cluster, name)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Counter of one cluster; 0 as long as Envoy has none of that name. */
export async function readClusterCounter(
  adminSocket: string,
  cluster: string,
  name: string,
): Promise<number> {
  return (await readCounter(adminSocket, `cluster.${cluster}.${name}`)) ?? 0;
}

/** Requests that ext_authz has admitted, as the Envoy of this admin socket knows. */
export async function readAdmitted(adminSocket: string): Promise<number> {
  return (await readCounter(adminSocket, "http.gateway.ext_authz.ok")) ?? Number.NaN;
}

/** Fetches of identity providers' keys that have failed, as the Envoy of this admin socket knows. */
export async function readFailedFetches(adminSocket: string): Promise<number> {
  return (await readCounter(adminSocket, "http.gateway.jwt_authn.jwks_fetch_failed")) ?? Number.NaN;
}

/** What Envoy has allocated. */
export async function readEnvoyMemory(stack: Stack): Promise<number> {
  return (await readCounter(adminSocketOf(stack), "server.memory_allocated")) ?? Number.NaN;
}

export function adminSocketOf({ dir }: Stack): string {
  return join(dir, "run/envoy-admin.sock");
}

/** Null: Envoy has none of that name. */
async function readCounter(adminSocket: string, name: string): Promise<number | null> {
  const text = await readStats(adminSocket, `^${name.replaceAll(".", "\\.")}$`);
  const value = /: (\d+)\s*$/.exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

function readStats(socketPath: string, filter: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: `/stats?filter=${encodeURIComponent(filter)}` }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve(text));
    });
    asked.on("error", reject);
    asked.end();
  });
}
