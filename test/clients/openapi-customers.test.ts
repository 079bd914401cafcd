/**
 * What a key is answered by the real Envoy, held by Python's validator against the customers' OpenAPI document: bodies,
 * headers, and the codes that it names for each status. No `internal_error` can be brought about from outside.
 */
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createKey } from "../../src/data-path/auth/key-format.ts";
import { startServeAlone } from "../envoy/access/serve-alone.ts";
import { GOLD_MODEL, METERED_CATALOG } from "../envoy/metering-figures.ts";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import { OPENAPI_DOCUMENTS } from "../support/openapi-documents.ts";
import { withPython } from "../support/python.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import { monthLimits } from "../support/month-limits.ts";

interface Described {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } };
}
type Paths = Readonly<Record<string, { readonly get: { readonly responses: Record<string, Described> } }>>;

const document = OPENAPI_DOCUMENTS.find(({ name }) => name === "openapi-customers.json")?.content ?? {};
const paths = document["paths"] as Paths;

const chat = withSharedChatStack(METERED_CATALOG);
const player = withPython("openapi_document.py");

/** What of an answer is not as the document says that `GET path` answers with this status. */
async function findBreaches(path: string, answer: HttpAnswer): Promise<string[]> {
  const described = paths[path]?.get.responses[answer.status];
  if (described === undefined) return [`${path} has no answer ${answer.status}: ${answer.text}`];
  const check = (reference: string, value: unknown) =>
    player.play("check", { document, reference, value }) as Promise<string[]>;
  const breaches = await check(described.content["application/json"].schema.$ref, answer.json());
  for (const [name, { $ref }] of Object.entries(described.headers ?? {})) {
    const text = answer.headers[name];
    const value = typeof text === "string" && /^\d+$/.test(text) ? Number(text) : text;
    const found = value === undefined ? ["is missing"] : await check(`${$ref}/schema`, value);
    breaches.push(...found.map((breach) => `${name}: ${breach}`));
  }
  const { error } = answer.json() as { error?: { code: string } };
  if (error !== undefined && !described.description.includes(`\`${error.code}\``)) {
    breaches.push(`${answer.status} does not name ${error.code}`);
  }
  return breaches;
}

