/** Generations of the sidecar behind one Envoy that stays, as they are while one replaces the other. */
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { loadConfig } from "../../../src/shared/config/load.ts";
import { renderBootstrap } from "../../../src/envoy/bootstrap/render-bootstrap.ts";
import { WORKER_CLUSTERS, workerSocketName } from "../../../src/envoy/names.ts";
import { type Child, startChild } from "../../support/child.ts";
import { findFreePort } from "../../support/free-port.ts";
import { type SideEnvoy, startSideEnvoy } from "../../support/side-envoy.ts";
import type { ServeAlone } from "./serve-alone.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const ENVOY = "both";
/** Its folder of sockets, and the beginning of its other names. */
const NEXT = "next";

export interface Generation {
  readonly serve: Child;
  readonly adminUrl: string;
  readonly dataDir: string;
}

/** One Envoy whose clusters have so many workers of the first generation and of the next one. */
export function startEnvoyForBoth(first: ServeAlone, workers: number): Promise<SideEnvoy> {
  const dir = dirname(first.configFile);
  return startSideEnvoy({
    bootstrap: renderBootstrap(loadConfig(first.configFile, { secrets: "none" })),
    dir,
    name: ENVOY,
    edit: ({ clusters }) => {
      const sockets = Array.from({ length: workers }, (_, index) => join(dir, NEXT, workerSocketName(index)));
      const added = sockets.map((path) => ({ endpoint: { address: { pipe: { path } } } }));
      for (const cluster of clusters.filter(({ name }) => WORKER_CLUSTERS.includes(name))) {
        const assignment = cluster["load_assignment"] as { endpoints: { lb_endpoints: object[] }[] };
        assignment.endpoints[0]!.lb_endpoints.push(...added);
      }
    },
  });
}

/**
 * Starts another generation on the same Redis and configuration, with sockets and data of its own.
 * @param name The next one's are those that `startEnvoyForBoth` knows.
 * @param main The program of another build; this checkout's when left out.
 */
export async function startGeneration(
  { configFile }: ServeAlone,
  name: string = NEXT,
  main: string = MAIN,
): Promise<Generation> {
  const config = parse(readFileSync(configFile, "utf8")) as Record<string, object>;
  const dir = dirname(configFile);
  const file = join(dir, `${name}.yaml`);
  const admin = { host: "127.0.0.1", port: await findFreePort() };
  const own = { admin, data_dir: `${name}-data`, sidecar: { ...config["sidecar"], sockets: name } };
  writeFileSync(file, stringify({ ...config, ...own }));
  const serve = startChild(process.execPath, [main, "serve", "--config", file], { cwd: dir });
  return { serve, adminUrl: `http://${admin.host}:${admin.port}`, dataDir: join(dir, `${name}-data`) };
}

/** Of the workers of one generation, as that Envoy sees them. */
interface GenerationFigures {
  /** Workers that both clusters take for healthy. */
  readonly healthy: number;
  /** gRPC calls since Envoy's start, of both clusters. */
  readonly calls: number;
}

/** What Envoy says of both generations. */
export async function readGenerations(
  first: ServeAlone,
): Promise<{ readonly first: GenerationFigures; readonly next: GenerationFigures }> {
  const dir = dirname(first.configFile);
  const text = await readAdmin(join(dir, `${ENVOY}.sock`), "/clusters");
  const figuresOf = (sockets: string): GenerationFigures => {
    const valuesOf = (cluster: string, field: string) =>
      text
        .split("\n")
        .filter((line) => line.startsWith(`${cluster}::${sockets}/`) && line.includes(`::${field}::`))
        .map((line) => line.split("::").at(-1) ?? "");
    const healthy = WORKER_CLUSTERS.map(
      (cluster) => valuesOf(cluster, "health_flags").filter((flags) => flags === "healthy").length,
    );
    const calls = WORKER_CLUSTERS.flatMap((cluster) => valuesOf(cluster, "rq_total"));
    return { healthy: Math.min(...healthy), calls: calls.reduce((sum, count) => sum + Number(count), 0) };
  };
  return { first: figuresOf(first.sockets), next: figuresOf(join(dir, NEXT)) };
}

function readAdmin(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, timeout: 2_000 }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => (body += part));
      response.once("end", () => resolve(body));
    });
    call.once("timeout", () => call.destroy(new Error(`Envoy's admin interface does not answer ${path}`)));
    call.once("error", reject);
    call.end();
  });
}
