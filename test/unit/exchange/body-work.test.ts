/** Large bodies that take more memory than there is left wait for one another; nobody stands behind all of another's. */
import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import type { BodyOwner } from "../../../src/data-path/exchange/bodies/body-owner.ts";
import { BodyWork } from "../../../src/data-path/exchange/bodies/body-work.ts";
import { CountedBody } from "../../../src/data-path/exchange/bodies/counted-body.ts";

const MEBIBYTE = 1024 ** 2;
const LIMITS = {
  maxBodyBytes: 32 * MEBIBYTE,
  maxUpstreamBytes: 33 * MEBIBYTE,
  maxBufferedBytes: 64 * MEBIBYTE,
};

function ownerOf(organizationId: string): BodyOwner {
  return { keyId: `key of ${organizationId}`, keyName: "ci", organizationId };
}

function begin(budget: BodyBudget, organizationId: string, mebibytes: number) {
  const body = new CountedBody(budget, ownerOf(organizationId));
  return { body, turn: body.begin(Buffer.alloc(mebibytes * MEBIBYTE, "x")) };
}

describe("the work on large bodies", () => {
  it("begins at once where there is room, and beside none whatever it takes", () => {
    const budget = new BodyBudget(LIMITS);
    const { body, turn } = begin(budget, "org_1", 32);
    expect(turn).toBeUndefined();
    expect(budget.bufferedBytes).toBe(4 * 32 * MEBIBYTE);
    body.made(40 * MEBIBYTE);
    expect(budget.bufferedBytes).toBe(72 * MEBIBYTE);
    body.release(MEBIBYTE);
    expect(budget.bufferedBytes).toBe(MEBIBYTE);
    expect(begin(budget, "org_2", 8).turn).toBeUndefined();
    body.release(0);
  });

  it("waits for others, organization by organization", async () => {
    const budget = new BodyBudget(LIMITS);
    const first = begin(budget, "org_1", 20);
    const waiting = ["org_2", "org_2", "org_3"].map((organizationId) => begin(budget, organizationId, 4));
    const order: number[] = [];
    const done = waiting.map(async ({ body, turn }, index) => {
      expect(turn).toBeInstanceOf(Promise);
      await turn;
      order.push(index);
      // Each takes all that there is.
      body.made(60 * MEBIBYTE);
      await new Promise((resolve) => setImmediate(resolve));
      body.release(0);
    });
    // A small one waits for nobody.
    expect(new CountedBody(budget, ownerOf("org_4")).begin(Buffer.alloc(1_000))).toBeUndefined();
    first.body.release(0);
    await Promise.all(done);
    expect(order).toEqual([0, 2, 1]);
  });

  it("is a 503 where its turn does not come, and counts nothing then", async () => {
    const budget = new BodyBudget(LIMITS);
    const work = new BodyWork(budget, 5);
    expect(work.begin("org_1", MEBIBYTE, 65 * MEBIBYTE)).toBeUndefined();
    await expect(work.begin("org_2", MEBIBYTE, MEBIBYTE)).rejects.toMatchObject({
      code: "gateway_overloaded",
    });
    work.end(65 * MEBIBYTE);
    expect(budget.bufferedBytes).toBe(0);
  });
});
