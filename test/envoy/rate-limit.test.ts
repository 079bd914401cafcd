import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { chatBody, withChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import type { CreatedKey } from "../support/test-key.ts";

const UNITS_PER_TOKEN = 60_000_000n;
const CONNECTIONS = 16;
/** So long as a bucket is counted. */
const COUNTED_MS = byExtent({ push: 1_000, nightly: 3_000 });

/** Between the requests of a connection: demand stays ten times the highest rate. */
const PAUSE_MS = 40;
const WORKERS = byExtent({ push: 2, nightly: 4 });

const chat = byExtent({
  push: withSharedChatStack,
  nightly: () => withChatStack(() => ({ workers: WORKERS })),
})();
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
let redis: Redis;

beforeAll(() => {
  redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
});

afterAll(() => {
  redis.disconnect();
  agent.destroy();
});

interface BucketState {
  readonly units: bigint;
  /** Redis's clock at the last admission, microseconds. */
  readonly at: bigint;
}

async function readBucket(key: CreatedKey): Promise<BucketState> {
  const [units, at] = await redis.hmget(requestBucketKey(key.organizationId, key.id), "units", "at");
  return { units: BigInt(units ?? "0"), at: BigInt(at ?? "0") };
}

/** Sends one request after another on every connection until the time is up; returns how many were granted. */
async function demand(key: CreatedKey, durationMs: number): Promise<{ granted: number; refused: number }> {
  const count = { granted: 0, refused: 0 };
  const end = performance.now() + durationMs;
  const send = async () => {
    while (performance.now() < end) {
      const answer = await chat.stack.send({ path: "/v1/models", key: key.key, agent });
      if (answer.status === 200) count.granted += 1;
      else if (answer.status === 429) count.refused += 1;
      else throw new Error(`status ${answer.status}: ${answer.text}`);
      await wait(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  return count;
}

describe(`the bucket over ${WORKERS} workers`, () => {
  it.each([
    { requestsPerMinute: 60, capacity: 10 },
    { requestsPerMinute: 600, capacity: 60 },
    // Thirty a second: a slow machine must be able to ask for more than that.
    { requestsPerMinute: 1800, capacity: 180 },
  ])(
    "grants exactly its rate at $requestsPerMinute rpm, to the unit, while demand never stops",
    async (limit) => {
      const key = await chat.stack.createKey({ requestsPerMinute: limit.requestsPerMinute });
      // Until it is empty once, so that it is never full while it is counted.
      for (let refused = 0; refused === 0;) refused = (await demand(key, 500)).refused;
      const before = await readBucket(key);
      const { granted, refused } = await demand(key, COUNTED_MS);
      const after = await readBucket(key);
      const added = (after.at - before.at) * BigInt(limit.requestsPerMinute);
      expect(refused).toBeGreaterThan(0);
      expect(BigInt(granted) * UNITS_PER_TOKEN).toBe(before.units + added - after.units);
    },
  );

  it("starts full, with its capacity in one burst", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 60 });
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => chat.stack.send({ path: "/v1/models", key: key.key, agent })),
    );
    const granted = answers.filter((answer) => answer.status === 200).length;
    // A token a second comes back while the burst runs.
    expect(granted).toBeGreaterThanOrEqual(10);
    expect(granted).toBeLessThan(14);
  });

  it("counts remaining down on every response, and keeps the fraction when the rate changes", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 60 });
    const remaining = async () => {
      const answer = await chat.stack.send({ path: "/v1/models", key: key.key });
      return Number(answer.headers["x-service-ratelimit-remaining"]);
    };
    expect([await remaining(), await remaining(), await remaining()]).toEqual([9, 8, 7]);
    const store = await chat.stack.store();
    await store.changeKey(
      { organizationId: key.organizationId, keyId: key.id },
      { requestsPerMinute: 600 },
      null,
    );
    const after = await remaining();
    // Seven to eight tenths of 60, less the one that this request took.
    expect(after).toBeGreaterThanOrEqual(41);
    expect(after).toBeLessThanOrEqual(50);
  });
});

