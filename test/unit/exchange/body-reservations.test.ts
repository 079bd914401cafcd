import { afterEach, describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import type { BodyOwner } from "../../../src/data-path/exchange/bodies/body-owner.ts";
import { BodyReservations } from "../../../src/data-path/exchange/bodies/body-reservations.ts";
import { CollectedBody } from "../../../src/data-path/exchange/bodies/collected-body.ts";

const MEBIBYTE = 1024 ** 2;
const OWNER: BodyOwner = { keyId: "key_1", keyName: "ci", organizationId: "org_1" };
const OTHER: BodyOwner = { keyId: "key_2", keyName: "cd", organizationId: "org_2" };

/** What a test does not take itself is taken after it: a turn that is still waited for would reject long afterwards. */
const expected: CollectedBody[] = [];
afterEach(() => {
  for (const body of expected.splice(0)) body.take();
});

/** A key alone has 96 MiB: 48 for large bodies that come, 72 with those that wait. */
function open() {
  const maxBodyBytes = 64 * MEBIBYTE;
  const budget = new BodyBudget({
    maxBodyBytes,
    maxUpstreamBytes: maxBodyBytes,
    maxBufferedBytes: 256 * MEBIBYTE,
  });
  const create = (owner = OWNER) => new CollectedBody({ budget, maxBytes: maxBodyBytes }, owner);
  /** Bodies of so many MiB that are about to come, and which of them have had their turn. */
  const expectBodies = (count: number, mebibytes: number, owner = OWNER) => {
    const bodies = Array.from({ length: count }, () => create(owner));
    expected.push(...bodies);
    const come: number[] = [];
    const turns = bodies.map((body) => body.expect(mebibytes * MEBIBYTE));
    for (const [index, turn] of turns.entries()) {
      if (turn === undefined) come.push(index);
      else void turn.then(() => come.push(index));
    }
    return { bodies, come };
  };
  return { budget, create, expectBodies };
}

const turnsOfTheLoop = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
};

describe("room for a body that says its length", () => {
  it("is taken before it comes, and counted once", () => {
    const { budget, create } = open();
    const body = create();
    expect(body.expect(8 * MEBIBYTE)).toBeUndefined();
    expect(budget.bufferedBytes).toBe(8 * MEBIBYTE);
    for (let piece = 0; piece < 8; piece += 1) {
      expect(body.add(Buffer.alloc(MEBIBYTE), "request_too_large")).toBeNull();
    }
    expect(budget.bufferedBytes).toBe(8 * MEBIBYTE);
    expect(body.take()).toHaveLength(8 * MEBIBYTE);
    expect(budget.bufferedBytes).toBe(0);
  });

  it("is not taken for a small one, which counts as it comes", () => {
    const { budget, create } = open();
    const body = create();
    expect(body.expect(2 * MEBIBYTE - 1)).toBeUndefined();
    expect(budget.bufferedBytes).toBe(0);
    body.add(Buffer.alloc(10), "request_too_large");
    expect(budget.bufferedBytes).toBe(10);
  });

  it("is waited for, in the order in which the bodies of a key came, and none is refused", async () => {
    const { budget, expectBodies } = open();
    const { bodies, come } = expectBodies(20, 6);
    expect(come).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const body of bodies) {
      body.take();
      await turnsOfTheLoop();
    }
    expect(come).toEqual(Array.from(bodies.keys()));
    expect(budget.bufferedBytes).toBe(0);
  });

  it("is taken for the most that it may have, where it does not say its length and turns out large", async () => {
    const { budget, create } = open();
    const [first, second] = [create(), create()];
    const large = Buffer.alloc(2 * MEBIBYTE);
    expect([first.isUnexpected, first.add(large, "request_too_large")]).toEqual([false, null]);
    expect([first.isUnexpected, first.expect(), first.isUnexpected]).toEqual([true, undefined, false]);
    second.add(large, "request_too_large");
    const turn = second.expect();
    expect(budget.bufferedBytes).toBe(66 * MEBIBYTE);
    first.take();
    await turn;
    expect(budget.bufferedBytes).toBe(64 * MEBIBYTE);
    second.take();
    expect(budget.bufferedBytes).toBe(0);
  });

  it("is there for one, whatever waits with it", async () => {
    const { budget, expectBodies } = open();
    const { bodies, come } = expectBodies(15, 40);
    for (const body of bodies) {
      body.take();
      await turnsOfTheLoop();
    }
    expect(come).toEqual(Array.from(bodies.keys()));
    expect(budget.bufferedBytes).toBe(0);
  });

  it("is there for another organization while one waits for its own", () => {
    const { expectBodies } = open();
    expect(expectBodies(4, 33).come).toEqual([0]);
    expect(expectBodies(1, 33, OTHER).come).toEqual([0]);
  });

  it("leaves a quarter of the share to small bodies, and refuses those that may not even wait", () => {
    const { budget, create, expectBodies } = open();
    expectBodies(1, 48);
    expectBodies(12, 33);
    expect(() => expectBodies(1, 33)).toThrow(/^API key "ci" has reached its share/);
    expect(budget.bufferedBytes).toBe(72 * MEBIBYTE);
    expect(create().add(Buffer.alloc(20 * MEBIBYTE), "request_too_large")).toBeNull();
  });

  it("goes to the next when the client of one that waits goes away", async () => {
    const { budget, expectBodies } = open();
    const { bodies, come } = expectBodies(3, 48);
    bodies[1]?.take();
    bodies[0]?.take();
    await turnsOfTheLoop();
    expect(come).toEqual([0, 2]);
    expect(budget.bufferedBytes).toBe(48 * MEBIBYTE);
  });

  it("is refused where it does not come in time", async () => {
    const taken: number[] = [];
    const shares = {
      take: (_owner: BodyOwner, bytes: number) => {
        if (taken.length > 0 && bytes > 2 * MEBIBYTE) throw new Error("no room");
        taken.push(bytes);
      },
    };
    const room = new BodyReservations(shares, 1);
    room.take(OWNER, 8 * MEBIBYTE);
    const waiting = room.take(OWNER, 8 * MEBIBYTE);
    await expect(waiting.turn).rejects.toMatchObject({ code: "buffer_limit_exceeded" });
    expect(waiting.bytes).toBe(2 * MEBIBYTE);
  });
});
