import { describe, expect, it } from "vitest";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";
import { monthLimits } from "../support/month-limits.ts";

const CENT = 1_000_000n;
const test = withTestStore();

/** One request that costs this much, from start to end. */
async function spend(key: TestKey, microcents: bigint): Promise<void> {
  const identity = await createIdentity(test.store, key);
  await test.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

/** "key budget 80% of 100" */
async function summarize(organizationId: string): Promise<string[]> {
  const { items } = await test.store.listAlerts(organizationId, { limit: 100, after: null });
  return items.map(
    (alert) => `${alert.scope} ${alert.kind} ${alert.thresholdPercent}% of ${alert.amountCents}`,
  );
}

describe("a progress charge", () => {
  it("fires what it reaches: alerts are tested on the spend that caps are compared with", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ budget: 100 }) });
    const stream = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(stream));
    await test.store.charge(chargeInput(stream, 1, 79n * CENT));
    expect(await summarize(key.organizationId)).toEqual([]);
    await spend(key, 1n * CENT);
    expect(await summarize(key.organizationId)).toEqual(["key budget 80% of 100"]);
    await test.store.charge(chargeInput(stream, 2, 99n * CENT));
    await test.store.charge(chargeInput(stream, 3, 100n * CENT, { final: FINAL }));
    expect((await summarize(key.organizationId)).toSorted()).toEqual([
      "key budget 100% of 100",
      "key budget 80% of 100",
    ]);
  });

  it("fires nothing by its best estimate, which is for the one who closes the request", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ budget: 10 }) });
    const stream = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(stream));
    const tokens = { ...NO_TOKENS, inputTokens: 900, outputTokens: 7 };
    const estimate = { totalMicrocents: 9n * CENT, tokens };
    await test.store.charge(chargeInput(stream, 1, 1n * CENT, { estimate, estimated: true }));
    expect(await summarize(key.organizationId)).toEqual([]);
    await test.client.zadd(`igw:{${key.organizationId}}:open-requests`, 1, stream.requestId);
    expect(await test.store.close({ ...stream, record: stream })).toBe("closed");
    expect(await summarize(key.organizationId)).toEqual(["key budget 80% of 10"]);
    const { rows } = await test.store.readUsage(key.organizationId, stream.month);
    expect(rows).toMatchObject([
      { inputTokens: 900, outputTokens: 7, estimatedRequests: 1, costMicrocents: 9n * CENT },
    ]);
  });
});

describe("spend that goes down", () => {
  it("is counted with its cause", async () => {
    const key = await createTestKey(test.store);
    const before = test.store.spendFalls();
    const fallen = (): Record<string, number> => ({
      interim: test.store.spendFalls().interim - before.interim,
      reaped: test.store.spendFalls().reaped - before.reaped,
      correction: test.store.spendFalls().correction - before.correction,
    });
    const stream = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(stream, { floorMicrocents: 9n * CENT, floorInputTokens: 1 }));
    await test.store.charge(chargeInput(stream, 1, 5n * CENT));
    await test.store.charge(chargeInput(stream, 2, 6n * CENT));
    expect(fallen()).toEqual({ interim: 0, reaped: 0, correction: 0 });
    await test.store.charge(chargeInput(stream, 3, 4n * CENT));
    expect(fallen()).toEqual({ interim: 1, reaped: 0, correction: 0 });
    await test.client.zadd(`igw:{${key.organizationId}}:open-requests`, 1, stream.requestId);
    await test.store.close({ ...stream, record: stream });
    await test.store.renew(key.organizationId, [stream]);
    await test.store.charge(chargeInput(stream, 4, 8n * CENT));
    expect(fallen()).toEqual({ interim: 1, reaped: 1, correction: 0 });
    await test.store.charge(chargeInput(stream, 5, 7n * CENT, { final: FINAL }));
    expect(fallen()).toEqual({ interim: 2, reaped: 1, correction: 0 });
    const { organizationId, keyId } = key;
    const correction = { organizationId, keyId, amountMicrocents: -1n, correctionId: "corr_fall" };
    await test.store.correct(correction);
    await test.store.correct(correction);
    expect(fallen()).toEqual({ interim: 2, reaped: 1, correction: 1 });
  });
});

describe("a closing", () => {
  it("of a request whose owner died fires what it reaches", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ budget: 10 }) });
    const lost = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(lost, { floorMicrocents: 9n * CENT, floorInputTokens: 1 }));
    await test.client.zadd(`igw:{${key.organizationId}}:open-requests`, 1, lost.requestId);
    expect(await test.store.close({ ...lost, record: lost })).toBe("closed");
    expect(await summarize(key.organizationId)).toEqual(["key budget 80% of 10"]);
  });
});