describe("the customers' document", () => {
  let requestId = "";
  beforeAll(async () => {
    chat.upstream.answer({
      kind: "json",
      body: textCompletion("x", { promptTokens: 10, cachedTokens: 4, completionTokens: 5 }),
    });
    const answer = await chat.send({
      body: chatBody({ model: "gold" }),
      headers: { "x-tags": "team=search" },
    });
    requestId = String(answer.headers["x-request-id"]);
  });

  it("says what GET /v1/key answers, with caps and without", async () => {
    const expiresAtMs = Date.UTC(2096, 0, 1);
    const limits = {
      limits: monthLimits({ cap: 5_000, budget: 4_000 }),
      allowedModels: [GOLD_MODEL],
      expiresAtMs,
    };
    const { key } = await chat.stack.createKey(limits, { limits: monthLimits({ cap: 10_000 }) });
    for (const each of [key, chat.key.key]) {
      const answer = await chat.stack.send({ path: "/v1/key", key: each });
      expect(answer.status).toBe(200);
      expect(await findBreaches("/v1/key", answer)).toEqual([]);
    }
  });

  it("says what GET /v1/requests/{request_id} answers, of one that was charged and of one that was refused", async () => {
    const refused = await chat.send({ body: chatBody({ model: "acme/none" }) });
    for (const id of [requestId, String(refused.headers["x-request-id"])]) {
      const answer = await chat.send({ method: "GET", path: `/v1/requests/${id}` });
      expect(answer.status).toBe(200);
      expect(await findBreaches("/v1/requests/{request_id}", answer)).toEqual([]);
    }
  });

  it("says what GET /v1/usage answers, which is the key's own by day and model", async () => {
    const read = () => chat.send({ method: "GET", path: "/v1/usage" });
    const [today = ""] = new Date().toISOString().split("T");
    const charged = { model: GOLD_MODEL, requests: 1, input_tokens: 6, cached_input_tokens: 4 };
    await expect.poll(async () => (await read()).json()).toMatchObject({ to: today, data: [charged] });
    const other = (await chat.stack.createKey()).key;
    const empty = await chat.stack.send({ path: "/v1/usage", key: other });
    expect(empty.json()).toMatchObject({ data: [], has_more: false, next: null });
    for (const answer of [empty, await read()]) expect(await findBreaches("/v1/usage", answer)).toEqual([]);
  });

  it.each(["/v1/models", "/v1/models?include=aliases&limit=2"])("says what GET %s answers", async (path) => {
    const answer = await chat.send({ method: "GET", path });
    expect(answer.status).toBe(200);
    expect(await findBreaches("/v1/models", answer)).toEqual([]);
  });

  it.each([GOLD_MODEL, encodeURIComponent(GOLD_MODEL), "gold"])(
    "says what GET /v1/models/%s answers",
    async (model) => {
      const answer = await chat.send({ method: "GET", path: `/v1/models/${model}` });
      expect(answer.status).toBe(200);
      expect(await findBreaches("/v1/models/{model}", answer)).toEqual([]);
    },
  );

  it.each([
    ["/v1/requests/{request_id}", "/v1/requests/req_1", 404],
    ["/v1/models", "/v1/models?limit=0", 400],
    ["/v1/models/{model}", "/v1/models/acme/none", 404],
  ])("says how %s refuses %s", async (path, asked, status) => {
    const answer = await chat.send({ method: "GET", path: asked });
    expect(answer.status).toBe(status);
    expect(await findBreaches(path, answer)).toEqual([]);
  });

  describe.each(Object.keys(paths))("of GET %s", (path) => {
    const asked = path.replace("{request_id}", "req_1").replace("{model}", GOLD_MODEL);

    it.each([
      ["no key", () => null, 401],
      ["a key that is none", () => createKey(), 401],
      ["a disabled key", async () => (await chat.stack.createKey({ disabled: true })).key, 403],
      ["an expired key", async () => (await chat.stack.createKey({ expiresAtMs: 1 })).key, 403],
      [
        "a suspended organization",
        async () => (await chat.stack.createKey({}, { suspended: true })).key,
        403,
      ],
      ["a key whose bucket is empty", () => createDrainedKey(chat, 1), 429],
    ])("says how %s is refused", async (_what, make, status) => {
      const answer = await chat.stack.send({ path: asked, key: await make() });
      expect(answer.status).toBe(status);
      expect(await findBreaches(path, answer)).toEqual([]);
    });
  });

  it("says how everything is refused while Redis is unreachable", async () => {
    const upstreamUrl = chat.upstream.url;
    const alone = await startServeAlone({ upstreamUrl, workers: 1, drainSeconds: 1, isRedisAway: true });
    onTestFinished(() => alone.stop());
    const headers = { authorization: `Bearer ${createKey()}` };
    for (const path of Object.keys(paths)) {
      const answer = await send(alone.baseUrl, { path: path.replace(/\{\w+\}/, "acme"), headers });
      expect(answer.status).toBe(503);
      expect(await findBreaches(path, answer)).toEqual([]);
    }
  });

  it("would find a field that it does not name, one that is missing, and a code", async () => {
    const answer = await chat.send({ method: "GET", path: "/v1/key" });
    const { name: _name, ...rest } = answer.json();
    const other = { ...answer, json: () => ({ ...rest, more: 1, error: { code: "other" } }) };
    const found = (await findBreaches("/v1/key", other)).join("\n");
    for (const breach of ["'name' is a required", "'more' were unexpected", "does not name other"]) {
      expect(found).toContain(breach);
    }
  });
});
