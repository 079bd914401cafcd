import { describe, expect, it } from "vitest";
import { DeferredAdmissions } from "../../../src/data-path/exchange/admission/deferred-admissions.ts";
import type { RateState } from "../../../src/data-path/limits/admission.ts";
import { type Decision, NO_OWNERS } from "../../../src/data-path/exchange/admission/decision.ts";

const REFUSED: Decision = { kind: "refused", reply: { status: 429, headers: [], body: "" }, log: NO_OWNERS };
const KEY = { keyId: "key_1", organizationId: "org_1" };
const OTHER = { keyId: "key_2", organizationId: "org_2" };

function open({ isServing = true } = {}) {
  const clock = { nowMs: 0 };
  const deferred = new DeferredAdmissions({
    isServing: () => isServing,
    clock: { monotonicMs: () => clock.nowMs },
  });
  return { deferred, clock };
}

/** Of a bucket of 60 a minute. */
const rateWith = (remaining: number): RateState => ({
  limit: 60,
  capacity: 100_000,
  remaining,
  resetMs: 0,
  timeMs: 1_000_000,
  tokens: [],
});
const never = new Promise<Decision>(() => undefined);

describe("an admission under way", () => {
  it("is waited for by ext_authz until a request of the key was admitted, and again once one was refused", () => {
    const { deferred } = open();
    const seen = [deferred.canDefer(KEY, 100)];
    deferred.learn(KEY.keyId, rateWith(9));
    seen.push(deferred.canDefer(KEY, 100), deferred.canDefer(OTHER, 100));
    deferred.learn(KEY.keyId, null);
    seen.push(deferred.canDefer(KEY, 100));
    expect(seen).toEqual([false, true, false, false]);
  });

  it.each([
    { name: "a body of unknown length, or a request without ext_proc", bodyBytes: null },
    { name: "a body that Envoy would buffer for it", bodyBytes: 128 * 1024 + 1 },
    { name: "a length that is none", bodyBytes: Number.NaN },
  ])("is waited for by ext_authz with $name", ({ bodyBytes }) => {
    const { deferred } = open();
    deferred.learn(KEY.keyId, rateWith(9));
    expect(deferred.canDefer(KEY, bodyBytes)).toBe(false);
    expect(deferred.canDefer(KEY, 128 * 1024)).toBe(true);
  });

  it("is waited for by ext_authz where ext_proc may call another worker", () => {
    const { deferred } = open({ isServing: false });
    deferred.learn(KEY.keyId, rateWith(9));
    expect(deferred.canDefer(KEY, 100)).toBe(false);
  });

  it("passes no more requests than the key's bucket has left, those counted that are not decided", async () => {
    const { deferred } = open();
    deferred.learn(KEY.keyId, rateWith(2));
    const decided = Promise.resolve(REFUSED);
    for (const [requestId, decision] of [["req_1", never] as const, ["req_2", decided] as const]) {
      expect(deferred.canDefer(KEY, 100)).toBe(true);
      deferred.defer(requestId, KEY, decision);
    }
    expect(deferred.canDefer(KEY, 100)).toBe(false);
    await decided;
    expect(deferred.canDefer(KEY, 100)).toBe(true);
  });

  it("is given to the first who comes for it, before its decision and after it", async () => {
    const { deferred } = open();
    deferred.defer("req_1", KEY, Promise.resolve(REFUSED));
    const awaited = deferred.take("req_1");
    expect(awaited?.decision).toBeNull();
    expect(await awaited?.decisionPromise).toBe(REFUSED);
    expect(awaited?.decision).toBe(REFUSED);
    expect(deferred.take("req_1")).toBeNull();
  });

  it("is forgotten when nobody has come for it in a minute and a half", () => {
    const { deferred, clock } = open();
    deferred.learn(KEY.keyId, rateWith(1_000_000));
    deferred.defer("req_1", KEY, never);
    clock.nowMs = 90_000;
    deferred.canDefer(KEY, 100);
    expect(deferred.take("req_1")).not.toBeNull();
    deferred.defer("req_2", KEY, never);
    clock.nowMs = 180_001;
    deferred.canDefer(KEY, 100);
    expect(deferred.take("req_2")).toBeNull();
  });
});

/** Requests that pass and that nobody comes for, as long as they are let through; how many. */
function abandon(deferred: DeferredAdmissions, owners: readonly (typeof KEY)[]): number {
  let passed = 0;
  for (let before = -1; before < passed;) {
    before = passed;
    for (const owner of owners) {
      deferred.learn(owner.keyId, rateWith(1_000_000));
      if (!deferred.canDefer(owner, 100)) continue;
      deferred.defer(`req_${passed}`, owner, Promise.resolve(REFUSED));
      passed += 1;
    }
  }
  return passed;
}

describe("requests that are abandoned behind their headers", () => {
  it("stop no other key's, however many they are", async () => {
    const { deferred } = open();
    deferred.learn(KEY.keyId, rateWith(600));
    deferred.learn(OTHER.keyId, rateWith(1));
    for (let sent = 0; sent < 120; sent += 1) deferred.defer(`req_${sent}`, KEY, Promise.resolve(REFUSED));
    await Promise.resolve();
    expect([deferred.canDefer(OTHER, 100), deferred.canDefer(KEY, 100)]).toEqual([true, true]);
  });

  it.each([
    { whose: "one key", owners: [KEY], atMost: 10_000 / 16 },
    {
      whose: "an organization's hundred keys",
      owners: Array.from({ length: 100 }, (_, index) => ({ ...KEY, keyId: `key_1_${index}` })),
      atMost: 10_000 / 4,
    },
    {
      whose: "a thousand organizations",
      owners: Array.from({ length: 1_000 }, (_, index) => ({
        keyId: `k_${index}`,
        organizationId: `o_${index}`,
      })),
      atMost: 9_999,
    },
  ])("of $whose take their share of the memory and leave some for the next", ({ owners, atMost }) => {
    const { deferred } = open();
    const passed = abandon(deferred, owners);
    expect(passed).toBeGreaterThan(atMost / 2);
    expect(passed).toBeLessThanOrEqual(atMost);
    deferred.learn(OTHER.keyId, rateWith(1));
    expect(deferred.canDefer(OTHER, 100)).toBe(true);
  });

  it("have their share back when somebody has come for them", () => {
    const { deferred } = open();
    const passed = abandon(deferred, [KEY]);
    expect(deferred.canDefer(KEY, 100)).toBe(false);
    for (let taken = 0; taken < passed; taken += 1) deferred.take(`req_${taken}`);
    expect(abandon(deferred, [KEY])).toBeGreaterThanOrEqual(passed);
  });

  it("is estimated to leave what has come into the bucket since, without what is not decided", () => {
    const { deferred, clock } = open();
    expect(deferred.estimate(KEY.keyId)).toBe(null);
    deferred.learn(KEY.keyId, { ...rateWith(5), capacity: 10 });
    deferred.defer("req_1", KEY, never);
    expect(deferred.estimate(KEY.keyId)).toMatchObject({ limit: 60, remaining: 4, resetMs: 6_000 });
    clock.nowMs = 1_500;
    const later = { remaining: 5, resetMs: 4_500, timeMs: 1_001_500, tokens: [] };
    expect(deferred.estimate(KEY.keyId)).toMatchObject(later);
    clock.nowMs = 60_000;
    expect(deferred.estimate(KEY.keyId)).toMatchObject({ remaining: 9, resetMs: 1_000 });
    deferred.learn(KEY.keyId, null);
    expect(deferred.estimate(KEY.keyId)).toBe(null);
  });
});
