/** Sessions through the gateway: their names on every route, their caps, and where they show. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { connectRedis, GOLD_MODEL, messagesBody, METERED_CATALOG, readSpend } from "./metering-figures.ts";

// Models of this file alone: what a strict cap reserves grows with what others have taught the shared stack.
const TEXT_MODEL = "acme/session-text";
const EMBED_MODEL = "acme/session-embed";
const NATIVE_MODEL = "acme/session-native";
const PASSING_MODEL = "acme/passing";
/** A cent a token. */
const CENT_A_TOKEN = { USD: { input: "10000", cached_input: "10000", output: "10000" } };
const FORWARDED = "x-claude-code-session-id";

const chat = withSharedChatStack([
  ...METERED_CATALOG,
  catalogEntry({ id: TEXT_MODEL, capabilities: ["completions"], prices: CENT_A_TOKEN }),
  catalogEntry({
    id: EMBED_MODEL,
    max_output_tokens: undefined,
    capabilities: ["embeddings"],
    prices: { USD: { input: "10000" } },
  }),
  catalogEntry({ id: NATIVE_MODEL, upstream: "native", prices: CENT_A_TOKEN }),
  catalogEntry({ id: PASSING_MODEL, profile: { passthrough_fields: ["session_id"] } }),
]);

const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
const COMPLETION = textCompletion("x", USAGE);
const STRICT = { strictCaps: true };

