/** What a worker takes as its own of the spend that an admission tells, whatever arrives beside that admission's answer. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GraceSpend } from "../../src/data-path/grace/grace-spend.ts";
import {
  createRedisClient,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { KnownKeyResult } from "../../src/shared/stored/admission.ts";
import type { ChargeInput, RequestIdentity } from "../../src/shared/stored/settlement.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { type RedisProxy, startRedisProxy } from "../support/redis-proxy.ts";
import { admitKnown, chargeInput, createIdentity, createTestKey, FINAL, type TestKey } from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

let redis: PrivateRedis;
let proxy: RedisProxy;
let client: RedisClient;
beforeAll(async () => {
  redis = await startRedis();
  proxy = await startRedisProxy(redis.url);
  client = createRedisClient({ url: proxy.url, commandTimeoutMs: 20_000, onError: () => undefined });
  await waitUntilReady(client, 10_000);
});
afterAll(async () => {
  client.disconnect();
  await proxy.close();
  await redis.stop();
});

/** A worker that is the only one to charge its only key. */
interface Worker {
  readonly store: Store;
  readonly key: TestKey;
  readonly charge: (input: ChargeInput) => Promise<unknown>;
}

async function createWorker(): Promise<Worker> {
  const spend = new GraceSpend();
  const store = createStore({ client, usageMonths: 13, ownSpend: spend });
  const far = { limits: monthLimits({ cap: 9_000_000_000 }) };
  const key = await createTestKey(store, { requestsPerMinute: 1_000_000, ...far }, far);
  const charge = (input: ChargeInput): Promise<unknown> => {
    spend.counted(input, input.totalMicrocents);
    return store.charge(input);
  };
  return { store, key, charge };
}

/** What a reply says that others have spent. */
function spentElsewhere({ caps }: KnownKeyResult): readonly bigint[] {
  return caps.map(({ spentMicrocents, ownMicrocents }) => spentMicrocents - ownMicrocents);
}

type Step = "admit" | "progress" | "final" | "brief" | "turn";

/** Sends everything before the first answer is there; all answers arrive in one piece. */
async function sendTogether(
  { store, key, charge }: Worker,
  steps: readonly Step[],
): Promise<KnownKeyResult[]> {
  const requests = await Promise.all(steps.map(() => createIdentity(store, key)));
  const admissions: Promise<KnownKeyResult>[] = [];
  const others: Promise<unknown>[] = [];
  proxy.holdUntil(key.keyId);
  for (const [position, step] of steps.entries()) {
    if (step === "turn") await nextTurn();
    else if (step === "admit") admissions.push(admitKnown(store, key));
    else others.push(charge(createCharge(requests[position]!, step)));
  }
  await nextTurn();
  others.push(client.echo(key.keyId));
  await Promise.all(others);
  return Promise.all(admissions);
}

function createCharge(identity: RequestIdentity, step: "progress" | "final" | "brief"): ChargeInput {
  const final = step === "progress" ? null : FINAL;
  return chargeInput(identity, 1, 1_000n, { final, isSingleCharge: step === "brief" ? true : undefined });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

describe("what a worker has charged itself", () => {
  it("is known as of an admission's reply, when the replies of charges before and behind it come in one piece", async () => {
    const step = fc.constantFrom<Step>("admit", "progress", "final", "brief", "turn");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
        const worker = await createWorker();
        const results = await sendTogether(worker, [...steps, "admit"]);
        for (const result of results) expect(spentElsewhere(result)).toEqual([0n, 0n]);
      }),
      { numRuns: 60 },
    );
  });
});
