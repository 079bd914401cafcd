import { describe, expect, it } from "vitest";
import type { ChargeInput, RequestIdentity } from "../../src/shared/stored/settlement.ts";
import { openRequestsKey, inflightKey, spendKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  chargeInput,
  countScripts,
  createIdentity,
  createRequest,
  createTestKey,
  FINAL,
  openRecordInput,
  spentBy,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

describe("charges of requests that end with their first charge", () => {
  const single = (identity: RequestIdentity, total: bigint, changes: Partial<ChargeInput> = {}) =>
    test.store.charge(chargeInput(identity, 1, total, { final: FINAL, isSingleCharge: true, ...changes }));
  const APPLIED = { outcome: "applied" };

  it("are one command for all of a turn that count in the same row, and leave what each of them would", async () => {
    const first = await createRequest(test.store);
    const identities = [1, 2, 3].map((index) => ({ ...first, requestId: `${first.requestId}${index}` }));
    // From then on the script is known to the node.
    await single({ ...first, requestId: `${first.requestId}0` }, 0n);
    const before = await countScripts(test.client);
    const charged = await Promise.all(
      identities.map((identity, index) => single(identity, BigInt(index + 1), { toolMicrocents: 1n })),
    );
    expect(charged).toEqual([APPLIED, APPLIED, APPLIED]);
    expect((await countScripts(test.client)) - before).toBe(1);
    expect(await spentBy(test.store, first)).toBe(6n);
    const { rows } = await test.store.readUsage(first.organizationId, first.month);
    expect(rows).toMatchObject([
      { requests: 4, inputTokens: 40, outputTokens: 28, costMicrocents: 6n, toolMicrocents: 3n },
    ]);
    const { items } = await test.store.listRequests(first.organizationId, { limit: 3, after: null });
    expect(items.map(({ costMicrocents, requestId }) => ({ costMicrocents, requestId }))).toEqual(
      identities
        .map(({ requestId }, index) => ({ costMicrocents: BigInt(index + 1), requestId }))
        .toReversed(),
    );
    for (const [index, identity] of identities.entries()) {
      expect(await single(identity, 9n)).toEqual({ outcome: "repeated" });
      const corrected = chargeInput(identity, 2, BigInt(10 * (index + 1)), { final: FINAL });
      expect(await test.store.charge(corrected)).toEqual(APPLIED);
    }
    expect(await spentBy(test.store, first)).toBe(60n);
  });

  it("of several rows, keys and organizations in a turn each count where they belong", async () => {
    const [key, stranger] = [await createTestKey(test.store), await createTestKey(test.store)];
    const sibling = await addTestKey(test.store, key.organizationId);
    const identities = await Promise.all(
      [key, key, sibling, stranger].map((each) => createIdentity(test.store, each)),
    );
    const [usual, otherModel, siblings, strangers] = identities as [
      RequestIdentity,
      RequestIdentity,
      RequestIdentity,
      RequestIdentity,
    ];
    const tagged = { ...usual, requestId: `${usual.requestId}-tagged`, tags: '{"team":"a"}' };
    await Promise.all([
      single(usual, 1n),
      single({ ...otherModel, model: "acme/other" }, 10n),
      single(tagged, 100n),
      single(siblings, 1_000n),
      single(strangers, 10_000n),
    ]);
    const { rows } = await test.store.readUsage(key.organizationId, usual.month);
    const counted = rows.map(({ keyId, model, tags, costMicrocents }) => ({
      keyId,
      model,
      tags,
      costMicrocents,
    }));
    expect(new Set(counted)).toEqual(
      new Set([
        { keyId: key.keyId, model: usual.model, tags: "", costMicrocents: 1n },
        { keyId: key.keyId, model: "acme/other", tags: "", costMicrocents: 10n },
        { keyId: key.keyId, model: usual.model, tags: tagged.tags, costMicrocents: 100n },
        { keyId: sibling.keyId, model: usual.model, tags: "", costMicrocents: 1_000n },
      ]),
    );
    expect(await spentBy(test.store, strangers)).toBe(10_000n);
  });

  it("where one of them has a record, count all the same, and that one sets its total", async () => {
    const first = await createRequest(test.store);
    const [opened, progressed, fresh] = ["opened", "progressed", "fresh"].map((name) => ({
      ...first,
      requestId: `${first.requestId}-${name}`,
    })) as [RequestIdentity, RequestIdentity, RequestIdentity];
    await test.store.openRecord(openRecordInput(opened));
    await test.store.charge(chargeInput(progressed, 1, 5n));
    const charged = [
      single(opened, 10n),
      single(progressed, 100n, { sequence: 2 }),
      single(fresh, 1_000n),
      single(fresh, 1_000n),
    ];
    const repeated = { outcome: "repeated" };
    expect(await Promise.all(charged)).toEqual([APPLIED, APPLIED, APPLIED, repeated]);
    expect(await spentBy(test.store, first)).toBe(1_110n);
    expect(await test.client.zcard(openRequestsKey(first.organizationId))).toBe(0);
    expect(await test.client.zcard(inflightKey(first.organizationId, first.keyId))).toBe(0);
  });

  it("are exact where their sum is more than a number holds", async () => {
    const first = await createRequest(test.store);
    const most = 2n ** 53n - 1n;
    await Promise.all(
      [1, 2, 3].map((index) => single({ ...first, requestId: `${first.requestId}${index}` }, most)),
    );
    expect(await test.client.hget(spendKey(first.organizationId, first.month), "organization")).toBe(
      String(3n * most),
    );
  });

  it("refuse a figure that is none alone", async () => {
    const first = await createRequest(test.store);
    const [good, bad] = await Promise.allSettled([
      single(first, 5n),
      single({ ...first, requestId: `${first.requestId}-bad` }, -1n),
    ]);
    expect(good).toMatchObject({ status: "fulfilled", value: APPLIED });
    expect(bad).toMatchObject({ status: "rejected", reason: expect.any(RangeError) });
    expect(await spentBy(test.store, first)).toBe(5n);
  });
});
