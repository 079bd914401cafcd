/** What an organization stores and nobody's requests need is bounded by count. */
import { describe, expect, it } from "vitest";
import {
  keyRecordKey,
  keyListKey,
  tokenListKey,
  alertOutboxKey,
} from "../../src/data-path/store/redis/keys.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { FullError, MAX_RECORDS } from "../../src/shared/stored/max-records.ts";
import { CENT, spend } from "../alerts/delivery-fixture.ts";
import { addTestKey, createTestKey, withTestStore } from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const MAX_DELETED = 10_000;
const test = withTestStore();

/** So many members, as scripts leave them. */
async function fill(key: string, count: number, member: (index: number) => string): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const pairs = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => [
      String(from + index),
      member(from + index),
    ]);
    await test.client.zadd(key, ...pairs.flat());
  }
}

describe("what an organization stores", () => {
  it("are so many deleted keys at most: the oldest record goes", async () => {
    const { organizationId, keyId } = await createTestKey(test.store);
    const list = `igw:{${organizationId}}:deleted`;
    await test.store.deleteKey({ organizationId, keyId });
    const second = await addTestKey(test.store, organizationId);
    await test.store.deleteKey({ organizationId, keyId: second.keyId });
    expect(await test.client.exists(keyRecordKey(organizationId, keyId))).toBe(1);
    expect(await test.client.pttl(list)).toBeGreaterThan(0);
    const later = Date.now() + 1_000;
    await fill(list, MAX_DELETED - 2, (index) => `key:${later}-${index}`);
    await test.client.zadd(list, "-2", `key:${keyId}`, "-1", `key:${second.keyId}`);
    const third = await addTestKey(test.store, organizationId);
    await test.store.deleteKey({ organizationId, keyId: third.keyId });
    expect(await test.client.exists(keyRecordKey(organizationId, keyId))).toBe(0);
    expect(await test.client.exists(keyRecordKey(organizationId, second.keyId))).toBe(1);
    expect(await test.client.zcard(list)).toBe(MAX_DELETED);
  });

  it.each([
    { kind: "key", list: keyListKey, make: (id: string) => addTestKey(test.store, id) },
    {
      kind: "token",
      list: tokenListKey,
      make: (id: string) =>
        test.store.createToken(
          id,
          { name: "t", role: "admin" },
          { hash: createId("token", 0), display: "d" },
        ),
    },
  ] as const)("are so many of each $kind at most", async ({ kind, list, make }) => {
    const { organizationId } = await createTestKey(test.store);
    const members = MAX_RECORDS[kind] - (await test.client.zcard(list(organizationId))) - 1;
    await fill(list(organizationId), members, (index) => `of-the-test-${index}`);
    await make(organizationId);
    await expect(make(organizationId)).rejects.toThrow(FullError);
  });

  it("are so many messages that a channel does not take at most", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ budget: 1 }) });
    const outbox = alertOutboxKey(key.organizationId);
    const commands = test.client.pipeline();
    for (let entry = 1; entry <= 12_000; entry += 1) commands.xadd(outbox, `${entry}-0`, "id", "x");
    await commands.exec();
    await spend(test, key, CENT);
    expect(await test.client.xlen(outbox)).toBeLessThan(10_200);
  });
});
