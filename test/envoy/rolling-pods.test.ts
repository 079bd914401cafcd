/**
 * A pod of the chart is replaced behind a load balancer, in the steps that the chart takes, under load and with streams
 * open: nothing is refused, nothing is cut. A pod here is `serve` with an Envoy of its own; both pods share Redis.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";
import { startSteadyLoad } from "./steady-load.ts";

const STREAMS = 8;
const CLIENTS = 4;
const CLUSTER = "gateway-service";

let dir: string;
let upstream: ScriptedUpstream;
let old: ServeAlone;
let other: ServeAlone;
let balancer: Child;
let balancerUrl: string;
let key: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "igw-lb-"));
  upstream = await startUpstream();
  const options = { upstreamUrl: upstream.url, workers: 1, drainSeconds: 30 };
  old = await startServeAlone(options);
  other = await startServeAlone({ ...options, overrides: { redis: { url: old.redis.url } } });
  ({ key } = await createTestKey(old.store));
  await startBalancer();
}, 120_000);
afterAll(async () => {
  await balancer?.stop(10_000);
  await other?.stop();
  await old?.stop();
  await upstream?.close();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

const socketAddress = (port: number): object => ({
  socket_address: { address: "127.0.0.1", port_value: port },
});

/** The pods that the Service has, as its endpoints are told to a load balancer. */
function setEndpoints(pods: readonly ServeAlone[]): void {
  const endpoints = pods.map(({ baseUrl }) => ({
    endpoint: { address: socketAddress(Number(new URL(baseUrl).port)) },
  }));
  const assignment = {
    "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    cluster_name: CLUSTER,
    endpoints: [{ lb_endpoints: endpoints }],
  };
  const version = String(pods.length);
  writeFileSync(join(dir, "endpoints.new"), stringify({ version_info: version, resources: [assignment] }));
  renameSync(join(dir, "endpoints.new"), join(dir, "endpoints.yaml"));
}

/** A load balancer that knows nothing of the gateway and repeats nothing. */
async function startBalancer(): Promise<void> {
  setEndpoints([old, other]);
  const port = await findFreePort();
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "balancer",
    route_config: {
      virtual_hosts: [
        {
          name: "all",
          domains: ["*"],
          routes: [{ match: { prefix: "/" }, route: { cluster: CLUSTER, timeout: "0s" } }],
        },
      ],
    },
    http_filters: [
      {
        name: "router",
        typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  const endpoints = { path_config_source: { path: join(dir, "endpoints.yaml") }, resource_api_version: "V3" };
  const bootstrap = {
    node: { id: "balancer", cluster: "balancer" },
    admin: { address: { pipe: { path: join(dir, "admin.sock") } } },
    static_resources: {
      listeners: [
        {
          address: socketAddress(port),
          filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
        },
      ],
      clusters: [{ name: CLUSTER, type: "EDS", eds_cluster_config: { eds_config: endpoints } }],
    },
  };
  const file = join(dir, "balancer.yaml");
  writeFileSync(file, stringify(bootstrap));
  balancer = startChild(findEnvoy(), ["-c", file, "--disable-hot-restart", "--log-level", "warning"]);
  balancerUrl = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> => {
    if (balancer.ended !== null) throw new Error(balancer.stderr);
    const answer = await send(balancerUrl, { path: "/readyz", timeoutMs: 2_000 }).catch(() => null);
    return answer?.status === 200;
  };
  await waitFor("the load balancer", isUp, { timeoutMs: 20_000, intervalMs: 50 });
}

/** A call of an Envoy's admin interface. */
function callAdmin(socketPath: string, method: "GET" | "POST", path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, timeout: 5_000, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve(text));
    });
    call.once("error", reject);
    call.end();
  });
}

async function countEndpoints(): Promise<number> {
  const path = `/stats?filter=cluster.${CLUSTER}.membership_total`;
  return Number(/: (\d+)/.exec(await callAdmin(join(dir, "admin.sock"), "GET", path))?.[1] ?? -1);
}

/** Requests in flight in a pod's Envoy. */
async function countActive(pod: ServeAlone): Promise<number> {
  const path = "/stats?filter=http.gateway.downstream_rq_active";
  const text = await callAdmin(join(pod.sockets, "envoy-admin.sock"), "GET", path);
  return Number(/: (\d+)/.exec(text)?.[1] ?? 0);
}

describe("a pod that is replaced", () => {
  it("loses no stream and refuses no request: out of the Service, gateway, then Envoy", async () => {
    let streamsOfOld = 0;
    const load = await startSteadyLoad({
      baseUrl: balancerUrl,
      key,
      upstream,
      streams: STREAMS,
      clients: CLIENTS,
      onStreamsOpen: async () => {
        streamsOfOld = await countActive(old);
        expect(streamsOfOld).toBeGreaterThan(0);
      },
    });
    await waitFor("answers of both pods", () => load.count() > 40);

    // The chart's preStop, while the pod leaves the Service and serves on.
    await callAdmin(join(old.sockets, "envoy-admin.sock"), "POST", "/healthcheck/fail");
    const served = load.count();
    await waitFor("answers while the pod is leaving", () => load.count() > served + 20);
    setEndpoints([other]);
    await waitFor("the pod to be out of the Service", async () => (await countEndpoints()) === 1);
    await waitFor("its last short requests", async () => (await countActive(old)) === streamsOfOld);
    old.serve.signal("SIGTERM");
    const taken = load.count();
    await waitFor("answers of the other pod", () => load.count() > taken + 40);
    expect(old.serve.ended).toBeNull();

    expect(await load.finishStreams()).toBe(STREAMS);
    expect(await old.serve.waitForEnd(30_000)).toBe(0);
    await callAdmin(join(old.sockets, "envoy-admin.sock"), "POST", "/quitquitquit");
    const afterEnd = load.count();
    await waitFor("answers without the pod", () => load.count() > afterEnd + 20);
    expect(await load.stopClients()).toEqual(["200"]);
  });
});
