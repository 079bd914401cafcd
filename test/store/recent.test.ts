import { describe, expect, it } from "vitest";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import type { RecentRequest } from "../../src/shared/stored/reporting.ts";
import {
  addTestKey,
  admitInput,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  known,
  MODEL,
  ROUTE,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

const TRACE = {
  timeline: { bodyMs: 3, routedMs: 5, upstreamMs: 90, firstTokenMs: 95, endMs: 1_200 },
  upstream: { name: "local", status: 200, cause: null },
  requestedModel: "gpt-4o-mini",
};

describe("findRequest", () => {
  it("tells what a request cost", async () => {
    const key = await createTestKey(test.store);
    const identity = await createIdentity(test.store, key);
    const checks = [{ name: "price", passed: true, figures: { input: "250", currency: "USD" } }];
    await test.store.openRecord(openRecordInput(identity));
    await test.store.charge(chargeInput(identity, 1, 5n));
    expect(await test.store.findRequest(key.organizationId, identity.requestId, key.keyId)).toBeNull();
    const last = chargeInput(identity, 2, 123n, {
      estimated: true,
      final: { ...FINAL, checks, trace: TRACE },
    });
    await test.store.charge(last);
    await test.store.charge(last);
    const found = await test.store.findRequest(key.organizationId, identity.requestId, key.keyId);
    expect(found).toEqual({
      requestId: identity.requestId,
      keyId: key.keyId,
      recordedAtMs: found?.recordedAtMs,
      route: ROUTE,
      model: MODEL,
      tags: "",
      owners: "",
      session: null,
      refusal: null,
      status: 200,
      errorCode: null,
      ...NO_TOKENS,
      inputTokens: 20,
      cachedInputTokens: 6,
      outputTokens: 14,
      reasoningTokens: 2,
      estimated: true,
      costMicrocents: 123n,
      toolMicrocents: 0n,
      checks,
      trace: TRACE,
    });
    expect((await test.store.listRequests(key.organizationId, { limit: 10, after: null })).items).toEqual([
      found,
    ]);
  });

  it("tells every check of a refused admission with the figures it was decided by", async () => {
    const key = await createTestKey(
      test.store,
      { limits: monthLimits({ cap: 0 }) },
      { limits: monthLimits({ cap: 7 }), currency: "EUR" },
    );
    const input = admitInput(key);
    const admission = known(await test.store.admit(input));
    const found = await test.store.findRequest(key.organizationId, input.requestId, key.keyId);
    expect(found).toMatchObject({
      refusal: "key_cap_reached",
      status: null,
      errorCode: null,
      route: ROUTE,
      costMicrocents: 0n,
    });
    const { key: limits, bucket } = admission;
    expect(found?.checks).toEqual([
      { name: "key_enabled", passed: true, figures: {} },
      { name: "key_not_expired", passed: true, figures: { expires_at: null } },
      { name: "organization_active", passed: true, figures: {} },
      {
        name: "rate_limit",
        passed: true,
        figures: {
          bucket: "requests",
          requests_per_minute: limits.requestsPerMinute,
          burst: bucket.capacity,
          remaining: bucket.remaining,
          retry_after_seconds: 0,
        },
      },
      {
        name: "concurrency",
        passed: true,
        figures: { concurrent_requests: null, max_concurrent_requests: null },
      },
      {
        name: "key_hard_cap",
        passed: false,
        figures: { spent_microcents: "0", hard_cap_cents: 0, currency: "EUR" },
      },
    ]);
  });

  it("tells whose it was when it was admitted, of one that was charged or refused behind its admission", async () => {
    const key = await createTestKey(test.store);
    const owners = `${createId("user", 1)}.${createId("group", 1)}`;
    const find = (id: string) => test.store.findRequest(key.organizationId, id, key.keyId);
    for (const isSingleCharge of [undefined, true] as const) {
      const identity = { ...(await createIdentity(test.store, key)), owners };
      await test.store.charge(chargeInput(identity, 1, 123n, { final: FINAL, isSingleCharge }));
      expect(await find(identity.requestId)).toMatchObject({ owners, costMicrocents: 123n });
    }
    const { requestId } = admitInput(key);
    const refusal = { route: ROUTE, model: null, status: 400, errorCode: "invalid_json", checks: [] };
    await test.store.recordRequest({ ...key, ...refusal, requestId, owners });
    expect(await find(requestId)).toMatchObject({ owners, status: 400, costMicrocents: 0n });
  });

  it("does not show another key's request, nor what is no id", async () => {
    const key = await createTestKey(test.store, { disabled: true });
    const other = await addTestKey(test.store, key.organizationId);
    const input = admitInput(key);
    await test.store.admit(input);
    const find = (id: string, keyId: string | null) => test.store.findRequest(key.organizationId, id, keyId);
    expect(await find(input.requestId, other.keyId)).toBeNull();
    expect(await find(input.requestId, null)).toMatchObject({ refusal: "key_disabled" });
    expect(await find("req_hello", null)).toBeNull();
    expect(await find("req_01934f6e-0000-7000-8000-000000000000", null)).toBeNull();
  });

  it("finds a request that was refused after its admission", async () => {
    const key = await createTestKey(test.store);
    const { requestId } = admitInput(key);
    await test.store.recordRequest({
      ...key,
      requestId,
      route: ROUTE,
      model: null,
      status: 400,
      errorCode: "invalid_json",
      checks: [],
    });
    const found = await test.store.findRequest(key.organizationId, requestId, key.keyId);
    expect(found).toMatchObject({ status: 400, errorCode: "invalid_json", model: null });
  });

  it("has another outcome and the same cost after a change, and nothing of a request that isn't there", async () => {
    const key = await createTestKey(test.store);
    const identity = { ...(await createIdentity(test.store, key)), session: "run 1" };
    await test.store.charge(
      chargeInput(identity, 1, 9_007_199_254_740_991n, { final: { ...FINAL, trace: TRACE } }),
    );
    const { organizationId } = key;
    const before = await test.store.findRequest(organizationId, identity.requestId, null);
    const checks = [{ name: "guardrail", passed: false, figures: { reason: "pii" } }];
    const outcome = { status: 403, errorCode: "guardrail_blocked", checks };
    await test.store.changeOutcome({ organizationId, requestId: identity.requestId, ...outcome });
    await test.store.changeOutcome({ organizationId, requestId: admitInput(key).requestId, ...outcome });
    const { items } = await test.store.listRequests(organizationId, { limit: 10, after: null });
    expect(items).toEqual([{ ...before, ...outcome, recordedAtMs: items[0]?.recordedAtMs }]);
  });

  it("tells every text and figure as it was", async () => {
    const key = await createTestKey(test.store);
    const identity = {
      ...(await createIdentity(test.store, key)),
      model: 'a "model"\\ of\u2028 ünïcode\n',
      tags: "a=b",
    };
    const final = { ...FINAL, status: 502, errorCode: 'upstream "error"', checks: [], trace: TRACE };
    const charge = chargeInput(identity, 1, 9_007_199_254_740_991n, { final });
    await test.store.charge(charge);
    expect(await test.store.findRequest(key.organizationId, identity.requestId, null)).toMatchObject({
      model: identity.model,
      tags: "a=b",
      status: 502,
      errorCode: 'upstream "error"',
      checks: [],
      trace: TRACE,
      costMicrocents: 9_007_199_254_740_991n,
    });
  });

  it("finds a paid request behind 3,000 refused ones, and one of those among them", async () => {
    const key = await createTestKey(test.store);
    const identity = await createIdentity(test.store, key);
    await test.store.charge(chargeInput(identity, 1, 9n, { final: FINAL }));
    await test.store.changeKey(key, { disabled: true }, null);
    await Promise.all(Array.from({ length: 3000 }, () => test.store.admit(admitInput(key))));
    const last = admitInput(key);
    await test.store.admit(last);
    const find = (id: string) => test.store.findRequest(key.organizationId, id, key.keyId);
    expect(await find(identity.requestId)).toMatchObject({ costMicrocents: 9n });
    expect(await find(last.requestId)).toMatchObject({ refusal: "key_disabled" });
    expect(await test.client.xlen(`igw:{${key.organizationId}}:refused`)).toBeLessThan(2200);
  });
});

describe("listRequests", () => {
  it("gives all of both kinds, the newest first, page by page", async () => {
    const key = await createTestKey(test.store);
    const expected: string[] = [];
    for (let count = 0; count < 11; count += 1) {
      const identity = await createIdentity(test.store, key);
      expected.unshift(identity.requestId);
      if (count % 3 === 0) {
        await test.store.admit(admitInput(key, { requestId: identity.requestId, presentedHash: key.hash }));
        await test.store.recordRequest({ ...key, ...identity, status: 404, errorCode: null, checks: [] });
      } else {
        await test.store.charge(chargeInput(identity, 1, 1n, { final: FINAL }));
      }
    }
    await test.store.changeKey(key, { disabled: true }, null);
    const refused = admitInput(key);
    await test.store.admit(refused);
    expected.unshift(refused.requestId);
    const listed: RecentRequest[] = [];
    let after: string | null = null;
    do {
      const page = await test.store.listRequests(key.organizationId, { limit: 4, after });
      listed.push(...page.items);
      after = page.next;
    } while (after !== null);
    // In two streams: what happened in the same millisecond has no order.
    expect(new Set(listed.map(({ requestId }) => requestId))).toEqual(new Set(expected));
    expect(listed).toHaveLength(expected.length);
    const times = listed.map(({ recordedAtMs }) => recordedAtMs);
    expect(times).toEqual(times.toSorted((left, right) => right - left));
  });

  it("gives those that a filter lets through, in as many steps as it takes", async () => {
    const key = await createTestKey(test.store);
    const other = await addTestKey(test.store, key.organizationId);
    const first = await createIdentity(test.store, other);
    await test.store.charge(chargeInput(first, 1, 1n, { final: FINAL }));
    const record = { ...key, route: ROUTE, model: null, status: 404, errorCode: null, checks: [] };
    for (let batch = 0; batch < 21; batch += 1) {
      await Promise.all(
        Array.from({ length: 100 }, () =>
          test.store.recordRequest({ ...record, requestId: admitInput(key).requestId }),
        ),
      );
    }
    const filter = { fromMs: null, matches: ({ keyId }: RecentRequest) => keyId === other.keyId };
    const page = await test.store.listRequests(key.organizationId, { limit: 5, after: null }, filter);
    expect(page.items).toEqual([]);
    const rest = await test.store.listRequests(key.organizationId, { limit: 5, after: page.next }, filter);
    expect(rest.items.map(({ requestId }) => requestId)).toEqual([first.requestId]);
    expect(rest.next).toBeNull();
  });

  it("reads nothing that ended before the filter's time", async () => {
    const key = await createTestKey(test.store);
    const old = await createIdentity(test.store, key);
    await test.store.charge(chargeInput(old, 1, 1n, { final: FINAL }));
    const found = await test.store.findRequest(key.organizationId, old.requestId, null);
    const at = found?.recordedAtMs ?? 0;
    const list = async (fromMs: number): Promise<number> => {
      const filter = { fromMs, matches: () => true };
      return (await test.store.listRequests(key.organizationId, { limit: 5, after: null }, filter)).items
        .length;
    };
    expect(await list(at)).toBe(1);
    expect(await list(at + 1)).toBe(0);
  });
});
