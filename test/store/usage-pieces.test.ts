/** A month with many rows of usage: what reading it asks of Redis in one command, and what is served meanwhile. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { usageKey } from "../../src/data-path/store/redis/keys.ts";
import { daysOf, parseMonth } from "../../src/shared/time/calendar.ts";
import { USAGE_FIGURES } from "../../src/shared/usage/figures.ts";
import {
  connectStore,
  createIdentity,
  createTestKey,
  openRecordInput,
  type TestKey,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

const MONTH = "2028-02";
const ROWS_PER_DAY = 4_000;
const KEYS = 40;
const USER = "user_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11";
/** Elements of a reply: a field and its value are two. COUNT is a hint, and chains of the hash table add some. */
const MAX_ELEMENTS = 2_000;

/** What most rows have. */
const FIGURES = ["requests", "inputTokens", "outputTokens", "costMicrocents"] as const;

const days = daysOf(parseMonth(MONTH)!);
let key: TestKey;

/** One row for each key and model, with a few figures; those of the last key are a user's. */
beforeAll(async () => {
  key = await createTestKey(test.store);
  const fields: (string | number)[] = [];
  for (let index = 0; index < ROWS_PER_DAY; index += 1) {
    const id = `key_${String(index % KEYS).padStart(4, "0")}${index % KEYS === KEYS - 1 ? `.${USER}` : ""}`;
    const row = `${id}:acme/model-${String(Math.floor(index / KEYS)).padStart(3, "0")}`;
    for (const figure of FIGURES) fields.push(`${row}:${USAGE_FIGURES[figure].field}`, 1);
  }
  for (const day of days) await test.client.hset(usageKey(key.organizationId, day), ...fields);
});

async function withReplies<Result>(work: () => Promise<Result>) {
  const scan = vi.spyOn(test.client, "hscan");
  const whole = vi.spyOn(test.client, "hgetall");
  try {
    const result = await work();
    const replies = await Promise.all(
      scan.mock.results.map(({ value }) => value as Promise<[string, string[]]>),
    );
    const elements = replies.map(([, found]) => found.length);
    return { result, elements, wholeHashes: whole.mock.calls.length };
  } finally {
    scan.mockRestore();
    whole.mockRestore();
  }
}

describe("a month with 4,000 rows a day", () => {
  it.each([
    ["a key", { keyId: "key_0003" }],
    ["a user", { userId: USER }],
  ])("gives of %s only those rows out of Redis", async (_, of) => {
    const { result, elements } = await withReplies(() =>
      test.store.readUsageOfDay(key.organizationId, days[0]!, of),
    );
    expect(result).toHaveLength(ROWS_PER_DAY / KEYS);
    expect(elements.reduce((sum, count) => sum + count, 0)).toBe(2 * FIGURES.length * result.length);
  });

  it("is read in pieces, between which strict caps have their turn again and again", async () => {
    const strict = await createTestKey(test.store, {}, { strictCaps: true });
    const other = await connectStore(test.address);
    const reading = { isDone: false };
    let opened = 0;
    try {
      const report = withReplies(() => test.store.readUsage(key.organizationId, MONTH)).finally(() => {
        reading.isDone = true;
      });
      while (!reading.isDone) {
        const input = openRecordInput(await createIdentity(other.store, strict), { worstCaseMicrocents: 1n });
        expect(await other.store.openRecord(input)).toEqual({ outcome: "opened" });
        opened += 1;
      }
      const { result, elements, wholeHashes } = await report;
      expect(result.rows).toHaveLength(days.length * ROWS_PER_DAY);
      expect(result.rows.every((row) => row.requests === 1 && row.costMicrocents === 1n)).toBe(true);
      expect(wholeHashes).toBe(0);
      expect(Math.max(...elements)).toBeLessThanOrEqual(MAX_ELEMENTS);
    } finally {
      await other.stop();
    }
    expect(opened).toBeGreaterThan(days.length);
  });
});
