import { describe, expect, it } from "vitest";
import { openRequestsKey, inflightKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  admitInput,
  chargeInput,
  countScripts,
  createIdentity,
  createTestKey,
  FINAL,
  known,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

/** Admissions that come in one turn, as a row for each: decision, whole requests left, seconds to wait. */
async function admitTogether(key: TestKey, count: number, changes: Parameters<typeof admitInput>[1] = {}) {
  const results = await Promise.all(
    Array.from({ length: count }, () => test.store.admit(admitInput(key, changes))),
  );
  return results.map(known);
}

describe("admissions of one turn", () => {
  it("of one key are one command", async () => {
    const key = await createTestKey(test.store);
    // From then on the script is known to the node.
    await admitTogether(key, 1);
    const before = await countScripts(test.client);
    await admitTogether(key, 20);
    expect((await countScripts(test.client)) - before).toBe(1);
  });

  it("are decided one after the other: the bucket's last token goes to the one whose turn it is", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 1 });
    const admissions = await admitTogether(key, 13);
    const rows = admissions.map(({ decision, bucket }) => [
      decision,
      bucket.remaining,
      bucket.retryAfterSeconds,
    ]);
    const granted = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((remaining) => ["admitted", remaining, 0]);
    const refused = ["rate_limited", 0, 60];
    expect(rows).toEqual([...granted, refused, refused, refused]);
    const resets = admissions.slice(0, 10).map(({ bucket }) => bucket.resetMs);
    expect(resets).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tokens) => tokens * 60_000));
    expect(admissions.map(({ isEntered }) => isEntered)).toEqual(rows.map(([each]) => each === "admitted"));
    expect(await test.client.zcard(openRequestsKey(key.organizationId))).toBe(10);
    expect(await test.client.zcard(inflightKey(key.organizationId, key.keyId))).toBe(10);
    const { items } = await test.store.listRequests(key.organizationId, { limit: 10, after: null });
    expect(items).toHaveLength(3);
  });

  it("take tokens of the bucket that they ask for", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 1 });
    const [requests, counts] = await Promise.all([
      admitTogether(key, 2),
      admitTogether(key, 61, { bucket: "count_tokens", metered: false, promptTokens: 0 }),
    ]);
    expect(requests.map(({ bucket }) => bucket.remaining)).toEqual([9, 8]);
    expect(counts.map(({ decision }) => decision)).toEqual([
      ...Array.from({ length: 60 }, () => "admitted"),
      "rate_limited",
    ]);
    expect(new Set(counts.map(({ bucket }) => bucket.remaining))).toEqual(new Set([8]));
  });

  it("meet the same cap, and each keeps its token", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 1 }) });
    const identity = await createIdentity(test.store, key);
    await test.store.charge(chargeInput(identity, 1, 1_000_000n, { final: FINAL }));
    const admissions = await admitTogether(key, 3);
    expect(admissions.map(({ decision, bucket }) => [decision, bucket.remaining])).toEqual([
      ["key_cap_reached", 59],
      ["key_cap_reached", 58],
      ["key_cap_reached", 57],
    ]);
  });

  it("of several keys, and of one that is not there, are answered apart", async () => {
    const key = await createTestKey(test.store);
    const disabled = await addTestKey(test.store, key.organizationId, { disabled: true });
    const results = await Promise.all([
      test.store.admit(admitInput(key)),
      test.store.admit(admitInput(disabled)),
      test.store.admit(admitInput(key, { presentedHash: "f".repeat(64) })),
      test.store.admit(admitInput(key)),
      test.store.admit(admitInput(key, { presentedHash: "f".repeat(64) })),
    ]);
    const decisions = ["admitted", "key_disabled", "unknown_key", "admitted", "unknown_key"];
    expect(results.map(({ decision }) => decision)).toEqual(decisions);
  });
});
