/** Redis answers late, but long before Envoy's call ends: requests wait for it that have nothing to fall back on. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { startRedis } from "../support/redis.ts";
import { type RedisProxy, startRedisProxy } from "../support/redis-proxy.ts";
import type { CreatedKey } from "../support/test-key.ts";

/** Twice what a key waits for that goes on without Redis. */
const SLOW_MS = 500;
const closings: (() => Promise<unknown>)[] = [];
let proxy: RedisProxy;
const chat = withChatStack(async () => {
  const redis = await startRedis();
  proxy = await startRedisProxy(redis.url);
  closings.push(
    () => proxy.close(),
    () => redis.stop(),
  );
  return { overrides: { redis: { url: proxy.url } } };
});
const keys: { unseen?: CreatedKey; strict?: CreatedKey } = {};
beforeAll(async () => {
  keys.unseen = await chat.stack.createKey();
  keys.strict = await chat.stack.createKey({}, { strictCaps: true });
  await statusesOf(keys.strict);
  proxy.delayMs = SLOW_MS;
});
afterAll(async () => {
  for (const close of closings) await close();
});

async function statusesOf(key: CreatedKey | undefined, requests = 1): Promise<string[]> {
  const send = () => chat.send({ key: key!.key, body: chatBody() });
  const answers = await Promise.all(Array.from({ length: requests }, send));
  return answers.map(describeAnswer);
}

it("admits a key that its worker has never seen", async () => {
  expect(await statusesOf(keys.unseen, 3)).toEqual(["200", "200", "200"]);
});

it("admits and records requests of an organization with strict caps", async () => {
  expect(await statusesOf(keys.strict)).toEqual(["200"]);
});
