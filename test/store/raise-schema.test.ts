import { describe, expect, it } from "vitest";
import { requestKey, usageKey } from "../../src/store/redis/keys.ts";
import { chargeInput, createIdentity, createTestKey, FINAL, withTestStore } from "./fixture.ts";
import { NO_TOKENS } from "../../src/usage/token-usage.ts";

const test = withTestStore();
const KEY = "test:schema";

describe("raiseSchema", () => {
  it.each([
    { name: "raises an older version", stored: "1", wanted: "2", left: "2" },
    { name: "leaves its own", stored: "2", wanted: "2", left: "2" },
    { name: "never lowers a newer one", stored: "3", wanted: "2", left: "3" },
    { name: "leaves what is none", stored: "hello", wanted: "2", left: "hello" },
  ])("$name", async ({ stored, wanted, left }) => {
    await test.client.set(KEY, stored);
    expect(await test.client.igwRaiseSchema(KEY, wanted)).toBe(left);
    expect(await test.client.get(KEY)).toBe(left);
  });

  it("makes no version where there is none", async () => {
    await test.client.del(KEY);
    expect(await test.client.igwRaiseSchema(KEY, "2")).toBe("");
    expect(await test.client.get(KEY)).toBeNull();
  });
});

describe("data of schema 1", () => {
  it("goes on: an open request is charged and counted with what it did not know", async () => {
    const key = await createTestKey(test.store);
    const identity = await createIdentity(test.store, key);
    const { organizationId, requestId, keyId, month, day, model, route } = identity;
    // As a program of schema 1 leaves a request in flight.
    const figures = {
      requests: 1,
      input: 4,
      cached: 0,
      output: 1,
      reasoning: 0,
      estimated: 1,
      microcents: 40,
    };
    const record = {
      state: "open",
      key: keyId,
      month,
      day,
      model,
      route,
      seq: 1,
      left: 0,
      worst: 0,
      floor: 5,
    };
    const estimate = "4 0 1 0 44";
    await test.client.hset(requestKey(organizationId, requestId), { ...record, ...figures, estimate });
    for (const [name, figure] of Object.entries(figures)) {
      await test.client.hset(usageKey(organizationId, day), `${keyId}:${model}:${name}`, String(figure));
    }
    const spend = `igw:{${organizationId}}:spend:${month}`;
    await test.client.hset(spend, { organization: "40", [`key:${keyId}`]: "40" });
    const tokens = { ...NO_TOKENS, inputTokens: 4, outputTokens: 9, cacheWriteTokens: 3 };
    await test.store.charge(chargeInput(identity, 2, 90n, { tokens, final: FINAL }));
    const { rows } = await test.store.readUsage(organizationId, month);
    expect(rows).toMatchObject([
      {
        requests: 1,
        inputTokens: 4,
        cacheWriteTokens: 3,
        outputTokens: 9,
        outputAudioTokens: 0,
        costMicrocents: 90n,
      },
    ]);
    expect((await test.store.readSpend(organizationId, month)).organizationMicrocents).toBe(90n);
  });
});
