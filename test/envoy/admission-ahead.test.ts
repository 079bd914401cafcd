/**
 * ext_authz lets a request of a known key pass before Redis has decided, and ext_proc, which comes to the same worker,
 * refuses what is refused: with the same answer, before anything goes upstream.
 */
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as startRequest } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { hashKey } from "../../src/data-path/auth/key-format.ts";
import { openRequestsKey, inflightKey, refusedKey } from "../../src/data-path/store/redis/keys.ts";
import { CHAT_PATH, chatBody, withChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";

const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
const alone = withChatStack();
const together = withSharedChatStack();

/** The request's line of the access log, found by its user agent: where a key is unknown, nothing else of ours is in it. */
async function readLine(chat: typeof alone, userAgent: string): Promise<Record<string, unknown>> {
  const file = join(chat.stack.dir, "data/logs/access.log");
  const find = (): string | false =>
    readFileSync(file, "utf8")
      .split("\n")
      .find((line) => line.includes(`"${userAgent}"`)) ?? false;
  const line = await waitFor("the line of the access log", find, { timeoutMs: 30_000 });
  return JSON.parse(line) as Record<string, unknown>;
}

/** Different with each answer; a cap that is reached takes its token before it refuses. */
const OF_ITS_TIME = [
  "date",
  "x-request-id",
  "request-id",
  "x-ratelimit-reset-requests",
  "x-ratelimit-remaining-requests",
  "x-service-ratelimit-remaining",
];

/** What a client reads of a refusal, but for ids and times. */
function comparable({ status, headers, text }: HttpAnswer): object {
  const others = Object.entries(headers).filter(([name]) => !OF_ITS_TIME.includes(name));
  const names = Object.keys(headers).toSorted();
  return {
    status,
    names,
    others: Object.fromEntries(others),
    text: text.replaceAll(/req_[0-9a-f-]+/gu, "…"),
  };
}

interface Case {
  readonly name: string;
  readonly change: (key: CreatedKey) => Promise<unknown>;
  readonly refused: string;
}

const pathOf = ({ id, organizationId }: CreatedKey) => `/api/organizations/${organizationId}/keys/${id}`;
const setKey = (body: object) => (key: CreatedKey) => alone.stack.admin("PATCH", pathOf(key), body);
const CASES: readonly Case[] = [
  { name: "its key is disabled", change: setKey({ disabled: true }), refused: "403 key_disabled" },
  {
    name: "its key's cap is reached",
    change: setKey({ hard_cap_cents: 0 }),
    refused: "402 hard_cap_reached",
  },
  {
    name: "its organization is suspended",
    change: ({ organizationId }) =>
      alone.stack.admin("PATCH", `/api/organizations/${organizationId}`, { suspended: true }),
    refused: "403 organization_suspended",
  },
  {
    name: "its key is deleted",
    change: (key) => alone.stack.admin("DELETE", pathOf(key)),
    refused: "401 invalid_api_key",
  },
  {
    name: "other hosts have emptied its bucket",
    change: async ({ id, key, organizationId }) => {
      const store = await alone.stack.store();
      const asked = {
        keyId: id,
        organizationId,
        presentedHash: hashKey(key),
        route: "",
        bucket: "requests",
      } as const;
      for (const requestId of Array.from({ length: 10 }, (_, index) => `req_other_${index}`)) {
        await store.admit({ ...asked, requestId, metered: false, promptTokens: 0 });
      }
    },
    refused: "429 rate_limit_exceeded",
  },
];

describe("a request that passes ext_authz ahead of its admission", () => {
  /** What the access log has to say of them; Envoy writes it every few seconds. */
  const refusals: { userAgent: string; line: object }[] = [];

  it.each(CASES)(
    "is refused at ext_proc as ext_authz refuses the next one, when $name",
    async ({ change, refused }) => {
      const key = await alone.stack.createKey({ requestsPerMinute: 6 });
      const send = (userAgent: string) =>
        alone.send({ key: key.key, body: chatBody(), headers: { "user-agent": userAgent } });
      expect((await send("first")).status).toBe(200);
      await change(key);
      alone.upstream.reset();
      const [ahead, next] = [await send(`ahead-${key.id}`), await send(`next-${key.id}`)];
      expect(`${ahead.status} ${readError(ahead).code}`).toBe(refused);
      expect(comparable(ahead)).toEqual(comparable(next));
      expect(alone.upstream.requests).toEqual([]);
      refusals.push(
        {
          userAgent: `ahead-${key.id}`,
          line: { code_details: "gateway", error_code: readError(ahead).code },
        },
        { userAgent: `next-${key.id}`, line: { code_details: "ext_authz_denied" } },
      );
    },
  );

  it("was one: the access log has its refusal as ext_proc's, and names its error", async () => {
    expect(refusals).toHaveLength(CASES.length * 2);
    for (const { userAgent, line } of refusals) {
      expect(await readLine(alone, userAgent)).toMatchObject(line);
    }
  });

  it.each(["a whole answer", "a stream"])(
    "tells the client how much is left, exactly, with %s",
    async (name) => {
      const stream = name === "a stream";
      const key = await alone.stack.createKey({ requestsPerMinute: 6 });
      const left: unknown[] = [];
      for (let sent = 0; sent < 3; sent += 1) {
        if (stream) {
          alone.upstream.answer({
            kind: "events",
            events: [textChunk("x"), finishChunk(), usageChunk(USAGE)],
          });
        } else alone.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
        const answer = await alone.send({ key: key.key, body: chatBody({ stream }) });
        left.push(
          answer.headers["x-service-ratelimit-remaining"],
          answer.headers["x-ratelimit-remaining-requests"],
        );
      }
      expect(left).toEqual(["9", "9", "8", "8", "7", "7"]);
    },
  );

  it("comes to the worker that knows it where Envoy has two", async () => {
    const key = await together.stack.createKey({ requestsPerMinute: 60_000 });
    const send = (userAgent: string) =>
      together.send({ key: key.key, body: chatBody(), headers: { "user-agent": userAgent } });
    // Both know the key.
    const first = await Promise.all(Array.from({ length: 40 }, () => send("first")));
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 200));
    await together.stack.admin("PATCH", pathOf(key), { disabled: true });
    const refused = await send(`together-${key.id}`);
    expect(refused.status).toBe(403);
    expect(await readLine(together, `together-${key.id}`)).toMatchObject({ code_details: "gateway" });
    expect(together.stack.readLogs()).not.toContain("admitted again");
  });
});

