/**
 * The long internal waits as the product has them: how long what a dead worker left stays open. Every other test that sits
 * through one divides them (`src/shared/time/internal-waits.ts`).
 */
import { request } from "node:http";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openRequestsKey } from "../../src/data-path/store/redis/keys.ts";
import { WAIT_DIVISOR_VARIABLE } from "../../src/shared/time/internal-waits.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { textChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { killAllWorkers } from "./access/worker-processes.ts";
import { monthLimits } from "../support/month-limits.ts";

const DEADLINE_MS = 30_000;
const ENTERED_MS = 60_000;
const STRICT_DELAY_MS = 30_000;
/** Two looks of the reaper, its pause where Redis was late once, and what a slow machine takes. */
const LATE_MS = 60_000;
/** Between two looks of the test at Redis, on a slow machine. */
const UNSEEN_MS = 5_000;

const chat = withChatStack(() => ({ env: { [WAIT_DIVISOR_VARIABLE]: "1" } }));
let redis: Redis;
beforeAll(() => {
  redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
});
afterAll(() => redis.disconnect());

async function nowMs(): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}

/** Of the only request in flight of this organization; null: there is none. */
async function readDeadline({ organizationId }: CreatedKey): Promise<number | null> {
  const [, deadline] = await redis.zrange(openRequestsKey(organizationId), "0", "0", "WITHSCORES");
  return deadline === undefined ? null : Number(deadline);
}

/** Resolves with Redis's time when the request was last seen open. */
async function waitUntilClosed(key: CreatedKey, timeoutMs: number): Promise<number> {
  let openAtMs = 0;
  const isClosed = async (): Promise<boolean> => {
    const atMs = await nowMs();
    if ((await readDeadline(key)) === null) return true;
    openAtMs = atMs;
    return false;
  };
  await waitFor("the request to be closed", isClosed, { timeoutMs });
  return openAtMs;
}

it("an admission waits a minute for its request's body", async () => {
  const key = await chat.stack.createKey();
  const { hostname, port } = new URL(chat.stack.baseUrl);
  const headers = { authorization: `Bearer ${key.key}`, "content-length": 1_000 };
  const upload = request({ hostname, port, path: CHAT_PATH, method: "POST", headers });
  upload.on("error", () => undefined);
  upload.flushHeaders();
  const deadlineMs = await waitFor("its admission", () => readDeadline(key));
  const leftMs = deadlineMs - (await nowMs());
  expect(leftMs).toBeGreaterThan(ENTERED_MS / 2);
  expect(leftMs).toBeLessThanOrEqual(ENTERED_MS);
  upload.destroy();
});

it("a request is closed, and its place free, 30 s after its worker's last sign of life, under strict caps another 30 s later", async () => {
  const plain = await chat.stack.createKey({ maxConcurrentRequests: 1 });
  const strict = await chat.stack.createKey({ limits: monthLimits({ cap: 1_000 }) }, { strictCaps: true });
  const keys = [plain, strict];
  chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
  const body = chatBody({ stream: true });
  const answers = keys.map(({ key }) => chat.send({ key, body }).catch(() => null));
  await chat.upstream.waitForRequests(keys.length);
  const first = await waitFor("the deadline of its record", async () => {
    const deadlineMs = await readDeadline(plain);
    return deadlineMs !== null && deadlineMs - (await nowMs()) <= DEADLINE_MS && deadlineMs;
  });
  const renewed = await waitFor("its renewal", async () => {
    const deadlineMs = await readDeadline(plain);
    return deadlineMs !== first && deadlineMs;
  });
  expect(renewed - (await nowMs())).toBeGreaterThan(DEADLINE_MS / 2);
  await killAllWorkers(chat.stack.configFile, join(chat.stack.dir, "run"));
  await Promise.all(answers);
  chat.upstream.answer({ kind: "echo" });
  const ask = async () => (await chat.send({ key: plain.key, body: chatBody() })).status;
  expect(await ask()).toBe(429);
  const deadlines = await Promise.all(keys.map(readDeadline));
  const timeoutMs = DEADLINE_MS + STRICT_DELAY_MS + LATE_MS;
  const [plainMs, strictMs] = await Promise.all(keys.map((key) => waitUntilClosed(key, timeoutMs)));
  expect(await ask()).toBe(200);
  expect(plainMs).toBeGreaterThan(Number(deadlines[0]) - UNSEEN_MS);
  expect(plainMs).toBeLessThan(Number(strictMs));
  expect(strictMs).toBeGreaterThan(Number(deadlines[1]) + STRICT_DELAY_MS - UNSEEN_MS);
});
