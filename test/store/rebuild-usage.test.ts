/** `usage rebuild` between a log of requests and charges that are still to come. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readLateCharges, readLoggedUsage } from "../../src/data-path/request-log/read-usage.ts";
import { rebuildUsage } from "../../src/data-path/request-log/rebuild-usage.ts";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import { verifyWindows } from "../../src/data-path/request-log/verify-windows.ts";
import { LIMIT_PERIODS } from "../../src/shared/settings/limits.ts";
import { spendKey } from "../../src/data-path/store/redis/keys.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { ChargeInput } from "../../src/shared/stored/settlement.ts";
import { windowName } from "../../src/data-path/store/usage/windows.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  admitKnown,
  chargeInput,
  createIdentity,
  createTestKey,
  createTestOrganization,
  FINAL,
  openRecordInput,
  spentBy,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { formatLog } from "./log-fixture.ts";
import { takeSnapshot } from "./snapshot-fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

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
  const [{ month, day, organizationId }] = charges as [ChargeInput];
  await writeFile(join(dir, `${day}.worker-0.0.jsonl`), formatLog(charges, nowMs));
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
    await Promise.all(charges.map((charge) => test.store.charge({ ...charge, isSingleCharge: true })));
    expect(await spentBy(test.store, charges[0]!)).toBe(10n * COST);
    expect(await log.verify()).toEqual([]);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, addedMicrocents: 0n, settledRequests: 0 });
  });

  it("that brings spend to a cap has told of it when the first request is refused", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 1 }) });
    const identity = await createIdentity(test.store, key);
    await (await createLog([chargeInput(identity, 1, 1_000_000n, { final: FINAL })])).rebuild();
    expect((await admitKnown(test.store, key)).decision).toBe("key_cap_reached");
    const { items } = await test.store.listAlerts(key.organizationId, { limit: 10, after: null });
    expect(items.map(({ thresholdPercent }) => thresholdPercent)).toEqual([100, 90]);
  });

  it("leaves nothing behind where nothing is missing", async () => {
    const key = await createTestKey(test.store);
    const charges = await createCharges(key, 2);
    for (const charge of charges) await test.store.charge(charge);
    const ids = charges.map(({ requestId }) => requestId);
    expect(await test.store.deleteRecords(key.organizationId, ids)).toBe(2);
    const log = await createLog(charges);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, addedMicrocents: 0n });
    expect(await test.store.deleteRecords(key.organizationId, ids)).toBe(0);
  });

  it("charges as its log says what another has closed at an estimate, and its owner's charge is a repeat", async () => {
    const key = await createTestKey(test.store);
    const [charge] = await createCharges(key, 1);
    await test.store.openRecord(openRecordInput(charge!));
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

  it.each([
    ["more", 5_000n],
    ["less", 50n],
  ])(
    "adds what is missing to what another has closed, of which there is no line, at %s than that",
    async (_, estimate) => {
      const key = await createTestKey(test.store);
      const [dead, lost, tagged] = await createCharges(key, 3);
      const closed = { ...dead!, tags: "team=ads", totalMicrocents: 0n, final: null };
      await test.store.openRecord(openRecordInput(closed));
      await test.store.charge({ ...closed, estimate: { totalMicrocents: estimate, tokens: closed.tokens } });
      await closeOverdue(closed);
      const log = await createLog([lost!, { ...tagged!, tags: "team=ads" }]);
      expect(await log.rebuild()).toMatchObject({ addedMicrocents: 2n * COST });
      expect(await spentBy(test.store, closed)).toBe(estimate + 2n * COST);
      const { rows } = await test.store.readUsage(key.organizationId, null);
      expect(rows.map(({ tags, costMicrocents, requests }) => [tags, costMicrocents, requests])).toEqual([
        ["", COST, 1],
        ["team=ads", estimate + COST, 2],
      ]);
      expect(await log.rebuild()).toMatchObject({ raisedRows: 0, addedMicrocents: 0n });
    },
  );

  it("marks and raises nothing while requests are in flight, so that their charges still count", async () => {
    const key = await createTestKey(test.store);
    const [charge, other] = await createCharges(key, 2);
    await test.store.openRecord(openRecordInput(other!));
    const log = await createLog([charge!]);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, inFlight: [key.organizationId] });
    expect(await test.store.charge(charge!)).toEqual({ outcome: "applied" });
    expect(await spentBy(test.store, charge!)).toBe(COST);
  });
});

/** Charges of two users of one group, and of nobody; of each key its own, in windows of every period. */
async function createOwnedCharges(): Promise<readonly ChargeInput[]> {
  const { store } = test;
  const { id } = await createTestOrganization(store);
  const groupId = await addTestGroup(store, id);
  const limits = LIMIT_PERIODS.map((period) => ({ period, kind: "cap" as const, cents: 100_000 }));
  const users = [await addTestUser(store, id, { limits }), await addTestUser(store, id), null];
  const charges: ChargeInput[] = [];
  for (const [index, userId] of users.entries()) {
    const key = await addTestKey(store, id);
    const owners = formatOwnerIds({ userId, groupId: userId === null ? null : groupId });
    for (let count = 1; count <= 4; count++) {
      const identity = { ...(await createIdentity(store, key)), owners };
      // No two sums of them are the same.
      charges.push(chargeInput(identity, 1, BigInt(10 ** index * count), { final: FINAL }));
    }
  }
  return charges;
}

