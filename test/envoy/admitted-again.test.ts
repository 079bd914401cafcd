/**
 * A worker lets a request pass ext_authz before Redis has decided, and is gone when ext_proc calls it: another worker, or
 * its successor, admits the request again. A filter holds requests between the two calls.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { inflightKey, openRequestsKey } from "../../src/data-path/store/redis/keys.ts";
import { CHECKS_CLUSTER, PROCESSING_FILTER, SIDECAR_CLUSTER, WORKER_HEADER } from "../../src/envoy/names.ts";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { type HttpAnswer, readError, send } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { type EditableBootstrap, type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, type Gate, waitFor } from "../support/wait.ts";
import { readClusterCounter } from "./edge/envoy-counters.ts";
import {
  findWorker,
  readEndpoints,
  waitForHealthyWorkers,
  waitForNewWorkers,
  type WorkerProcess,
} from "./access/worker-processes.ts";

const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
/** 250 and 1,000 microcents a token. */
const COST = 7_500n;

const chat = withChatStack(() => ({ workers: 2 }));
/** What the filter between ext_authz and ext_proc sees of a request, and until when it holds it. */
let held: { worker: string | undefined; gate: Gate } | null = null;
let isHolding = false;
let holder: Server;
let redis: Redis;
const envoys: SideEnvoy[] = [];
/** Its admin socket has the name of the stack's Envoy, in another folder. */
const HOLDING = "envoy-admin";

beforeAll(async () => {
  holder = createServer((request, response) => {
    const gate = createGate();
    if (isHolding) held = { worker: request.headers[WORKER_HEADER] as string | undefined, gate };
    else gate.release();
    void gate.opened.then(() => response.end());
  });
  await new Promise<void>((resolve) => void holder.listen(0, "127.0.0.1", resolve));
  redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
  envoys.push(await startHoldingEnvoy(HOLDING, () => undefined));
  envoys.push(await startHoldingEnvoy("earlier", removeWorkerChoice));
  envoys.push(await startHoldingEnvoy("unaware", failHealthChecks));
});
afterAll(async () => {
  redis.disconnect();
  await Promise.all(envoys.map((envoy) => envoy.stop()));
  holder.close();
});

function startHoldingEnvoy(name: string, edit: (bootstrap: EditableBootstrap) => void): Promise<SideEnvoy> {
  const address = { address: "127.0.0.1", port_value: (holder.address() as AddressInfo).port };
  return startSideEnvoy({
    bootstrap: readFileSync(join(chat.stack.dir, "run/envoy.yaml"), "utf8"),
    dir: chat.stack.dir,
    name,
    concurrency: "1",
    edit(bootstrap) {
      const filters = bootstrap.manager["http_filters"] as { name: string }[];
      const place = filters.findIndex((filter) => filter.name === PROCESSING_FILTER);
      filters.splice(place, 0, HOLDING_FILTER);
      const endpoint = { address: { socket_address: address } };
      const load_assignment = { cluster_name: "holder", endpoints: [{ lb_endpoints: [{ endpoint }] }] };
      bootstrap.clusters.push({ name: "holder", type: "STATIC", load_assignment });
      edit(bootstrap);
    },
  });
}

const HOLDING_FILTER = {
  name: "holding",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    http_service: { server_uri: { uri: "http://holder", cluster: "holder", timeout: "60s" } },
    allowed_headers: { patterns: [{ exact: WORKER_HEADER }] },
  },
};

/** Envoy's configuration as it was before workers had names. */
function removeWorkerChoice({ manager, clusters }: EditableBootstrap): void {
  type Part = Record<string, unknown> & { typed_config: Record<string, unknown> };
  const [mutation] = manager["early_header_mutation_extensions"] as Part[];
  const mutations = mutation!.typed_config["mutations"] as object[];
  mutation!.typed_config["mutations"] = mutations.filter(
    (one) => !JSON.stringify(one).includes(WORKER_HEADER),
  );
  const filters = manager["http_filters"] as Part[];
  const processing = filters.find((filter) => filter["name"] === PROCESSING_FILTER);
  delete (processing!.typed_config["grpc_service"] as Record<string, unknown>)["initial_metadata"];
  const [sidecar] = clusters;
  delete sidecar!["load_balancing_policy"];
  sidecar!["lb_policy"] = "LEAST_REQUEST";
}