describe("a refusal by the bucket", () => {
  const drained = async (settings: { name: string }) => {
    const key = await chat.stack.createKey({ requestsPerMinute: 1, ...settings });
    for (let status = 200; status !== 429;) {
      status = (await chat.stack.send({ path: "/v1/models", key: key.key })).status;
    }
    return key;
  };

  it.each([
    { route: "/v1/chat/completions", envelope: "chat" },
    { route: "/v1/messages", envelope: "messages" },
  ])("carries every header and the envelope of $route", async ({ route, envelope }) => {
    const key = await drained({ name: "ci" });
    const answer = await chat.stack.send({ path: route, key: key.key, body: chatBody() });
    expect(answer.status).toBe(429);
    const id = String(answer.headers["x-request-id"]);
    expect(id).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "request-id": id,
      "x-service-ratelimit-remaining": "0",
      "x-should-retry": "true",
      // A key below 2 rpm is told the longest wait that every SDK honours.
      "retry-after": "59",
    });
    const named =
      envelope === "chat" ? "x-ratelimit-remaining-requests" : "anthropic-ratelimit-requests-remaining";
    expect(answer.headers[named]).toBe("0");
    const error = {
      message: expect.stringMatching(
        /^Rate limit of 1 request per minute for API key "ci" reached\. Try again in 59 seconds\.$/,
      ),
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      param: null,
      request_id: id,
      doc_url: expect.stringMatching(/\/errors#rate_limit_exceeded$/),
    };
    expect(answer.json()).toEqual(
      envelope === "chat"
        ? { error }
        : { type: "error", error: { ...error, details: { error_code: error.code } }, request_id: id },
    );
    expect(answer.text).not.toMatch(/quota|billing|credit/i);
  });

  it("takes no token from a key that is disabled", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 1, disabled: true });
    const left: unknown[] = [];
    for (let sent = 0; sent < 2; sent += 1) {
      const answer = await chat.stack.send({ path: "/v1/models", key: key.key });
      left.push(answer.status, answer.headers["x-service-ratelimit-remaining"]);
    }
    expect(left).toEqual([403, "10", 403, "10"]);
  });

  it("reaches no upstream and costs nothing", async () => {
    const key = await drained({ name: "ci" });
    const before = chat.upstream.requests.length;
    await chat.send({ key: key.key, body: chatBody() });
    expect(chat.upstream.requests.length).toBe(before);
  });
});

describe("count_tokens", () => {
  it("has a bucket of its own, and shows the remaining of the bucket of requests", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 60 });
    const body = { model: "acme/echo-small", messages: [{ role: "user", content: "hello" }] };
    const count = () => chat.stack.send({ path: "/v1/messages/count_tokens?beta=true", key: key.key, body });
    const answers = await Promise.all(Array.from({ length: 24 }, count));
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 24 }, () => 200));
    expect(new Set(answers.map((answer) => answer.headers["x-service-ratelimit-remaining"]))).toEqual(
      new Set(["10"]),
    );
  });

  it("names its own limit when it is used up", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 1 });
    const body = { model: "acme/echo-small", messages: [{ role: "user", content: "hello" }] };
    const count = () => chat.stack.send({ path: "/v1/messages/count_tokens", key: key.key, body });
    const answers = await Promise.all(Array.from({ length: 64 }, count));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(3);
    expect(refused[0]?.text).toContain("1 count_tokens request per minute");
    // The other bucket is full: that is what the headers tell, and the wait is that of the empty one.
    expect(refused[0]?.headers).toMatchObject({
      "x-service-ratelimit-remaining": "10",
      "anthropic-ratelimit-requests-remaining": "10",
      "retry-after": "59",
    });
  });

  it("shares its bucket with input_tokens and with its own wrong methods", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 1 });
    const body = { model: "acme/echo-small", input: "hello" };
    const paths = ["/v1/messages/count_tokens", "/v1/responses/input_tokens"];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, sent) =>
        chat.stack.send({ path: paths[sent % 2] ?? "", method: "GET", key: key.key }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([405]));
    const next = await chat.stack.send({ path: "/v1/responses/input_tokens", key: key.key, body });
    expect(next.status).toBe(429);
    expect((await chat.stack.send({ path: "/v1/models", key: key.key })).status).toBe(200);
  });
});