/** What the windows of limits must have by these lines: "<window> <owner>" → microcents. */
function sumByWindow(charges: readonly ChargeInput[]): Record<string, string> {
  const sums = new Map<string, bigint>();
  for (const { keyId, owners = "", day, totalMicrocents } of charges) {
    const ofOwners = owners.split(".").flatMap((id) => (id === "" ? [] : [`${id.split("_")[0]}:${id}`]));
    for (const period of LIMIT_PERIODS) {
      for (const owner of ["organization", `key:${keyId}`, ...ofOwners]) {
        const name = `${windowName(period, day)} ${owner}`;
        sums.set(name, (sums.get(name) ?? 0n) + totalMicrocents);
      }
    }
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, String(sum)]));
}

async function readWindows(charges: readonly ChargeInput[]): Promise<Record<string, string | null>> {
  const names = Object.keys(sumByWindow(charges));
  const { organizationId } = charges[0]!;
  const read = names.map(async (name) => {
    const [window = "", owner = ""] = name.split(" ");
    return [name, await test.client.hget(spendKey(organizationId, window), owner)] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

describe("a rebuild of a Redis that was restored from an older snapshot", () => {
  it("brings what limits count to the log, for each owner and window, once", async () => {
    const charges = await createOwnedCharges();
    // Of each owner some were charged before it.
    for (const charge of charges.filter((_, index) => index % 4 < 2)) await test.store.charge(charge);
    const snapshot = await takeSnapshot(test.client, charges[0]!.organizationId);
    for (const charge of charges) await test.store.charge(charge);
    const before = await readWindows(charges);
    expect(before).toEqual(sumByWindow(charges));
    await snapshot.restore();
    expect(await readWindows(charges)).not.toEqual(before);
    const log = await createLog(charges);
    expect(await log.rebuild()).toMatchObject({ raisedRows: 3, addedMicrocents: 777n, inFlight: [] });
    expect(await readWindows(charges)).toEqual(before);
    // A repeat, and what lies in a spool.
    expect(await log.rebuild()).toMatchObject({ raisedRows: 0, addedMicrocents: 0n });
    for (const charge of charges) expect(await test.store.charge(charge)).toEqual({ outcome: "repeated" });
    expect(await readWindows(charges)).toEqual(before);
    expect(await log.verify()).toEqual([]);
    expect((await verifyWindows(test.store, charges[0]!.month)).differences).toEqual([]);
  });

  it("begins the counters of windows that began after it anew", async () => {
    const charges = await createOwnedCharges();
    const snapshot = await takeSnapshot(test.client, charges[0]!.organizationId);
    for (const charge of charges) await test.store.charge(charge);
    await snapshot.restore();
    const log = await createLog(charges);
    expect(await log.rebuild()).toMatchObject({ addedMicrocents: 1110n });
    expect(await readWindows(charges)).toEqual(sumByWindow(charges));
    const { organizationId, day } = charges[0]!;
    const names = [windowName("day", day), windowName("week", day)];
    const ends = await Promise.all(names.map((name) => test.client.pttl(spendKey(organizationId, name))));
    expect(ends.every((end) => end > 0)).toBe(true);
  });

  it("charges as its log says what was closed at an estimate, in every window", async () => {
    const [charge] = await createOwnedCharges();
    await test.store.openRecord(openRecordInput(charge!));
    const estimate = { totalMicrocents: 5_000n, tokens: charge!.tokens };
    await test.store.charge({ ...charge!, totalMicrocents: 0n, final: null, estimate });
    await closeOverdue(charge!);
    const last = { ...charge!, sequence: 2 };
    const log = await createLog([last]);
    expect(await log.rebuild()).toMatchObject({ settledRequests: 1, raisedRows: 0 });
    expect(await readWindows([last])).toEqual(sumByWindow([last]));
  });
});

/** As the reaper does, for which this request's deadline is over. */
async function closeOverdue({ organizationId, requestId, keyId, month, day }: ChargeInput): Promise<void> {
  await test.client.zadd(`igw:{${organizationId}}:open-requests`, 0, requestId);
  const outcome = await test.store.close({ organizationId, requestId, record: { keyId, month, day } });
  expect(outcome).toBe("closed");
}
