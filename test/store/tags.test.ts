import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chargeOf, formatSpoolLine, parseSpoolLine } from "../../src/data-path/spool/entry.ts";
import { openRequestsKey, tagCombinationsKey } from "../../src/data-path/store/redis/keys.ts";
import { MAX_TAG_COMBINATIONS, OTHER_TAGS } from "../../src/shared/usage/tags.ts";
import type { RequestIdentity } from "../../src/shared/stored/settlement.ts";
import {
  addTestKey,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  type TestKey,
} from "./fixture.ts";
import { withTestStore } from "./fixture.ts";

const test = withTestStore();

async function identify(key: TestKey, tags: string): Promise<RequestIdentity> {
  return { ...(await createIdentity(test.store, key)), tags };
}

/** Opens and charges as a request's owner does. Returns the row that it was told. */
async function spend(key: TestKey, tags: string, microcents: bigint): Promise<string | undefined> {
  const identity = await identify(key, tags);
  const opened = await test.store.openRecord(openRecordInput(identity));
  const tagRow = "tagRow" in opened ? opened.tagRow : undefined;
  const charged = tagRow === undefined ? identity : { ...identity, tagRow };
  await test.store.charge(chargeInput(charged, 1, microcents, { final: FINAL }));
  return tagRow;
}

/** Tags → microcents, of all days, keys and models; and what was spent. */
async function readTags(key: TestKey) {
  const usage = await test.store.readUsage(key.organizationId, null);
  const costs: Record<string, bigint> = {};
  for (const { tags, costMicrocents } of usage.rows) costs[tags] = (costs[tags] ?? 0n) + costMicrocents;
  const spent = (await test.store.readSpend(key.organizationId, null)).organizationMicrocents;
  const { tagCombinations, hasOtherTags } = usage;
  return { costs, spent, tagCombinations, hasOtherTags };
}

/** As many combinations as a month keeps apart. */
async function fillCombinations(key: TestKey): Promise<void> {
  const { month } = await createIdentity(test.store, key);
  const rows = Array.from({ length: MAX_TAG_COMBINATIONS }, (_, number) => [`row${number}`, `n=${number}`]);
  await test.client.hset(tagCombinationsKey(key.organizationId, month), ...rows.flat());
}