const ROUTES = [
  { path: CHAT_PATH, body: chatBody({ model: GOLD_MODEL }), answer: COMPLETION },
  { path: "/v1/messages", body: messagesBody({ model: GOLD_MODEL }), answer: COMPLETION },
  { path: "/v1/responses", body: { model: GOLD_MODEL, input: "hello" }, answer: COMPLETION },
  {
    path: "/v1/completions",
    body: { model: TEXT_MODEL, prompt: "hello" },
    answer: {
      id: "cmpl-1",
      object: "text_completion",
      created: 1,
      model: "text",
      choices: [{ index: 0, text: "x", logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 },
    },
  },
  {
    path: "/v1/embeddings",
    body: { model: EMBED_MODEL, input: "hello" },
    answer: {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [0.25] }],
      model: "embed",
      usage: { prompt_tokens: 7, total_tokens: 7 },
    },
  },
  {
    path: "/v1/messages",
    body: messagesBody({ model: NATIVE_MODEL }),
    answer: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: CHAT_UPSTREAM_MODEL,
      content: [{ type: "text", text: "x" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  },
  {
    path: "/v1/responses",
    body: { model: NATIVE_MODEL, input: "hello" },
    answer: {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: CHAT_UPSTREAM_MODEL,
      output: [],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    },
  },
] as const;

interface Sent {
  readonly headers?: Record<string, string>;
  readonly fields?: object;
}

const [CHAT] = ROUTES;

function send(
  key: CreatedKey,
  { headers = {}, fields = {} }: Sent = {},
  route: (typeof ROUTES)[number] = CHAT,
) {
  chat.upstream.answer({ kind: "json", body: route.answer });
  return chat.send({ key: key.key, path: route.path, headers, body: { ...route.body, ...fields } });
}

const capped = (sessionCapCents: number | null = 1, organization: object = {}) =>
  chat.stack.createKey({ sessionCapCents, name: "ci" }, organization);

function told(answer: HttpAnswer): readonly unknown[] {
  return answer.status === 200 ? [200] : [answer.status, readError(answer).code];
}

/** Microcents that Redis has as spent by a session. */
async function spentBy(key: CreatedKey, name: string): Promise<bigint> {
  const redis = connectRedis(chat.stack);
  const sha1 = createHash("sha1").update(name).digest("hex");
  const spent = await redis.hget(`igw:{${key.organizationId}}:session:${key.id}:${sha1}`, "spent");
  redis.disconnect();
  return BigInt(spent ?? "0");
}

const pathOf = (key: CreatedKey, rest: string) => `/api/organizations/${key.organizationId}/${rest}`;

describe("the cap of a session", () => {
  it.each(
    ROUTES.flatMap((route) => [
      { route, by: "header", name: { headers: { "x-session-id": "run 1" } } },
      { route, by: "body", name: { fields: { session_id: "run 1" } } },
    ]).map((row) => ({ ...row, path: row.route.path, model: row.route.body.model })),
  )("refuses on $path with $model, by its $by, and lets others pass", async ({ route, name }) => {
    const key = await capped();
    expect(told(await send(key, name, route))).toEqual([200]);
    const { headers, body } = chat.upstream.lastRequest;
    expect([headers["x-session-id"], body?.["session_id"]]).toEqual([undefined, undefined]);
    const refused = await send(key, name, route);
    const spent = (await readSpend(chat.stack, key)).key;
    expect(told(refused)).toEqual([402, "session_cap_reached"]);
    expect(readError(refused)).toMatchObject({
      type: "billing_error",
      scope: "session",
      period: "session",
      resets_at: null,
      spent_cents: Number(spent / 1_000_000n),
      hard_cap_cents: 1,
    });
    expect(chat.upstream.requests).toHaveLength(1);
    const other = { headers: { "x-session-id": "run 2" } };
    expect(told(await send(key, other, route))).toEqual([200]);
    expect(told(await send(key, {}, route))).toEqual([200]);
    expect(await spentBy(key, "run 1")).toBe(spent);
  });

  it.each(["x-session-id", "x-claude-code-session-id", "session-id"])(
    "holds for what %s names, before what the body names",
    async (header) => {
      const key = await capped();
      const name = { headers: { [header]: "run 1" } };
      expect(told(await send(key, { ...name, fields: { session_id: "run 2" } }))).toEqual([200]);
      expect(told(await send(key, { fields: { session_id: "run 2" } }))).toEqual([200]);
      expect(told(await send(key, name))).toEqual([402, "session_cap_reached"]);
    },
  );

  it("is the smaller of the key's and the organization's, and of what its client has sent", async () => {
    const key = await capped(50, { sessionCapCents: 45 });
    const headers = { "x-session-id": "run 1" };
    const lower = (budget: string) => send(key, { headers: { ...headers, "x-session-budget": budget } });
    expect(told(await lower("9.00"))).toEqual([200]);
    expect(readError(await lower("0.20"))).toMatchObject({ hard_cap_cents: 20, spent_cents: 20 });
    expect(readError(await lower("0.40"))).toMatchObject({ hard_cap_cents: 20 });
    expect(readError(await send(key, { headers })).code).toBe("session_cap_reached");
    expect(chat.upstream.lastRequest.headers["x-session-budget"]).toBeUndefined();
    const other = { "x-session-id": "run 2" };
    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent += 1) statuses.push((await send(key, { headers: other })).status);
    expect(statuses).toEqual([200, 200, 200, 402]);
  });

  it("is its client's alone where there is none, from then on", async () => {
    const key = await capped(null);
    const headers = { "session-id": "run 1" };
    expect(told(await send(key, { headers: { ...headers, "x-session-budget": "0.20" } }))).toEqual([200]);
    expect(told(await send(key, { headers }))).toEqual([402, "session_cap_reached"]);
    expect(told(await send(key, { headers: { "session-id": "run 2" } }))).toEqual([200]);
  });

  it("is exact with strict caps, however many come at once over two workers", async () => {
    const key = await capped(1_000, STRICT);
    const usage = { promptTokens: 60, cachedTokens: 0, completionTokens: 10 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    const body = chatBody({ model: GOLD_MODEL, max_tokens: 10, session_id: "run 1" });
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await chat.send({ key: key.key, body })).status),
    );
    const passed = statuses.filter((status) => status === 200).length;
    // 503: Redis, on a machine that others use too, did not answer in time; such a request goes nowhere and costs nothing.
    expect(statuses.filter((status) => status === 402 || status === 503)).toHaveLength(100 - passed);
    expect(passed).toBeGreaterThanOrEqual(4);
    const { key: spent } = await readSpend(chat.stack, key);
    expect(spent).toBe(BigInt(passed) * 80_000_000n);
    expect(spent).toBeLessThanOrEqual(1_000_000_000n);
    expect(await spentBy(key, "run 1")).toBe(spent);
    expect(told(await chat.send({ key: key.key, body: { ...body, session_id: "run 2" } }))).toEqual([200]);
  });

  it("makes answers shorter, where that is wanted, to what it leaves room for", async () => {
    // A cent a token, so 300 of the answer fit beside the prompt.
    const key = await capped(600, { ...STRICT, onCap: "shrink" });
    chat.upstream.answer({ kind: "json", body: ROUTES[5].answer });
    const model = { model: NATIVE_MODEL, max_tokens: 5_000 };
    const fields = { ...model, session_id: "run 1" };
    const answer = await chat.send({ key: key.key, path: "/v1/messages", body: messagesBody(fields) });
    const free = await capped(null, STRICT);
    const asIs = await chat.send({ key: free.key, path: "/v1/messages", body: messagesBody(model) });
    expect([answer, asIs].map(({ status, headers }) => [status, headers["x-budget-max-tokens"]])).toEqual([
      [200, expect.stringMatching(/^[34]\d\d$/)],
      [200, undefined],
    ]);
  });

  it("says with strict caps how long an answer may be that still fits, which does", async () => {
    const key = await capped(300, STRICT);
    const ask = (limit: number) => send(key, { fields: { max_tokens: limit, session_id: "run 1" } });
    const refused = await ask(100);
    expect(told(refused)).toEqual([402, "session_cap_reached"]);
    const { affordable_max_tokens: affordable, message } = readError(refused) as unknown as {
      readonly affordable_max_tokens: number;
      readonly message: string;
    };
    expect(message).toContain(`You requested up to 100 tokens, but can only afford ${affordable}.`);
    expect(told(await ask(affordable + 1))).toEqual([402, "session_cap_reached"]);
    expect(told(await ask(affordable))).toEqual([200]);
  });

  it("counts what a stream has cost whose client went away", async () => {
    const key = await capped(10_000);
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const body = chatBody({ model: GOLD_MODEL, stream: true, session_id: "run 1" });
    await chat.send({ key: key.key, body, onData: () => "abort" });
    const spent = await waitFor("the charge", async () => {
      const { key: sum } = await readSpend(chat.stack, key);
      return sum > 0n && sum;
    });
    const same = await waitFor("the same in both", async () => {
      const { key: sum } = await readSpend(chat.stack, key);
      return (await spentBy(key, "run 1")) === sum && sum;
    });
    expect(same).toBeGreaterThanOrEqual(spent);
  });

  it("counts a stream to its end", async () => {
    const key = await capped(10_000);
    chat.upstream.answer({ kind: "events", events: [textChunk("x"), finishChunk(), usageChunk(USAGE)] });
    const body = chatBody({ model: GOLD_MODEL, stream: true, session_id: "run 1" });
    expect(told(await chat.send({ key: key.key, body }))).toEqual([200]);
    expect(await spentBy(key, "run 1")).toBe((await readSpend(chat.stack, key)).key);
  });
});

