/** The gateway's filters with an endpoint picker behind them, as deploy/examples/endpoint-picker puts them together. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { parseConfig } from "../../src/shared/config/load.ts";
import { CONTENT_LENGTH_FILTER } from "../../src/envoy/names.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { checkBootstrap } from "../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { startEdge, UpstreamStandIn } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { EndpointPicker } from "./edge/endpoint-picker.ts";
import { send } from "./edge/raw-client.ts";
import { passOn, route } from "./edge/sidecar-stand-in.ts";
import { waitFor } from "../support/wait.ts";

const PATH = "/v1/chat/completions";
const AUTHORIZED = { authorization: "Bearer good" };
const folder = fileURLToPath(new URL("../../deploy/examples/endpoint-picker", import.meta.url));
const PARTS = parse(readFileSync(`${folder}/parts.yaml`, "utf8")) as Record<string, Record<string, unknown>>;

type Part = Record<string, unknown>;
interface Bootstrap {
  static_resources: {
    listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
    clusters: Part[];
  };
}
interface Manager {
  http_filters: unknown[];
  route_config: { virtual_hosts: (Part & { routes: unknown[] })[] };
}

/** A rendered bootstrap with the example's parts in their places; the picker on this machine where a port is given. */
function addParts(text: string, pickerPort: number | null = null): string {
  const bootstrap = parse(text) as Bootstrap;
  const { listeners, clusters } = bootstrap.static_resources;
  const manager = listeners[0]!.filter_chains[0]!.filters[0]!.typed_config;
  const host = manager.route_config.virtual_hosts[0]!;
  const filters = manager.http_filters as { name: string }[];
  const length = filters.findIndex(({ name }) => name === CONTENT_LENGTH_FILTER);
  manager.http_filters.splice(length, 0, PARTS["http_filter"]);
  host.routes.splice(-1, 0, PARTS["route"]);
  Object.assign(host, PARTS["virtual_host"]);
  const pool = clusters.find(({ name }) => name === "pool")!;
  for (const [field, value] of Object.entries(PARTS["cluster_pool"] ?? {})) {
    if (value === null) delete pool[field];
    else pool[field] = value;
  }
  clusters.push(PARTS["cluster_picker"]!);
  // A busy machine may take longer than the example's second to connect.
  if (pickerPort !== null) pool["connect_timeout"] = "10s";
  const whole = stringify(bootstrap);
  if (pickerPort === null) return whole;
  return whole
    .replace("endpoint-picker.default.svc", "127.0.0.1")
    .replace("port_value: 9002", `port_value: ${pickerPort}`);
}

const picker = new EndpointPicker();
const servers = [new UpstreamStandIn(), new UpstreamStandIn(), new UpstreamStandIn()];
let endpoints: string[] = [];
let edge: Edge;

beforeAll(async () => {
  const pickerPort = await picker.start();
  endpoints = await Promise.all(servers.map(async (server) => `127.0.0.1:${await server.start()}`));
  edge = await startEdge({
    upstreams: ['{name: pool, url: "http://pool.invalid:8000"}'],
    editBootstrap: (text) => addParts(text, pickerPort),
  });
  picker.choose = () => endpoints[0] ?? null;
  await waitFor("an answer by the picker's choice", async () => (await ask("{}")).status === 200);
}, 60_000);
beforeEach(async () => {
  // A check of the configuration takes seconds on a slow machine, in which the stand-in answers no health check.
  await edge.waitForSidecar("healthy");
  edge.sidecar.reset();
  edge.upstream.reset();
  for (const server of servers) server.reset();
  picker.bodies.length = 0;
  picker.refuseWith = null;
});
afterAll(async () => {
  await edge.stop();
  picker.stop();
  for (const server of servers) server.stop();
});

/** One request that the sidecar has rewritten for the pool; with what the sidecar was told of its end. */
async function ask(body: string, headers: Record<string, string> = {}, upstream = "pool") {
  const ends: string[] = [];
  edge.sidecar.onProcess = (message) => {
    if (message.response_headers) ends.push(JSON.stringify(message.attributes ?? {}));
    return message.request_body ? route(message, upstream, PATH, body) : passOn(message);
  };
  const answer = await send(edge.port, "POST", PATH, { ...AUTHORIZED, ...headers }, '{"model":"acme/echo"}');
  const details = /code_details":\{"stringValue":"([^"]*)"/.exec(ends.join(""))?.[1];
  return { status: answer.status, details };
}

const countAll = () => [edge.upstream, ...servers].map(({ requests }) => requests.length);

describe("deploy/examples/endpoint-picker", () => {
  it("is a bootstrap that config check finds nothing wrong with", () => {
    const source = readFileSync(`${folder}/gateway.yaml`, "utf8");
    const config = parseConfig(source, { baseDir: "/etc", secrets: "none" });
    expect(checkBootstrap(addParts(renderBootstrap(config)), config)).toEqual([]);
  });
});

describe("an endpoint picker behind the gateway's ext_proc", () => {
  it("reads the rewritten body and chooses among three endpoints", async () => {
    picker.choose = (body) => endpoints[Number(/"to":(\d)/.exec(body)?.[1])] ?? null;
    const statuses = [];
    for (const to of [0, 1, 2, 1]) statuses.push((await ask(`{"model":"echo","to":${to}}`)).status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(countAll()).toEqual([0, 1, 2, 1]);
    expect(servers[2]!.requests[0]).toMatchObject({ path: PATH, body: '{"model":"echo","to":2}' });
    const { headers } = servers[2]!.requests[0]!;
    expect(headers).not.toHaveProperty("authorization");
    expect(headers).toMatchObject({ "content-length": "23" });
    expect(picker.bodies[0]).toBe('{"model":"echo","to":0}');
  });

  it("is not asked about requests for other upstreams, probes and refusals", async () => {
    expect(await ask("{}", {}, "main")).toMatchObject({ status: 200 });
    expect((await send(edge.port, "GET", "/healthz", {}, "")).status).toBe(200);
    expect((await send(edge.port, "POST", PATH, {}, "{}")).status).toBe(401);
    expect(picker.bodies).toEqual([]);
  });

  it("chooses alone: a client's own choice of an endpoint is not heard", async () => {
    picker.choose = () => null;
    const forged = { "x-gateway-destination-endpoint": endpoints[0]!, "x-igw-upstream": "main" };
    expect(await ask("{}", forged)).toMatchObject({ status: 503, details: "no_healthy_upstream" });
    expect(countAll()).toEqual([0, 0, 0, 0]);
  });

  it("is not asked again when its endpoint takes no connection: the second try goes there, too", async () => {
    picker.choose = () => "127.0.0.1:9";
    const { status, details } = await ask("{}");
    expect(status).toBe(503);
    expect(details).toContain("remote_connection_failure");
    expect(picker.bodies).toHaveLength(1);
    expect(countAll()).toEqual([0, 0, 0, 0]);
  });

  it.each([429, 503])("that refuses with %i is a 503, and nothing is sent", async (status) => {
    picker.refuseWith = status;
    expect(await ask("{}")).toMatchObject({ status: 503 });
    expect(countAll()).toEqual([0, 0, 0, 0]);
  });

  it("that is gone is a 503 of which the sidecar knows that nothing was sent", async () => {
    picker.stop();
    const { status, details } = await ask("{}");
    expect(status).toBe(503);
    expect(details).toMatch(/^ext_proc_error/);
    expect(countAll()).toEqual([0, 0, 0, 0]);
    expect(await ask("{}", {}, "main")).toMatchObject({ status: 200 });
  });
});
