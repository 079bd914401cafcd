/** A guardrail between ext_authz and the gateway's ext_proc, as deploy/examples/guardrail puts them together. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse, stringify } from "yaml";
import { parseConfig } from "../../src/shared/config/load.ts";
import { PROCESSING_FILTER } from "../../src/envoy/names.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { checkBootstrap } from "../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { send, type SendOptions } from "../support/http.ts";
import { textChunk, textCompletion } from "../support/scripted-answer.ts";
import { type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";

type Part = Record<string, unknown>;
interface Manager {
  readonly http_filters: Part[];
  readonly route_config: { readonly virtual_hosts: (Part & { readonly routes: Part[] })[] };
}

const FOLDER = fileURLToPath(new URL("../../deploy/examples/guardrail", import.meta.url));
const PARTS = parse(readFileSync(join(FOLDER, "parts.yaml"), "utf8")) as Record<string, Part>;
const WORD = "xylophone";
const USAGE = { promptTokens: 100, cachedTokens: 0, completionTokens: 20 };
/** 250 and 1,000 microcents a token. */
const COST = 45_000n;
const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses"] as const;

/** Puts the example's parts where its comments say. */
function addParts(manager: Manager, clusters: Part[], port: number): void {
  const { http_filters: filters, route_config: routing } = manager;
  const place = filters.findIndex(({ name }) => name === PROCESSING_FILTER);
  filters.splice(place, 0, PARTS["http_filter"]!);
  const host = routing.virtual_hosts[0]!;
  Object.assign(host, PARTS["virtual_host"]);
  const last = host.routes.at(-1)!;
  last["typed_per_filter_config"] = { ...(last["typed_per_filter_config"] as Part), ...PARTS["last_route"] };
  clusters.push(parse(stringify(PARTS["cluster"]).replace("9100", String(port))) as Part);
}

function bodyOf(path: (typeof PATHS)[number], text: string, fields: object = {}): object {
  if (path === "/v1/responses") return { model: CHAT_MODEL, input: text, ...fields };
  return chatBody({ max_tokens: 50, ...fields }, text);
}

describe("deploy/examples/guardrail", () => {
  const config = parseConfig(
    `
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog: [{id: acme/echo, upstream: local, upstream_model: echo, context_window: 1000, max_output_tokens: 100, prices: {USD: {input: "1", output: "1"}}}]
`,
    { baseDir: "/", env: {} },
  );

  /** What config check finds after a change of the guardrail's filters or their order. */
  function check(change: (filters: Part[], guardrail: Part) => void) {
    const bootstrap = parse(renderBootstrap(config)) as {
      static_resources: {
        listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
        clusters: Part[];
      };
    };
    const { listeners, clusters } = bootstrap.static_resources;
    const manager = listeners[0]!.filter_chains[0]!.filters[0]!.typed_config;
    addParts(manager, clusters, 9100);
    const place = manager.http_filters.findIndex(({ name }) => name === PARTS["http_filter"]!["name"]);
    const copy = structuredClone(manager.http_filters[place]!);
    manager.http_filters[place] = copy;
    change(manager.http_filters, copy["typed_config"] as Part);
    return checkBootstrap(stringify(bootstrap), config).map(({ check: name, message }) => ({
      name,
      message,
    }));
  }

  it("is a bootstrap that config check finds nothing wrong with", () => {
    expect(check(() => undefined)).toEqual([]);
  });

  it("is a problem before ext_authz", () => {
    const found = check((filters) => {
      const place = filters.findIndex(({ name }) => name === PARTS["http_filter"]!["name"]);
      const [guardrail] = filters.splice(place, 1);
      filters.unshift(guardrail!);
    });
    expect(found).toEqual([
      { name: "filter_order", message: expect.stringContaining("comes before ext_authz") as string },
    ]);
  });

  it.each([
    ["forward_rules", "would see API keys"],
    ["mutation_rules", "could replace the gateway's own headers"],
    ["metadata_options", "wouldn't know what the guardrail blocks"],
  ])("is a problem without %s", (field, message) => {
    const found = check((_filters, guardrail) => {
      delete guardrail[field];
    });
    expect(found).toEqual([{ name: "guardrail", message: expect.stringContaining(message) as string }]);
  });
});