describe("a name of a session", () => {
  const ROW = /expected 1 to 128 printable ASCII characters/;

  it.each([
    { what: "empty", headers: { "x-session-id": "" }, param: "X-Session-Id" },
    { what: "too long", headers: { "session-id": "x".repeat(129) }, param: "Session-Id" },
    { what: "not ASCII", headers: { "x-claude-code-session-id": "grö" }, param: "X-Claude-Code-Session-Id" },
    { what: "a number", fields: { session_id: 17 }, param: "session_id" },
    { what: "empty", fields: { session_id: "" }, param: "session_id" },
    { what: "too long", fields: { session_id: "x".repeat(129) }, param: "session_id" },
    { what: "of two lines", fields: { session_id: "a\nb" }, param: "session_id" },
  ])("that is $what is a 400 which names $param", async ({ headers = {}, fields = {}, param }) => {
    const key = await capped(null);
    const answer = await send(key, { headers, fields });
    expect(told(answer)).toEqual([400, "invalid_parameter"]);
    expect(readError(answer)).toMatchObject({ param, message: expect.stringMatching(ROW) as string });
    expect(chat.upstream.requests).toEqual([]);
  });

  it.each(["2,50", "2.5", "-1", "", "1e3", "2.50 USD", "99999999999"])(
    "with the budget %j is a 400 which names X-Session-Budget",
    async (budget) => {
      const key = await capped(null);
      const answer = await send(key, { headers: { "x-session-id": "run 1", "x-session-budget": budget } });
      expect([...told(answer), readError(answer).param]).toEqual([
        400,
        "invalid_parameter",
        "X-Session-Budget",
      ]);
    },
  );

  it("is what a budget needs", async () => {
    const key = await capped(null);
    const headers = { "x-session-budget": "2.50" };
    const answer = await send(key, { headers });
    expect([...told(answer), readError(answer).param]).toEqual([
      400,
      "invalid_parameter",
      "X-Session-Budget",
    ]);
    expect(told(await send(key, { headers, fields: { session_id: "run 1" } }))).toEqual([200]);
  });

  it("of 128 characters is one, and null is none", async () => {
    const key = await capped();
    const long = { fields: { session_id: "x".repeat(128) } };
    expect([told(await send(key, long)), told(await send(key, long))]).toEqual([
      [200],
      [402, "session_cap_reached"],
    ]);
    const none = { fields: { session_id: null } };
    expect([told(await send(key, none)), told(await send(key, none))]).toEqual([[200], [200]]);
    expect(chat.upstream.lastRequest.body).not.toHaveProperty("session_id");
  });

  it("reaches an upstream whose profile or headers let it pass", async () => {
    const key = await capped(null);
    await send(key, { fields: { model: PASSING_MODEL, session_id: "run 1" } });
    expect(chat.upstream.lastRequest.body).toMatchObject({ session_id: "run 1" });
    await send(key, { headers: { [FORWARDED]: "run 1" } }, ROUTES[5]);
    expect(chat.upstream.lastRequest.headers[FORWARDED]).toBe("run 1");
  });
});

