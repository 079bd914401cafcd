/** `usage rebuild` between a log of requests and charges that are still to come. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatRequestLogLine } from "../../src/request-log/line.ts";
import { readLateCharges, readLoggedUsage } from "../../src/request-log/read-usage.ts";
import { rebuildUsage } from "../../src/request-log/rebuild-usage.ts";
import { verifyUsage } from "../../src/request-log/verify-usage.ts";
import type { ChargeInput } from "../../src/store/types/settlement.ts";
import { NO_TOKENS } from "../../src/token-usage.ts";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  holdInput,
  spentBy,
  type TestKey,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();
const COST = 102n;

/** Final charges of requests of one key, as their owner has them. */
async function createCharges(key: TestKey, count: number): Promise<ChargeInput[]> {
  const charges: ChargeInput[] = [];
  for (let made = 0; made < count; made++) {
    const identity = await createIdentity(test.store, key);
    charges.push(chargeInput(identity, 1, COST, { final: FINAL }));
  }
  return charges;
}

/** A log that has these requests as ended now, and what `usage rebuild` makes of it. */
async function createLog(charges: readonly ChargeInput[]) {
  const dir = await mkdtemp(join(tmpdir(), "igw-rebuild-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const nowMs = await test.store.timeMs();
  const lines = charges.map((charge) => {
    const { input, cachedInput, output, reasoning } = charge.tokens;
    const tokens = {
      ...NO_TOKENS,
      inputTokens: input,
      cachedInputTokens: cachedInput,
      outputTokens: output,
      reasoningTokens: reasoning,
    };
    const line = {
      identity: { ...charge, currency: "USD" },
      price: null,
      outcome: "complete",
      result: { status: 200, errorCode: null },
      tokens,
      tools: [],
      estimated: charge.estimated,
      costMicrocents: charge.totalMicrocents,
    } as const;
    return `${formatRequestLogLine(line, nowMs)}\n`;
  });
  const [{ month, day, organizationId }] = charges as [ChargeInput];
  await writeFile(join(dir, `${day}.worker-0.0.jsonl`), lines.join(""));
  const read = () => readLoggedUsage(dir, month);
  return {
    rebuild: async () => rebuildUsage(test.store, await read(), () => readLateCharges(dir, month, nowMs)),
    verify: async () => {
      const { differences } = await verifyUsage(test.store, month, await read());
      return differences.filter((one) => one.organizationId === organizationId);
    },
  };
}

describe("a rebuild", () => {
  it("counts once what lies in a spool and is sent after it, whoever sends it and how often", async () => {
    const key = await createTestKey(test.store);
    const charges = await createCharges(key, 10);
    for (const charge of charges.slice(0, 5)) await test.store.charge(charge);
    const log = await createLog(charges);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 1, addedMicrocents: 5n * COST, inFlight: [] });
    for (const charge of [...charges, ...charges]) {
      expect(await test.store.charge(charge)).toEqual({ outcome: "repeated" });
    }
    // Brief ones, and those of several at once, come by another way.
    await Promise.all(charges.map((charge) => test.store.charge({ ...charge, isBrief: true })));
    expect(await spentBy(test.store, charges[0]!)).toBe(10n * COST);
    expect(await log.verify()).toEqual([]);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, addedMicrocents: 0n, settledRequests: 0 });
  });

  it("leaves nothing behind where nothing is missing", async () => {
    const key = await createTestKey(test.store);
    const charges = await createCharges(key, 2);
    for (const charge of charges) await test.store.charge(charge);
    const ids = charges.map(({ requestId }) => requestId);
    expect(await test.store.forget(key.organizationId, ids)).toBe(2);
    const log = await createLog(charges);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, addedMicrocents: 0n });
    expect(await test.store.forget(key.organizationId, ids)).toBe(0);
  });

  it("charges as its log says what another has closed at an estimate, and its owner's charge is a repeat", async () => {
    const key = await createTestKey(test.store);
    const [charge] = await createCharges(key, 1);
    await test.store.hold(holdInput(charge!));
    const estimate = { totalMicrocents: 5_000n, tokens: charge!.tokens };
    await test.store.charge({ ...charge!, sequence: 1, totalMicrocents: 50n, final: null, estimate });
    await closeOverdue(charge!);
    expect(await spentBy(test.store, charge!)).toBe(5_000n);
    const last = { ...charge!, sequence: 2 };
    const log = await createLog([last]);
    expect(await log.rebuild()).toMatchObject({ settledRequests: 1, raisedRows: 0 });
    expect(await spentBy(test.store, charge!)).toBe(COST);
    expect(await test.store.charge(last)).toEqual({ outcome: "repeated" });
    expect(await log.verify()).toEqual([]);
  });

  it("marks and raises nothing while requests are in flight, so that their charges still count", async () => {
    const key = await createTestKey(test.store);
    const [charge, other] = await createCharges(key, 2);
    await test.store.hold(holdInput(other!));
    const log = await createLog([charge!]);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, inFlight: [key.organizationId] });
    expect(await test.store.charge(charge!)).toEqual({ outcome: "applied" });
    expect(await spentBy(test.store, charge!)).toBe(COST);
  });
});

/** As the reaper does, for which this request's deadline is over. */
async function closeOverdue({ organizationId, requestId, keyId, month, day }: ChargeInput): Promise<void> {
  await test.client.zadd(`igw:{${organizationId}}:holds`, 0, requestId);
  const outcome = await test.store.close({ organizationId, requestId, record: { keyId, month, day } });
  expect(outcome).toBe("closed");
}
