import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import { ErrorBody, type ErrorBodyOptions } from "../../../src/data-path/exchange/bodies/error-body.ts";

const OWNER = { keyId: "key_1", keyName: "ci", organizationId: "org_1" };
const DONE = Promise.resolve();

function createBody(changes: Partial<ErrorBodyOptions> = {}) {
  const read: string[] = [];
  const body = new ErrorBody({
    budget: new BodyBudget({ maxBodyBytes: 1, maxUpstreamBytes: 1, maxBufferedBytes: 1_000_000 }),
    owner: OWNER,
    onRead: (bytes) => {
      read.push(Buffer.from(bytes).toString());
      return DONE;
    },
    onLate: () => undefined,
    maxWaitMs: 60_000,
    ...changes,
  });
  return { body, read };
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe("ErrorBody", () => {
  it("is told once it is whole, and hands on what the reply waits for", () => {
    const { body, read } = createBody();
    expect(body.add(bytesOf("too "), false)).toBeUndefined();
    expect(body.add(bytesOf("hot"), true)).toBe(DONE);
    expect(body.end()).toBeUndefined();
    expect(read).toEqual(["too hot"]);
  });

  it("waits for no end beyond 64 KiB", () => {
    const { body, read } = createBody();
    expect(body.add(bytesOf("x".repeat(65_000)), false)).toBeUndefined();
    expect(body.add(bytesOf("y".repeat(65_000)), false)).toBe(DONE);
    expect(body.add(bytesOf("z"), true)).toBeUndefined();
    expect(read).toEqual(["x".repeat(65_000) + "y".repeat(536)]);
  });

  it("waits for no end that is late", async () => {
    const late = createDeferred<unknown>();
    const { body, read } = createBody({ maxWaitMs: 5, onLate: (replied) => late.resolve([replied]) });
    void body.add(bytesOf("slow"), false);
    expect(await late.promise).toEqual([DONE]);
    expect(read).toEqual(["slow"]);
  });

  it("tells what there is where the worker has no room for more", () => {
    const budget = new BodyBudget({ maxBodyBytes: 1, maxUpstreamBytes: 1, maxBufferedBytes: 4 });
    budget.count(OWNER, 4);
    const { body, read } = createBody({ budget });
    expect(body.add(bytesOf("x"), false)).toBe(DONE);
    expect(read).toEqual([""]);
  });

  it("gives its bytes back to the worker's budget, read or dropped", () => {
    const budget = new BodyBudget({ maxBodyBytes: 100, maxUpstreamBytes: 100, maxBufferedBytes: 100 });
    for (let time = 0; time < 10; time++) {
      const { body } = createBody({ budget });
      expect(body.add(bytesOf("x".repeat(60)), false)).toBeUndefined();
      if (time % 2 === 0) body.drop();
      else void body.end();
    }
  });

  it("is told to nobody after the client has gone", () => {
    const { body, read } = createBody();
    void body.add(bytesOf("x"), false);
    body.drop();
    expect(body.add(bytesOf("y"), true)).toBeUndefined();
    expect(read).toEqual([]);
  });
});