describe("a guardrail in Envoy's chain", () => {
  // Envoy's reports come to one of two workers, not always to the one that knows the request.
  const chat = withSharedChatStack();
  let guardrail: Child | undefined;
  let envoy: SideEnvoy | undefined;
  let redis: Redis | undefined;

  beforeAll(async () => {
    const port = await findFreePort();
    const env = { ...process.env, PORT: String(port), BLOCKED_WORDS: WORD };
    guardrail = startChild(process.execPath, [join(FOLDER, "guardrail.mjs")], { env });
    await guardrail.waitForLine("the guardrail", (line) => (line.includes(String(port)) ? line : null));
    envoy = await startSideEnvoy({
      bootstrap: readFileSync(join(chat.stack.dir, "run/envoy.yaml"), "utf8"),
      dir: chat.stack.dir,
      name: "guarded",
      edit: ({ manager, clusters }) => addParts(manager as unknown as Manager, clusters, port),
    });
    redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
  });
  afterAll(async () => {
    redis?.disconnect();
    await envoy?.stop();
    await guardrail?.stop();
  });

  const ask = (key: CreatedKey, options: SendOptions) =>
    send(envoy!.baseUrl, { ...options, headers: { authorization: `Bearer ${key.key}`, ...options.headers } });

  async function rowsOf({ organizationId }: CreatedKey, count: number) {
    const store = await chat.stack.store();
    return waitFor(`${count} rows`, async () => {
      const { items } = await store.listRequests(organizationId, { limit: 50, after: null });
      return items.length === count ? items : null;
    });
  }

  /** Waits for Envoy's reports, too. */
  const blockedRowsOf = (key: CreatedKey, count: number) =>
    waitFor("their cause", async () => {
      const rows = await rowsOf(key, count);
      return rows.every(({ errorCode }) => errorCode !== null) ? rows : null;
    });

  async function spentBy({ organizationId }: CreatedKey): Promise<bigint> {
    const store = await chat.stack.store();
    return (await store.readSpend(organizationId, null)).organizationMicrocents;
  }

  /** Envelope, ids and rate header of a block. */
  function expectBlocked(answer: Awaited<ReturnType<typeof ask>>, path: string): void {
    const id = answer.headers["x-request-id"];
    expect(id).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(answer.status).toBe(403);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "request-id": id,
      "x-should-retry": "false",
    });
    expect(Number(answer.headers["x-service-ratelimit-remaining"])).toBeGreaterThan(0);
    const body = answer.json();
    const message = "A guardrail blocked this request. The text contains a blocked word.";
    expect(body["error"]).toMatchObject({ code: "guardrail_blocked", message, request_id: id });
    expect(body["type"]).toBe(path === "/v1/messages" ? "error" : undefined);
  }

  const CAUSE = {
    errorCode: "guardrail_blocked",
    checks: [{ name: "guardrail", passed: false, figures: { reason: "blocked_word" } }],
  };

  it.each(PATHS)("passes requests and responses of %s without the word, in full", async (path) => {
    const key = await chat.stack.createKey();
    const answer = await ask(key, { path, body: bodyOf(path, "a quiet piano") });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("a quiet piano");
    const streamed = await ask(key, { path, body: bodyOf(path, "a quiet piano", { stream: true }) });
    expect(streamed.status).toBe(200);
    expect(streamed.text).toContain("piano");
    const [first, second] = await rowsOf(key, 2);
    expect([first?.errorCode, second?.errorCode]).toEqual([null, null]);
    expect(first?.costMicrocents).toBeGreaterThan(0n);
  });

  it("blocks a request as guardrail_blocked: nothing sent, nothing charged, on the list, and its entry gone", async () => {
    const key = await chat.stack.createKey();
    for (const path of PATHS) {
      const text = JSON.stringify(bodyOf(path, `play the ${WORD}`));
      const headers = { "content-type": "application/json" };
      // With a length, the later ones pass ext_authz before Redis has decided; without one they don't.
      expectBlocked(await ask(key, { path, body: text, headers }), path);
      expectBlocked(await ask(key, { path, chunks: [text.slice(0, 9), text.slice(9)], headers }), path);
    }
    expect(chat.upstream.requests).toEqual([]);
    for (const row of await rowsOf(key, 6)) {
      expect(row).toMatchObject({ ...CAUSE, status: 403, costMicrocents: 0n });
    }
    await waitFor(
      "no entries",
      async () => (await redis!.zcard(`igw:{${key.organizationId}}:open-requests`)) === 0,
    );
    expect(await spentBy(key)).toBe(0n);
  });

  it("blocks a response, which is charged in full and listed with its cause", async () => {
    const key = await chat.stack.createKey();
    for (const [index, path] of PATHS.entries()) {
      chat.upstream.answer({ kind: "json", body: textCompletion(`the ${WORD} plays`, USAGE) });
      expectBlocked(await ask(key, { path, body: bodyOf(path, "play") }), path);
      for (const row of await blockedRowsOf(key, index + 1)) {
        expect(row).toMatchObject({ ...CAUSE, status: 403, costMicrocents: COST, outputTokens: 20 });
      }
    }
    expect(await spentBy(key)).toBe(BigInt(PATHS.length) * COST);
  });

  it.each(PATHS)(
    "ends a stream of %s with an error event; what was generated is charged, with its cause",
    async (path) => {
      const key = await chat.stack.createKey();
      const goesOn = createGate();
      onTestFinished(() => goesOn.release());
      const events = [textChunk("the xylo"), textChunk("phone"), goesOn, textChunk(" plays")];
      chat.upstream.answer({ kind: "events", events });
      const streamed = await ask(key, { path, body: bodyOf(path, "play", { stream: true }) });
      expect(streamed).toMatchObject({ status: 200, complete: true });
      expect(streamed.text).toContain('"guardrail_blocked"');
      expect(streamed.text).not.toContain("plays");
      const [row] = await blockedRowsOf(key, 1);
      expect(row).toMatchObject({ status: 200, errorCode: "guardrail_blocked", estimated: true });
      expect(row?.trace.upstream?.cause).toBe("guardrail: blocked_word");
      expect(row?.costMicrocents).toBeGreaterThan(0n);
      expect(row?.costMicrocents).toBe(await spentBy(key));
    },
  );

  it("sees neither keys nor rejections, and no client can pose as it", async () => {
    const key = await chat.stack.createKey({ allowedModels: [] });
    const forged = { "x-igw-admission": "forged", inference_gateway_guardrail: "reason" };
    const refused = await ask(key, { path: PATHS[0], body: bodyOf(PATHS[0], "a piano"), headers: forged });
    expect(refused.json()).toMatchObject({ error: { code: "model_not_allowed" } });
    const stranger = await send(envoy!.baseUrl, { path: PATHS[0], body: bodyOf(PATHS[0], WORD) });
    expect(stranger.json()).toMatchObject({ error: { code: "missing_api_key" } });
  });

  it("that is gone is a 503 without a charge", async () => {
    const key = await chat.stack.createKey();
    await guardrail!.stop();
    const answer = await ask(key, { path: PATHS[0], body: bodyOf(PATHS[0], "a piano") });
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ error: { code: "gateway_unavailable" } });
    expect(chat.upstream.requests).toEqual([]);
    expect(await spentBy(key)).toBe(0n);
  });
});