describe("tags of requests", () => {
  it("have rows of their own in the usage, beside that of requests without tags", async () => {
    const key = await createTestKey(test.store);
    await spend(key, "team=search", 5n);
    await spend(key, "team=search", 6n);
    await spend(key, "feature=a,team=search", 7n);
    await spend(key, "", 8n);
    expect(await readTags(key)).toEqual({
      costs: { "team=search": 11n, "feature=a,team=search": 7n, "": 8n },
      spent: 26n,
      tagCombinations: 2,
      hasOtherTags: false,
    });
  });

  it("count as `other` from the 1,001st combination of a month on, for the rest of the month", async () => {
    const key = await createTestKey(test.store);
    await fillCombinations(key);
    await spend(key, "team=late", 5n);
    await spend(key, "team=later", 6n);
    await spend(key, "", 7n);
    expect(await readTags(key)).toEqual({
      costs: { [OTHER_TAGS]: 11n, "": 7n },
      spent: 18n,
      tagCombinations: MAX_TAG_COMBINATIONS,
      hasOtherTags: true,
    });
  });

  it("of one key are kept apart in half of what the month has left, however many come at the same time", async () => {
    const key = await createTestKey(test.store);
    const half = MAX_TAG_COMBINATIONS / 2;
    const rows = await Promise.all(
      Array.from({ length: half + 50 }, (_, number) => spend(key, `n=${number}`, 1n)),
    );
    expect(rows.filter((row) => row === OTHER_TAGS)).toHaveLength(50);
    const { costs, spent, tagCombinations } = await readTags(key);
    expect([tagCombinations, spent]).toEqual([half, BigInt(half + 50)]);
    expect(Object.values(costs).reduce((sum, cost) => sum + cost, 0n)).toBe(spent);
    expect(costs[OTHER_TAGS]).toBe(50n);
    // Another key of the organization has a share of the rest.
    const other = await addTestKey(test.store, key.organizationId);
    await spend(other, "team=search", 7n);
    expect((await readTags(key)).costs["team=search"]).toBe(7n);
  });

  it("stay in the row that was decided first, whatever a later charge of the request says", async () => {
    const key = await createTestKey(test.store);
    const identity = await identify(key, "team=search");
    await test.store.openRecord(openRecordInput(identity));
    await fillCombinations(key);
    await test.store.charge(chargeInput(identity, 1, 5n, { estimate: null }));
    await test.store.charge(chargeInput({ ...identity, tagRow: OTHER_TAGS }, 2, 9n, { final: FINAL }));
    expect((await readTags(key)).costs).toEqual({ "team=search": 9n });
  });

  it("count in the row that the owner was told where the record is lost", async () => {
    const key = await createTestKey(test.store);
    await fillCombinations(key);
    const identity = await identify(key, "team=late");
    const opened = await test.store.openRecord(openRecordInput(identity));
    expect(opened).toEqual({ outcome: "opened", tagRow: OTHER_TAGS });
    const { organizationId, requestId, month } = identity;
    await test.client.del(
      `igw:{${organizationId}}:request:${requestId}`,
      tagCombinationsKey(organizationId, month),
    );
    await test.store.charge(chargeInput({ ...identity, tagRow: OTHER_TAGS }, 1, 5n, { final: FINAL }));
    expect(await readTags(key)).toMatchObject({ costs: { [OTHER_TAGS]: 5n }, hasOtherTags: true });
  });

  it("are decided by the first charge where no record came, and repeats count nothing twice", async () => {
    const key = await createTestKey(test.store);
    const identity = await identify(key, "team=search");
    const final = chargeInput(identity, 3, 9n, { final: FINAL });
    await Promise.all(Array.from({ length: 5 }, () => test.store.charge(final)));
    expect(await readTags(key)).toMatchObject({ costs: { "team=search": 9n }, spent: 9n });
    const [entry] = (await test.store.listRequests(key.organizationId, { limit: 5, after: null })).items;
    expect(entry?.tags).toBe("team=search");
  });

  it("of a request that another closes count in its row, as does the charge of an owner that comes back", async () => {
    const key = await createTestKey(test.store);
    const identity = await identify(key, "team=search");
    await test.store.openRecord(openRecordInput(identity, { floorMicrocents: 40n, floorInputTokens: 4 }));
    await test.client.zadd(openRequestsKey(key.organizationId), 1, identity.requestId);
    const overdue = await test.store.listOverdue(key.organizationId, 10);
    expect(await test.store.close(overdue[0]!)).toBe("closed");
    expect(await readTags(key)).toMatchObject({ costs: { "team=search": 40n }, spent: 40n });
    const reaped = await test.store.findRequest(key.organizationId, identity.requestId, null);
    expect(reaped?.tags).toBe("team=search");
    await test.store.charge(chargeInput(identity, 1, 9n, { final: FINAL }));
    expect(await readTags(key)).toMatchObject({ costs: { "team=search": 9n }, spent: 9n });
  });

  it("count in the same row when the spool is replayed, once or many times", async () => {
    const key = await createTestKey(test.store);
    await fillCombinations(key);
    const identity = { ...(await identify(key, "team=late")), tagRow: OTHER_TAGS };
    const charge = chargeInput(identity, 2, 9n, { final: FINAL });
    const line = formatSpoolLine({ kind: "charge", atMs: 0, charge }).trimEnd();
    const opened = { ...(await identify(key, "n=1")), floorMicrocents: 5n, floorInputTokens: 1 };
    const open = formatSpoolLine({ kind: "open", atMs: 0, opened }).trimEnd();
    for (const each of [line, open, open, line]) await test.store.charge(chargeOf(parseSpoolLine(each)!));
    await test.store.charge(chargeInput(opened, 1, 7n, { final: FINAL }));
    expect(await readTags(key)).toMatchObject({ costs: { [OTHER_TAGS]: 16n }, spent: 16n });
  });

  it("are the same for an opening that is repeated", async () => {
    const key = await createTestKey(test.store);
    const identity = await identify(key, "team=search");
    const first = await test.store.openRecord(openRecordInput(identity));
    expect(await test.store.openRecord(openRecordInput(identity))).toEqual({ ...first, outcome: "exists" });
  });

  it("add up to what was spent, to the microcent, over any requests", async () => {
    const tags = fc.constantFrom("", "a=1", "a=2", "a=1,b=1", "user=x", OTHER_TAGS);
    const charges = fc.array(fc.bigInt({ min: 0n, max: 10n ** 14n }), { minLength: 1, maxLength: 4 });
    const requests = fc.array(fc.record({ tags, charges, isOpened: fc.boolean() }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(requests, async (plans) => {
        const key = await createTestKey(test.store);
        const expected: Record<string, bigint> = {};
        await Promise.all(
          plans.map(async (plan) => {
            const own = plan.tags === OTHER_TAGS ? "n=1" : plan.tags;
            const identity = await identify(key, own);
            if (plan.isOpened) await test.store.openRecord(openRecordInput(identity));
            for (const [index, total] of plan.charges.entries()) {
              const final = index === plan.charges.length - 1 ? FINAL : null;
              await test.store.charge(chargeInput(identity, index + 1, total, { final }));
            }
            expected[own] = (expected[own] ?? 0n) + plan.charges.at(-1)!;
          }),
        );
        const { costs, spent } = await readTags(key);
        expect(Object.fromEntries(Object.entries(costs).filter(([, cost]) => cost > 0n))).toEqual(
          Object.fromEntries(Object.entries(expected).filter(([, cost]) => cost > 0n)),
        );
        expect(Object.values(costs).reduce((sum, cost) => sum + cost, 0n)).toBe(spent);
      }),
      { numRuns: 25 },
    );
  });
});

describe("raiseUsage", () => {
  it("brings back what each combination of tags has lost, and nothing twice where rows differ", async () => {
    const key = await createTestKey(test.store);
    await spend(key, "team=a", 5n);
    await spend(key, "team=b", 5n);
    const { organizationId, keyId } = key;
    const { rows } = await test.store.readUsage(organizationId, null);
    const { day, model } = rows[0]!;
    const raise = (costs: Record<string, bigint>) => {
      const logged = Object.entries(costs).map(([tags, costMicrocents]) => ({
        ...rows[0]!,
        tags,
        costMicrocents,
      }));
      const tagsInRedis = ["team=a", "team=b", "team=c"];
      return test.store.raiseUsage(
        organizationId,
        { day, keyId, owners: "", model: model!, rows: logged },
        tagsInRedis,
      );
    };
    expect(await raise({ "team=a": 7n, "team=b": 5n })).toEqual({ outcome: "raised", addedMicrocents: 2n });
    // The log has in `other` what Redis has in a row of its own.
    expect(await raise({ "team=a": 7n, [OTHER_TAGS]: 5n })).toMatchObject({ addedMicrocents: 0n });
    expect(await raise({ "team=a": 7n, "team=b": 5n, "team=c": 4n })).toMatchObject({ addedMicrocents: 4n });
    expect(await raise({ "team=a": 7n, "team=b": 5n, "team=c": 4n })).toMatchObject({ outcome: "enough" });
    expect(await readTags(key)).toMatchObject({
      costs: { "team=a": 7n, "team=b": 5n, "team=c": 4n },
      spent: 16n,
    });
  });
});