/** As if ext_proc's cluster had not noticed yet that workers are back. */
function failHealthChecks({ clusters }: EditableBootstrap): void {
  const [sidecar] = clusters;
  const [check] = sidecar!["health_checks"] as Record<string, unknown>[];
  delete check!["grpc_health_check"];
  check!["tcp_health_check"] = { receive: [{ text: Buffer.from("never sent").toString("hex") }] };
}

interface HeldRequest {
  readonly answer: Promise<HttpAnswer>;
  readonly worker: string | undefined;
  readonly release: () => void;
}

/** Sends a request and resolves once it is between the two calls. */
async function hold({ key }: CreatedKey, envoy = envoys[0]!): Promise<HeldRequest> {
  held = null;
  isHolding = true;
  const headers = { authorization: `Bearer ${key}`, [WORKER_HEADER]: "/forged.sock" };
  const answer = send(envoy.baseUrl, { path: CHAT_PATH, body: chatBody(), headers });
  const { worker, gate } = await waitFor("the held request", () => held ?? false);
  isHolding = false;
  return { answer, worker, release: () => gate.release() };
}

/** Holds requests until one has passed ahead of its admission. Those before it, at most one a worker, are answered. */
async function holdDeferred(
  key: CreatedKey,
): Promise<HeldRequest & { readonly before: readonly HttpAnswer[] }> {
  const before: HttpAnswer[] = [];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- One after the other.
    const request = await hold(key);
    if (request.worker !== "any") return { ...request, before };
    request.release();
    // oxlint-disable-next-line no-await-in-loop -- Its worker knows the key then.
    before.push(await request.answer);
    expect(before.length).toBeLessThanOrEqual(2);
  }
}

async function createSmallKey(settings: Partial<KeySettings> = {}): Promise<CreatedKey> {
  chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
  return chat.stack.createKey({ requestsPerMinute: 6, ...settings });
}

const indexOf = (worker: string | undefined) => Number(/gateway-(\d+)\.sock$/u.exec(worker ?? "")?.[1]);
const remainingOf = ({ headers }: HttpAnswer) => Number(headers["x-ratelimit-remaining-requests"]);

/** Workers that the test has ended. */
let ended: WorkerProcess[] = [];
const waitForSuccessors = () => waitForNewWorkers(chat.stack.configFile, join(chat.stack.dir, "run"), ended);

/** Ends the worker; with `restarts`, waits for its successor. */
async function endWorker(index: number, signal: "SIGKILL" | "SIGTERM", restarts: boolean): Promise<void> {
  const { configFile, dir } = chat.stack;
  const pid = findWorker(configFile, index);
  process.kill(pid, signal);
  ended = [{ index, pid }];
  if (restarts) return waitForSuccessors();
  const isSeen = async () => (await readEndpoints(dir))[index]!.connections === 0;
  await waitFor("Envoy to see its end", isSeen, { intervalMs: 5 });
}

const countAgain = () => chat.stack.readLogs().split("request admitted again").length - 1;

afterEach(async () => {
  await waitForSuccessors();
  await waitForHealthyWorkers(chat.stack.dir, 2);
});

