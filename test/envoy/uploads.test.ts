/**
 * Bodies on their way. They count by what has come of them, or by what they say when they are large, and what one key
 * uploads, and does not end, is its own: others have their answers, and Envoy its memory.
 */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECKS_CLUSTER, SIDECAR_CLUSTER } from "../../src/envoy/names.ts";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { adminSocketOf, readClusterCounter, readEnvoyMemory } from "./edge/envoy-counters.ts";
import { beginUpload, type HttpVersion, type UnfinishedUpload } from "./edge/unfinished-upload.ts";

const UPLOADS = byExtent({ push: 24, nightly: 66 });
const UPLOAD_BYTES = 33_000_000;
/** Half of a key's share has room for one; there are two workers. */
const MAX_HELD = 2;
/** A body waits 20 s for its turn. */
const MAX_WAIT_MS = 30_000;
/** Held by Envoy, 24 would be 790 MB. */
const MAX_ENVOY_BYTES = 300_000_000;
const OTHERS_REQUESTS = 42;
const VERSIONS: readonly HttpVersion[] = ["HTTP/1.1", "HTTP/2"];
const LENGTHS = [
  { length: "declared", isOfUnknownLength: false },
  { length: "unknown", isOfUnknownLength: true },
] as const;
const EACH_WITH_EACH = VERSIONS.flatMap((version) => LENGTHS.map((length) => ({ version, ...length })));
/** On each push each version and each length once. */
const CASES = byExtent({
  push: EACH_WITH_EACH.filter(({ version, length }) => (version === "HTTP/2") === (length === "unknown")),
  nightly: EACH_WITH_EACH,
});

const chat = withChatStack(() => ({ workers: 2 }));

describe("bodies of one key at once", () => {
  let redis: Redis;

  beforeAll(() => {
    redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
  });
  afterAll(() => redis.disconnect());

  it("are not refused, 40 of them in chunks and small (HTTP/1.1)", async () => {
    const body = JSON.stringify(chatBody());
    const chunks = [body.slice(0, 20), body.slice(20)];
    const sent = Array.from({ length: 40 }, () => chat.send({ method: "POST", chunks }));
    expect(new Set((await Promise.all(sent)).map(describeAnswer))).toEqual(new Set(["200"]));
  });

  it("are not refused, 40 of them without a length and small (HTTP/2)", async () => {
    const session = connectHttp2(chat.stack.baseUrl);
    const sent = Array.from({ length: 40 }, async () => {
      const stream = session.request(headersOf(chat.key.key));
      stream.end(JSON.stringify(chatBody()));
      return statusOf(stream);
    });
    expect(new Set(await Promise.all(sent))).toEqual(new Set([200]));
    session.destroy();
  });

  it("wait for one another where together they are more than the key's share, and none is refused", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("hi", null) });
    const body = chatBody({}, "x".repeat(6_000_000));
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat.send({ body })));
    expect(new Set(answers.map(describeAnswer))).toEqual(new Set(["200"]));
  });

  it.each([1_000, 100_000])("ask Redis twice, of %d bytes each", async (bytes) => {
    const body = chatBody({}, "x".repeat(bytes));
    const send = () => chat.send({ body });
    await send();
    const before = await countScriptCalls(redis);
    const requests = 40;
    for (let sent = 0; sent < requests; sent += 1) expect((await send()).status).toBe(200);
    // A worker has calls of its own now and then, more of them on a slow machine.
    expect(((await countScriptCalls(redis)) - before) / requests).toBeLessThan(3);
  });

  it("take none of the connections over which ext_authz asks", async () => {
    const readBoth = (name: string) => {
      const read = (cluster: string) => readClusterCounter(adminSocketOf(chat.stack), cluster, name);
      return Promise.all([read(CHECKS_CLUSTER), read(SIDECAR_CLUSTER)]);
    };
    const grow = async (name: string, during: () => Promise<unknown>) => {
      const [checks, bodies] = await readBoth(name);
      await during();
      const [checksThen, bodiesThen] = await readBoth(name);
      return { checks: checksThen - checks, bodies: bodiesThen - bodies };
    };
    const body = chatBody({}, "x".repeat(6_000_000));
    const bytes = await grow("upstream_cx_tx_bytes_total", () => chat.send({ body }));
    expect(bytes.bodies).toBeGreaterThan(6_000_000);
    expect(bytes.checks).toBeLessThan(100_000);
    const calls = await grow("upstream_rq_total", () => chat.send({ key: "wrong", body: chatBody() }));
    expect(calls).toEqual({ checks: 1, bodies: 0 });
  });

  it("are refused where they come in crumbs, each of which would cost a call", async () => {
    const session = connectHttp2(chat.stack.baseUrl);
    session.on("error", () => undefined);
    const stream = session.request(headersOf(chat.key.key));
    stream.on("error", () => undefined);
    const status = statusOf(stream);
    const write = () => new Promise<null>((resolve) => stream.write(" ", () => resolve(null)));
    let answered = await Promise.race([status, write()]);
    while (answered === null) answered = await Promise.race([status, write()]);
    expect(answered).toBe(400);
    session.destroy();
  });
});

describe(`${UPLOADS} uploads of 33 MB of one key that do not end`, () => {
  it.each(CASES)(
    "are held within the key's share, and refuse none of another organization's requests ($version, of $length length)",
    async ({ version, isOfUnknownLength }) => {
      const hostile = await chat.stack.createKey();
      const other = await chat.stack.createKey();
      const before = await readEnvoyMemory(chat.stack);
      const upload = { port: portOf(chat.stack.baseUrl), key: hostile.key, version, isOfUnknownLength };
      const begun = Array.from({ length: UPLOADS }, () =>
        beginUpload({ ...upload, bytes: UPLOAD_BYTES, missingBytes: 70_000 }),
      );
      // Most of the others wait for room, or are refused.
      await Promise.any(begun.map(isSent));
      const asked = Array.from({ length: OTHERS_REQUESTS }, () =>
        chat.send({ key: other.key, body: chatBody() }),
      );
      expect((await Promise.all(asked)).map(describeAnswer)).toEqual(asked.map(() => "200"));
      // What is sent may be in the kernel's buffers, which take up to 32 MiB: only an answer tells who is refused.
      const answers: string[] = [];
      for (const { answer } of await Promise.all(begun)) void answer.then((text) => answers.push(text));
      const countHeld = () => UPLOADS - answers.length;
      await expect.poll(countHeld, { timeout: MAX_WAIT_MS }).toBeLessThanOrEqual(MAX_HELD);
      expect(countHeld()).toBeGreaterThanOrEqual(1);
      expect(answers.filter((text) => !text.includes("buffer_limit_exceeded"))).toEqual([]);
      expect((await readEnvoyMemory(chat.stack)) - before).toBeLessThan(MAX_ENVOY_BYTES);
    },
  );
});

/** @throws Error when it is refused. */
async function isSent(begun: Promise<UnfinishedUpload>): Promise<void> {
  const { outcome } = await begun;
  if (outcome !== "sent") throw new Error(outcome);
}

function headersOf(key: string): Record<string, string> {
  const authorization = `Bearer ${key}`;
  return { ":method": "POST", ":path": CHAT_PATH, authorization, "content-type": "application/json" };
}

async function statusOf(stream: NodeJS.EventEmitter): Promise<unknown> {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  return headers[":status"];
}

async function countScriptCalls(redis: Redis): Promise<number> {
  const stats = await redis.info("commandstats");
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

function portOf(baseUrl: string): number {
  return Number(new URL(baseUrl).port);
}
