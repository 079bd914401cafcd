import { describe, expect, it } from "vitest";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { openRequestsKey, inflightKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  admitInput,
  admitKnown,
  chargeInput,
  createHashedKey,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  known,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

async function spend(key: TestKey, microcents: bigint): Promise<void> {
  const identity = await createIdentity(test.store, key);
  await test.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

describe("admit", () => {
  it("gives everything that a response needs, from one call", async () => {
    const key = await createTestKey(
      test.store,
      {
        name: "ci ☂",
        requestsPerMinute: 6000,
        countCachedTokens: null,
        limits: monthLimits({ cap: 5000, budget: 4000 }),
        allowedModels: ["acme/echo-small"],
        maxConcurrentRequests: 5,
        expiresAtMs: 4_102_444_800_000,
      },
      { name: "Acme", currency: "EUR", limits: monthLimits({ cap: 100_000 }), strictCaps: true },
    );
    await spend(key, 1_234_567n);
    const admission = await admitKnown(test.store, key);
    const day = new Date(admission.timeMs).toISOString().slice(0, 10);
    const spent = { spentMicrocents: 1_234_567n, ownMicrocents: 0n };
    const met = { period: "month", raisedCents: 0, ...spent } as const;
    expect(admission).toEqual({
      decision: "admitted",
      timeMs: admission.timeMs,
      month: day.slice(0, 7),
      day,
      key: {
        id: key.keyId,
        name: "ci ☂",
        display: `sk-igw-…${key.hash.slice(-4)}`,
        requestsPerMinute: 6000,
        allowedModels: ["acme/echo-small"],
        maxConcurrentRequests: 5,
        defaultTags: null,
        countCachedTokens: null,
        onCap: null,
        expiresAtMs: 4_102_444_800_000,
      },
      organization: {
        id: key.organizationId,
        name: "Acme",
        currency: "EUR",
        countCachedTokens: false,
        strictCaps: true,
        onCap: "refuse",
        endUserTag: false,
        hideAmounts: false,
        budgetHeaders: "near_cap",
        modelNames: { aliases: {}, defaultModel: null },
      },
      user: null,
      group: null,
      bucket: { remaining: 599, capacity: 600, resetMs: 10, retryAfterSeconds: 0 },
      concurrentRequests: 0,
      isEntered: false,
      areSessionsCapped: false,
      caps: [
        { scope: "key", cents: 5000, ...met },
        { scope: "organization", cents: 100_000, ...met },
      ],
      reachedCap: null,
      isBehind: false,
      tokenBuckets: [],
      takenTokens: null,
      tokenLimit: null,
    });
  });

  it("enters a request that needs no record among its organization's open requests, for a minute, and in flight for ten seconds", async () => {
    const key = await createTestKey(
      test.store,
      { limits: monthLimits({ cap: 10 }) },
      { limits: monthLimits({ cap: 10 }) },
    );
    const input = admitInput(key);
    const before = await test.store.timeMs();
    expect(known(await test.store.admit(input))).toMatchObject({ decision: "admitted", isEntered: true });
    const entries = await test.client.zrange(openRequestsKey(key.organizationId), "0", "-1", "WITHSCORES");
    expect(entries[0]).toBe(input.requestId);
    expect(Number(entries[1])).toBeGreaterThanOrEqual(before + 60_000);
    expect(Number(entries[1])).toBeLessThanOrEqual((await test.store.timeMs()) + 60_000);
    const inFlight = inflightKey(key.organizationId, key.keyId);
    const inFlightMs = String(Number(entries[1]) - 50_000);
    expect(await test.client.zrange(inFlight, "0", "-1", "WITHSCORES")).toEqual([entries[0], inFlightMs]);
  });

  it("takes out of flight now and then what has no record or is an hour overdue, but no paused owner's", async () => {
    const key = await createTestKey(test.store);
    const inFlight = inflightKey(key.organizationId, key.keyId);
    const nowMs = await test.store.timeMs();
    const overdueMs = nowMs - 3_600_001;
    const pausedMs = overdueMs + 60_000;
    await test.client.zadd(
      inFlight,
      overdueMs,
      "req_forgotten",
      pausedMs,
      "req_paused",
      nowMs - 1,
      "req_left",
    );
    // A record has the same deadline among the open requests.
    await test.client.zadd(openRequestsKey(key.organizationId), pausedMs, "req_paused");
    await test.store.admit(admitInput(key, { requestId: "req_1ff" }));
    expect(await test.client.zcard(inFlight)).toBe(4);
    await test.store.admit(admitInput(key, { requestId: "req_200" }));
    expect(await test.client.zrange(inFlight, "0", "-1")).toEqual(["req_paused", "req_1ff", "req_200"]);
  });

  it.each([
    { why: "under strict caps", organization: { strictCaps: true }, key: {} },
    {
      why: "of a key that limits its concurrent requests",
      organization: {},
      key: { maxConcurrentRequests: 5 },
    },
  ])("has a request $why among the open requests until its record, and not in flight", async (row) => {
    const key = await createTestKey(test.store, row.key, row.organization);
    const input = admitInput(key);
    const before = await test.store.timeMs();
    expect(known(await test.store.admit(input))).toMatchObject({ decision: "admitted", isEntered: false });
    const openRequests = openRequestsKey(key.organizationId);
    const entered = Number(await test.client.zscore(openRequests, input.requestId));
    expect(entered).toBeGreaterThanOrEqual(before + 60_000);
    expect(await test.client.exists(inflightKey(key.organizationId, key.keyId))).toBe(0);
    const identity = { ...(await createIdentity(test.store, key)), requestId: input.requestId };
    await test.store.openRecord(openRecordInput(identity, { worstCaseMicrocents: 1n }));
    const opened = await test.client.zrange(openRequests, "0", "-1", "WITHSCORES");
    expect(opened).toEqual([input.requestId, expect.any(String)]);
    expect(Number(opened[1])).toBeLessThan(entered);
  });

  it.each([
    { why: "that costs nothing", input: { metered: false, promptTokens: 0 } },
    {
      why: "that costs nothing, with a limit",
      input: { metered: false, promptTokens: 0 },
      key: { maxConcurrentRequests: 5 },
    },
    { why: "that is refused", key: { disabled: true } },
  ])("enters no request $why", async ({ key: settings = {}, input = {} }) => {
    const key = await createTestKey(test.store, settings);
    expect(await admitKnown(test.store, key, input)).toMatchObject({ isEntered: false });
    expect(await test.client.zcard(openRequestsKey(key.organizationId))).toBe(0);
  });

  it.each([
    { requestsPerMinute: 1, capacity: 10 },
    { requestsPerMinute: 60, capacity: 10 },
    { requestsPerMinute: 109, capacity: 10 },
    { requestsPerMinute: 110, capacity: 11 },
    { requestsPerMinute: 600, capacity: 60 },
    { requestsPerMinute: 6000, capacity: 600 },
    { requestsPerMinute: 1_000_000, capacity: 100_000 },
  ])("gives $requestsPerMinute rpm a full bucket of $capacity", async ({ requestsPerMinute, capacity }) => {
    const key = await createTestKey(test.store, { requestsPerMinute });
    const { bucket } = await admitKnown(test.store, key);
    expect(bucket).toMatchObject({ capacity, remaining: capacity - 1 });
  });

  it("refuses the eleventh request at once at 1 rpm and says that a token takes a minute", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 1 });
    for (let sent = 0; sent < 10; sent += 1) {
      expect((await admitKnown(test.store, key)).decision).toBe("admitted");
    }
    const refused = await admitKnown(test.store, key);
    expect(refused).toMatchObject({
      decision: "rate_limited",
      bucket: { remaining: 0, retryAfterSeconds: 60 },
    });
  });

  it("lets exactly the capacity through when 1,000 callers come at once", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 1 });
    const admissions = await Promise.all(Array.from({ length: 1000 }, () => admitKnown(test.store, key)));
    const granted = admissions.filter(({ decision }) => decision === "admitted");
    expect(granted.map(({ bucket }) => bucket.remaining).sort((a, b) => b - a)).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
    ]);
  });

  it.each<{
    name: string;
    key?: Partial<KeySettings>;
    organization?: Partial<OrganizationSettings>;
    decision: string;
  }>([
    { name: "a disabled key", key: { disabled: true }, decision: "key_disabled" },
    { name: "an expired key", key: { expiresAtMs: 1 }, decision: "key_expired" },
    {
      name: "a suspended organization",
      organization: { suspended: true },
      decision: "organization_suspended",
    },
    {
      name: "a disabled, expired key of a suspended organization, as disabled",
      key: { disabled: true, expiresAtMs: 1 },
      organization: { suspended: true },
      decision: "key_disabled",
    },
  ])("refuses $name, without taking a token", async ({ key = {}, organization = {}, decision }) => {
    const created = await createTestKey(test.store, key, organization);
    const refused = await admitKnown(test.store, created, { metered: false, promptTokens: 0 });
    expect(refused).toMatchObject({ decision, bucket: { remaining: 60 } });
    expect((await admitKnown(test.store, created)).bucket.remaining).toBe(60);
  });

  it("does not know a hash that is not the key's, a deleted key, or a key of an organization that is gone", async () => {
    const key = await createTestKey(test.store);
    const other = await test.store.admit(admitInput(key, { presentedHash: createHashedKey().hash }));
    expect(other.decision).toBe("unknown_key");
    await test.store.deleteKey(key);
    expect((await test.store.admit(admitInput(key))).decision).toBe("unknown_key");
    const orphan = await createTestKey(test.store);
    await test.client.del(`igw:{${orphan.organizationId}}:organization`);
    expect((await test.store.admit(admitInput(orphan))).decision).toBe("unknown_key");
  });

  it("refuses at a cap of 0 from the first request on, and takes a token for it", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 0 }) });
    expect(await admitKnown(test.store, key)).toMatchObject({
      decision: "key_cap_reached",
      bucket: { remaining: 59 },
    });
    const other = await createTestKey(test.store, {}, { limits: monthLimits({ cap: 0 }) });
    expect((await admitKnown(test.store, other)).decision).toBe("organization_cap_reached");
  });

  it("refuses when spend equals a cap and not a microcent before", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 100 }) });
    await spend(key, 99_999_999n);
    expect((await admitKnown(test.store, key)).decision).toBe("admitted");
    await spend(key, 1n);
    expect((await admitKnown(test.store, key)).decision).toBe("key_cap_reached");
  });

  it.each([100_000_000n, 9_000_000_000n])("is exact to the microcent at a cap of %s cents", async (cents) => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: Number(cents) }) });
    await spend(key, cents * 1_000_000n - 1n);
    const below = await admitKnown(test.store, key);
    expect(below).toMatchObject({
      decision: "admitted",
      caps: [{ spentMicrocents: cents * 1_000_000n - 1n }],
    });
    await spend(key, 1n);
    expect((await admitKnown(test.store, key)).decision).toBe("key_cap_reached");
    await spend(key, 1n);
    const above = await admitKnown(test.store, key);
    expect(above).toMatchObject({
      decision: "key_cap_reached",
      reachedCap: { spentMicrocents: cents * 1_000_000n + 1n },
    });
  });

  it("tells spend around and beyond 2^53 to the microcent", async () => {
    const far = { limits: monthLimits({ cap: 9_000_000_000 }) };
    const key = await createTestKey(test.store, far, far);
    const limit = 2n ** 53n;
    await spend(key, limit - 1n);
    for (const expected of [limit - 1n, limit, limit + 1n, limit + 2n]) {
      const { caps } = await admitKnown(test.store, key);
      expect(caps.map(({ spentMicrocents }) => spentMicrocents)).toEqual([expected, expected]);
      await spend(key, 1n);
    }
  });

  it("names the key's cap when both are reached, and counts all keys against the organization's", async () => {
    const first = await createTestKey(
      test.store,
      { limits: monthLimits({ cap: 10 }) },
      { limits: monthLimits({ cap: 10 }) },
    );
    const second = await addTestKey(test.store, first.organizationId);
    await spend(first, 10_000_000n);
    expect((await admitKnown(test.store, first)).decision).toBe("key_cap_reached");
    expect((await admitKnown(test.store, second)).decision).toBe("organization_cap_reached");
  });

  it("never refuses for a budget", async () => {
    const key = await createTestKey(
      test.store,
      { limits: monthLimits({ budget: 1 }) },
      { limits: monthLimits({ budget: 1 }) },
    );
    await spend(key, 5_000_000n);
    expect((await admitKnown(test.store, key)).decision).toBe("admitted");
  });

  it("does not look at caps for calls that cost nothing", async () => {
    const key = await createTestKey(
      test.store,
      { limits: monthLimits({ cap: 0 }) },
      { limits: monthLimits({ cap: 0 }) },
    );
    expect((await admitKnown(test.store, key, { metered: false, promptTokens: 0 })).decision).toBe(
      "admitted",
    );
  });

  it("puts the bucket before the caps", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 1, limits: monthLimits({ cap: 0 }) });
    for (let sent = 0; sent < 10; sent += 1) await admitKnown(test.store, key);
    expect((await admitKnown(test.store, key)).decision).toBe("rate_limited");
  });

  it("sees a changed key and organization on the very next request", async () => {
    const key = await createTestKey(test.store);
    const decision = async (): Promise<string> => (await admitKnown(test.store, key)).decision;
    await test.store.changeKey(key, { disabled: true }, null);
    expect(await decision()).toBe("key_disabled");
    await test.store.changeKey(key, { disabled: false, limits: monthLimits({ cap: 0 }) }, null);
    expect(await decision()).toBe("key_cap_reached");
    await test.store.changeKey(key, { limits: [] }, null);
    await test.store.changeOrganization(key.organizationId, { limits: monthLimits({ cap: 0 }) }, null);
    expect(await decision()).toBe("organization_cap_reached");
    await test.store.changeOrganization(key.organizationId, { limits: monthLimits({ cap: 1 }) }, null);
    expect(await decision()).toBe("admitted");
  });
});