describe("a request whose worker is gone when ext_proc calls it", () => {
  it.each([
    { when: "killed", signal: "SIGKILL" as const, restarts: false, settings: {} },
    { when: "killed and restarted", signal: "SIGKILL" as const, restarts: true, settings: {} },
    { when: "drained and restarted", signal: "SIGTERM" as const, restarts: true, settings: {} },
    {
      when: "killed, of a key with one slot",
      signal: "SIGKILL" as const,
      restarts: false,
      settings: { maxConcurrentRequests: 1 },
    },
  ])("is admitted again and charged once: $when", async ({ signal, restarts, settings }) => {
    const key = await createSmallKey(settings);
    const { organizationId, id } = key;
    const { before, worker, answer, release } = await holdDeferred(key);
    const again = countAgain();
    await endWorker(indexOf(worker), signal, restarts);
    release();
    const answered = await answer;
    expect(answered.status).toBe(200);
    await waitFor("the log's line", () => countAgain() === again + 1);
    expect(chat.upstream.requests).toHaveLength(before.length + 1);
    // A second token at most.
    expect(remainingOf(answered)).toBeGreaterThanOrEqual(remainingOf(before.at(-1)!) - 2);
    const store = await chat.stack.store();
    const countEntries = async () =>
      (await redis.zcard(openRequestsKey(organizationId))) +
      (await redis.zcard(inflightKey(organizationId, id)));
    await waitFor("its charge", async () => (await countEntries()) === 0);
    const { organizationMicrocents } = await store.readSpend(organizationId, null);
    expect(organizationMicrocents).toBe(COST * BigInt(before.length + 1));
    const page = await store.listRequests(organizationId, { limit: 50, after: null });
    const ids = page.items.map(({ requestId }) => requestId);
    expect(new Set(ids)).toEqual(
      new Set([...before, answered].map(({ headers }) => headers["x-request-id"])),
    );
    expect(ids).toHaveLength(before.length + 1);
  });

  it("is refused by the limits of that moment, and never goes upstream", async () => {
    const key = await createSmallKey();
    const { before, worker, answer, release } = await holdDeferred(key);
    const { organizationId, id } = key;
    await chat.stack.admin("PATCH", `/api/organizations/${organizationId}/keys/${id}`, { disabled: true });
    await endWorker(indexOf(worker), "SIGKILL", false);
    release();
    const answered = await answer;
    expect(`${answered.status} ${readError(answered).code}`).toBe("403 key_disabled");
    expect(chat.upstream.requests).toHaveLength(before.length);
  });
});

it("is served if ext_authz's cluster sees a worker earlier than ext_proc's", async () => {
  const { key } = await createSmallKey();
  const headers = { authorization: `Bearer ${key}` };
  for (let sent = 0; sent < 4; sent += 1) {
    // oxlint-disable-next-line no-await-in-loop -- One after the other.
    const answer = await send(envoys[2]!.baseUrl, { path: CHAT_PATH, body: chatBody(), headers });
    expect(answer.status).toBe(200);
  }
  const countHealthy = (cluster: string) =>
    readClusterCounter(envoys[2]!.adminSocket, cluster, "membership_healthy");
  expect(await countHealthy(CHECKS_CLUSTER)).toBeGreaterThan(0);
  expect(await countHealthy(SIDECAR_CLUSTER)).toBe(0);
});

describe("the header that names a worker", () => {
  it("is never the client's", async () => {
    const key = await createSmallKey();
    const { worker, before, answer, release } = await holdDeferred(key);
    release();
    expect((await answer).status).toBe(200);
    expect(before.length).toBeGreaterThan(0);
    const sockets = [0, 1].map((index) => join(chat.stack.dir, `run/gateway-${index}.sock`));
    expect(sockets).toContain(worker);
    const names = chat.upstream.requests.flatMap(({ headers }) => Object.keys(headers));
    expect(names.filter((name) => name.startsWith("x-igw-"))).toEqual([]);
  });

  it("is never set for an Envoy that doesn't follow it: ext_authz waits for Redis", async () => {
    const key = await createSmallKey();
    const again = countAgain();
    for (let sent = 0; sent < 6; sent += 1) {
      // oxlint-disable-next-line no-await-in-loop -- Both workers know the key after some.
      const { worker, answer, release } = await hold(key, envoys[1]);
      expect(worker).toBeUndefined();
      release();
      // oxlint-disable-next-line no-await-in-loop -- One after the other.
      expect((await answer).status).toBe(200);
    }
    expect(countAgain()).toBe(again);
  });
});