describe("a request's session", () => {
  it("is in the lists, by which it is found, and in the request log", async () => {
    const key = await capped();
    const headers = { "x-session-id": "run 1" };
    const answer = await send(key, { headers });
    const id = String(answer.headers["x-request-id"]);
    const refused = await send(key, { headers });
    await send(key, { fields: { session_id: "run 2" } });
    await send(key);
    const own = await chat.stack.send({ path: `/v1/requests/${id}`, key: key.key });
    expect(own.json()).toMatchObject({ session_id: "run 1", status: 200 });
    const list = async (query: string) => {
      const { data } = await chat.stack.admin("GET", pathOf(key, `requests${query}`));
      return (data as Record<string, unknown>[]).map((each) => each["session_id"]);
    };
    expect(await list("")).toEqual([null, "run 2", "run 1", "run 1"]);
    expect(await list("?session=run+1")).toEqual(["run 1", "run 1"]);
    expect(await list("?session=run")).toEqual([]);
    const one = await chat.stack.admin(
      "GET",
      pathOf(key, `requests/${String(refused.headers["x-request-id"])}`),
    );
    expect(one).toMatchObject({
      session_id: "run 1",
      checks: [{ name: "session_cap", passed: false, figures: { scope: "session", hard_cap_cents: 1 } }],
      explanation: {
        sentence: expect.stringContaining(
          'The cap of 0.01 USD for session "run 1" of API key "ci"',
        ) as string,
        action: { label: "Change this cap" },
      },
    });
    const dir = join(chat.stack.dir, "data/requests");
    const logged = () =>
      readdirSync(dir)
        .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n"))
        .filter((line) => line.includes(key.organizationId))
        .map((line) => String((JSON.parse(line) as { session_id: string | null }).session_id));
    const sessions = await waitFor("the lines", () => (logged().length === 4 ? logged() : false));
    const byName = (one: string, other: string) => one.localeCompare(other);
    expect(sessions.toSorted(byName)).toEqual(["null", "run 1", "run 1", "run 2"]);
  });

  it("is kept without what has the form of a credential, and stays another session than the next", async () => {
    const key = await capped();
    const names = ["a", "b"].map((letter) => `sk-${letter.repeat(40)}`);
    for (const name of names) expect(told(await send(key, { fields: { session_id: name } }))).toEqual([200]);
    for (const name of names) expect((await send(key, { fields: { session_id: name } })).status).toBe(402);
    const page = JSON.stringify(await chat.stack.admin("GET", pathOf(key, "requests")));
    expect(page).toContain("sk-[redacted] ");
    for (const name of names) expect(page).not.toContain(name);
  });
});