describe("admit from the bucket of count_tokens", () => {
  it("leaves the bucket of requests alone and tells its remaining", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 60 });
    await admitKnown(test.store, key);
    for (let sent = 0; sent < 60; sent += 1) {
      const admission = await admitKnown(test.store, key, {
        bucket: "count_tokens",
        metered: false,
        promptTokens: 0,
      });
      expect(admission.decision).toBe("admitted");
      expect(admission.bucket).toMatchObject({ capacity: 10 });
    }
    const refused = await admitKnown(test.store, key, {
      bucket: "count_tokens",
      metered: false,
      promptTokens: 0,
    });
    expect(refused).toMatchObject({
      decision: "rate_limited",
      bucket: { capacity: 10, retryAfterSeconds: 1 },
    });
    expect(refused.bucket.remaining).toBeGreaterThanOrEqual(9);
    expect((await admitKnown(test.store, key)).decision).toBe("admitted");
  });

  it("has the key's capacity where that is above 60", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 700 });
    const admissions = await Promise.all(
      Array.from({ length: 70 }, () =>
        admitKnown(test.store, key, { bucket: "count_tokens", metered: false, promptTokens: 0 }),
      ),
    );
    expect(admissions.every(({ decision }) => decision === "admitted")).toBe(true);
  });
});
