/** An upgrade of the sidecar behind one Envoy, under load and with streams open: nothing is refused, nothing is cut. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { loadConfig } from "../../src/config/load.ts";
import { workerSocketName } from "../../src/envoy/names.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";
import { createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { startSteadyLoad } from "./steady-load.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const WORKERS = 2;
const STREAMS = 6;
const CLIENTS = 4;

let upstream: ScriptedUpstream;
let stack: ServeAlone;
let envoy: SideEnvoy;
let key: string;
let next: Child | null = null;

beforeAll(async () => {
  upstream = await startUpstream();
});
beforeEach(async () => {
  stack = await startServeAlone({ upstreamUrl: upstream.url, workers: WORKERS, drainSeconds: 30 });
  ({ key } = await createTestKey(stack.store));
  envoy = await startEnvoyForBoth();
});
afterEach(async () => {
  upstream.reset();
  await next?.stop(15_000);
  next = null;
  await envoy.stop();
  await stack.stop();
});
afterAll(() => upstream.close());

const nextSockets = (): string => join(dirname(stack.configFile), "next");

/** One Envoy whose cluster has the workers of both generations, as replicas have while they are replaced. */
function startEnvoyForBoth(): Promise<SideEnvoy> {
  return startSideEnvoy({
    bootstrap: renderBootstrap(loadConfig(stack.configFile, { secrets: "none" })),
    dir: dirname(stack.configFile),
    name: "both",
    edit: ({ clusters }) => {
      const sidecar = clusters.find(({ name }) => name === "sidecar");
      const assignment = sidecar?.["load_assignment"] as { endpoints: { lb_endpoints: object[] }[] };
      const sockets = Array.from({ length: WORKERS }, (_, index) =>
        join(nextSockets(), workerSocketName(index)),
      );
      const added = sockets.map((path) => ({ endpoint: { address: { pipe: { path } } } }));
      assignment.endpoints[0]!.lb_endpoints.push(...added);
    },
  });
}

/** The next generation: the same Redis and configuration, sockets of its own. */
async function startNext(): Promise<Child> {
  const config = parse(readFileSync(stack.configFile, "utf8")) as Record<string, object>;
  const file = join(dirname(stack.configFile), "next.yaml");
  const admin = { host: "127.0.0.1", port: await findFreePort() };
  writeFileSync(
    file,
    stringify({ ...config, admin, data_dir: "next-data", sidecar: { workers: WORKERS, sockets: "next" } }),
  );
  return startChild(process.execPath, [MAIN, "serve", "--config", file], { cwd: dirname(file) });
}

/** Envoy counts every worker of both generations as healthy. */
async function healthyWorkers(): Promise<number> {
  const { request } = await import("node:http");
  const text = await new Promise<string>((resolve, reject) => {
    const path = "/stats?filter=cluster.sidecar.membership_healthy";
    request(
      { socketPath: join(dirname(stack.configFile), "both.sock"), path, timeout: 2_000 },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (part: string) => (body += part));
        response.once("end", () => resolve(body));
      },
    )
      .once("error", reject)
      .end();
  });
  return Number(/membership_healthy: (\d+)/.exec(text)?.[1] ?? 0);
}

describe("a rolling upgrade of the sidecar", () => {
  it("loses no stream and refuses no request while one generation takes over from the other", async () => {
    await waitFor("the first generation", async () => (await healthyWorkers()) === WORKERS);
    const load = await startSteadyLoad({
      baseUrl: envoy.baseUrl,
      key,
      upstream,
      streams: STREAMS,
      clients: CLIENTS,
    });
    await waitFor("some answers of the first generation", () => load.count() > 20);

    next = await startNext();
    await waitFor("both generations", async () => (await healthyWorkers()) === 2 * WORKERS, {
      timeoutMs: 40_000,
    });
    stack.serve.signal("SIGTERM");
    await waitFor("the first generation to be passed over", async () => (await healthyWorkers()) === WORKERS);
    const taken = load.count();
    await waitFor("answers of the second generation", () => load.count() > taken + 20);
    expect(stack.serve.ended).toBeNull();

    expect(await load.finishStreams()).toBe(STREAMS);
    expect(await stack.serve.waitForEnd(20_000)).toBe(0);
    const afterEnd = load.count();
    await waitFor("answers without the first generation", () => load.count() > afterEnd + 20);
    expect(await load.stopClients()).toEqual(["200"]);
  });
});