/** Sends the headers of a request whose body comes later, if it does. */
function sendHeadersAlone({ key }: CreatedKey, bodyBytes = 100): ClientRequest {
  const { hostname, port } = new URL(alone.stack.baseUrl);
  const headers = { authorization: `Bearer ${key}`, "content-length": String(bodyBytes) };
  const request = startRequest({ hostname, port, path: CHAT_PATH, method: "POST", headers });
  request.on("error", () => undefined);
  request.flushHeaders();
  return request;
}

describe("two keys in flight ahead of their admission", () => {
  it.each(["the refused one's", "the admitted one's"])(
    "each have their own decision, whichever body comes first: %s",
    async (first) => {
      const body = Buffer.from(JSON.stringify(chatBody()));
      const [refused, admitted] = [await alone.stack.createKey(), await alone.stack.createKey()];
      for (const { key } of [refused, admitted]) {
        expect((await alone.send({ key, body: chatBody() })).status).toBe(200);
      }
      await alone.stack.admin("PATCH", pathOf(refused), { disabled: true });
      alone.upstream.reset();
      const redis = new Redis(join(alone.stack.dir, "run/redis.sock"));
      const requests = [
        sendHeadersAlone(refused, body.length),
        sendHeadersAlone(admitted, body.length),
      ] as const;
      // At once: a refusal waits for no body.
      const answers = requests.map((request) => once(request, "response") as Promise<[IncomingMessage]>);
      try {
        await waitFor(
          "one refusal",
          async () => (await redis.xlen(refusedKey(refused.organizationId))) === 1,
        );
        await waitFor(
          "one admission",
          async () => (await redis.zcard(openRequestsKey(admitted.organizationId))) === 1,
        );
      } finally {
        redis.disconnect();
      }
      const order = first === "the refused one's" ? [0, 1] : [1, 0];
      for (const place of order) {
        requests[place]?.end(body);
        // oxlint-disable-next-line no-await-in-loop -- The other body comes once this one is answered.
        const [response] = (await answers[place]) ?? [];
        expect(response?.statusCode).toBe(place === 0 ? 403 : 200);
        response?.resume();
      }
      const ids = (await Promise.all(answers)).map(([{ headers }]) => headers["x-request-id"]);
      expect(new Set(ids).size).toBe(2);
      expect(alone.upstream.requests).toHaveLength(1);
    },
  );
});

describe.each([
  { workers: 1, chat: alone },
  { workers: 2, chat: together },
])("clients that leave while they are admitted ($workers)", ({ chat }) => {
  const CLIENTS = 20;
  const MAX_STAY_MS = 20;

  it("leave no entry: Envoy resets the check, often once it is answered", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 60_000 });
    const redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
    const leave = async (stayMs: number): Promise<void> => {
      const request = sendHeadersAlone(key);
      await once(request, "socket");
      await setTimeout(stayMs);
      request.destroy();
    };
    try {
      for (let stayMs = 0; stayMs < MAX_STAY_MS; stayMs += 1) {
        await Promise.all(Array.from({ length: CLIENTS }, async () => leave(stayMs)));
      }
      const countEntries = async () =>
        (await redis.zcard(openRequestsKey(key.organizationId))) +
        (await redis.zcard(inflightKey(key.organizationId, key.id)));
      await waitFor("their entries to go", async () => (await countEntries()) === 0, { timeoutMs: 5_000 });
      expect(await countEntries()).toBe(0);
    } finally {
      redis.disconnect();
    }
  });
});

describe("a key that abandons hundreds of requests behind their headers", () => {
  const ABANDONED = 300;

  it("leaves another key's requests their way ahead of the admission", async () => {
    const hostile = await alone.stack.createKey({ requestsPerMinute: 6_000 });
    expect((await alone.send({ key: hostile.key, body: chatBody() })).status).toBe(200);
    const redis = new Redis(join(alone.stack.dir, "run/redis.sock"));
    try {
      const requests = Array.from({ length: ABANDONED }, () => sendHeadersAlone(hostile));
      const entered = () => redis.zcard(openRequestsKey(hostile.organizationId));
      await waitFor("all are admitted", async () => (await entered()) >= ABANDONED);
      for (const request of requests) request.destroy();
    } finally {
      redis.disconnect();
    }
    const other = await alone.stack.createKey({ requestsPerMinute: 6 });
    const userAgent = `other-${other.id}`;
    const send = (name: string) =>
      alone.send({ key: other.key, body: chatBody(), headers: { "user-agent": name } });
    expect((await send("first")).status).toBe(200);
    await setKey({ disabled: true })(other);
    expect((await send(userAgent)).status).toBe(403);
    // It went ahead: ext_proc refused it.
    expect(await readLine(alone, userAgent)).toMatchObject({ code_details: "gateway" });
  });
});
