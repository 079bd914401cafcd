/** What an operator does after an outage: `usage verify`, `usage rebuild`, start. Nothing of it charges twice. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOnPush } from "../support/extent.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { ROUTES, sendOne } from "./fault-load.ts";
import {
  type FaultStack,
  listSpoolFiles,
  MODEL,
  startFaultStack,
  startStackAgain,
  terminateStack,
} from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { rebuildOnHost, verifyOnHost } from "./usage-commands.ts";

const WORKER_COUNTS = firstOnPush([2, 1]);
const REQUESTS = 5;
/** Each of a hundred tokens and one generated. */
const REQUESTS_CENTS = 510n;
/** So many that each worker has had the key. */
const WARM_REQUESTS = 16;

let stacks: readonly FaultStack[] = [];
beforeAll(async () => {
  const started = WORKER_COUNTS.map((workers) => startFaultStack({ sidecar: { workers } }));
  stacks = await Promise.all(started);
}, START_TIMEOUT_MS);
afterAll(async () => {
  for (const faults of stacks) await faults.stop();
}, 90_000);

/** Resolves when five requests were answered whole. */
async function pass({ stack }: FaultStack, { key }: CreatedKey): Promise<void> {
  const options = {
    baseUrl: stack.baseUrl,
    key,
    model: MODEL,
    guessedTokens: 100,
    outputTokens: 1,
    tokenMs: 0,
  };
  for (let index = 0; index < REQUESTS; index += 1) {
    const route = ROUTES[index % ROUTES.length] ?? ROUTES[0];
    const sent = await sendOne({ ...options, route, isStream: index % 2 === 0 }, () => undefined);
    expect([sent.status, sent.isWhole]).toEqual([200, true]);
  }
}

/** Each worker knows the key then, and goes on with it in the grace period; nothing of it is in flight or costs anything. */
async function introduce(faults: FaultStack, created: CreatedKey): Promise<void> {
  const body = { model: "acme/unknown", messages: [] };
  for (let count = 0; count < WARM_REQUESTS; count += 1) {
    await faults.stack.send({ path: "/v1/chat/completions", key: created.key, body });
  }
  await faults.waitUntilSettled([created], 30_000);
}

async function spentCents(faults: FaultStack): Promise<bigint> {
  return (await verifyOnHost(faults)).spentMicrocents / 1_000_000n;
}

interface Recovery {
  readonly stoppedOrderly: boolean;
  readonly hasSpool: boolean;
  /** What `usage verify` finds before anything is mended. */
  readonly kinds: readonly string[];
  /** Since the beginning, in cents: before the rebuild, after it, and when the gateway has sent what it had. */
  readonly spentCents: readonly bigint[];
  /** Once more, at the end. */
  readonly again: { readonly kinds: readonly string[]; readonly addedMicrocents: bigint };
}

/** @param isOlder Redis is restored from a snapshot that was taken before the last five requests that it had. */
async function recover(faults: FaultStack, { isOlder }: { isOlder: boolean }): Promise<Recovery> {
  const { redis } = faults;
  const { open: key } = await faults.createTenants(0);
  await pass(faults, key);
  await introduce(faults, key);
  if (isOlder) {
    await redis.snapshot();
    await pass(faults, key);
    await faults.waitUntilSettled([key], 30_000);
  }
  await redis.kill();
  await pass(faults, key);
  const stoppedOrderly = await terminateStack(faults);
  const hasSpool = listSpoolFiles(faults.stack).length > 0;
  if (isOlder) await redis.restoreSnapshot();
  await redis.restart();
  const { kinds, spentMicrocents } = await verifyOnHost(faults);
  const spent = [spentMicrocents / 1_000_000n];
  expect(await rebuildOnHost(faults)).toMatchObject({ inFlight: [] });
  spent.push(await spentCents(faults));
  await startStackAgain(faults);
  await faults.waitUntilSettled([key], 30_000);
  const { addedMicrocents } = await rebuildOnHost(faults);
  const last = await verifyOnHost(faults);
  spent.push(last.spentMicrocents / 1_000_000n);
  const again = { kinds: last.kinds, addedMicrocents };
  return { stoppedOrderly, hasSpool, kinds, spentCents: spent, again };
}

const RECOVERED = {
  stoppedOrderly: false,
  hasSpool: true,
  kinds: ["missing_in_redis"],
  again: { kinds: [], addedMicrocents: 0n },
};

describe(`with ${WORKER_COUNTS.join(" and ")} workers`, () => {
  it("what lies in a spool when Redis is back is charged once, though the rebuild has put it in before it is sent", async () => {
    const found = await Promise.all(stacks.map((faults) => recover(faults, { isOlder: false })));
    const spent = [REQUESTS_CENTS, 2n * REQUESTS_CENTS, 2n * REQUESTS_CENTS];
    expect(found).toEqual(stacks.map(() => ({ ...RECOVERED, spentCents: spent })));
  });

  it("a Redis that was restored from an older snapshot has what it had lost and what lies in a spool, once each", async () => {
    const before = await Promise.all(stacks.map(spentCents));
    const found = await Promise.all(stacks.map((faults) => recover(faults, { isOlder: true })));
    const spent = [REQUESTS_CENTS, 3n * REQUESTS_CENTS, 3n * REQUESTS_CENTS];
    const expected = before.map((own) => ({ ...RECOVERED, spentCents: spent.map((cents) => own + cents) }));
    expect(found).toEqual(expected);
  });
});
