import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import type { BodyOwner } from "../../../src/data-path/exchange/bodies/body-owner.ts";
import { CollectedBody } from "../../../src/data-path/exchange/bodies/collected-body.ts";

const OWNER: BodyOwner = { keyId: "key_1", keyName: "ci", organizationId: "org_1" };
const OTHER: BodyOwner = { keyId: "key_2", keyName: "ci", organizationId: "org_2" };

function createBody(limits = { maxBodyBytes: 10, maxUpstreamBytes: 11, maxBufferedBytes: 20 }) {
  const budget = new BodyBudget(limits);
  return { budget, body: new CollectedBody({ budget, maxBytes: 12 }, OWNER) };
}

describe("CollectedBody", () => {
  it("is all of its pieces in order, and one piece as it came", () => {
    const { body, budget } = createBody();
    const only = Buffer.from("only");
    expect(body.add(only, "upstream_error")).toBeNull();
    expect(body.add(undefined, "upstream_error")).toBeNull();
    expect(body.take()).toBe(only);
    for (const piece of ["a", "", "bc"]) body.add(Buffer.from(piece), "upstream_error");
    expect(budget.bufferedBytes).toBe(3);
    expect(Buffer.from(body.take()).toString()).toBe("abc");
    expect(body.take()).toHaveLength(0);
    expect(budget.bufferedBytes).toBe(0);
  });

  it.each(["request_too_large", "upstream_error"] as const)(
    "says %s over its bound, and keeps no more",
    (code) => {
      const { body, budget } = createBody();
      expect(body.add(Buffer.alloc(12), code)).toBeNull();
      expect(body.add(Buffer.alloc(1), code)).toMatchObject({ code });
      expect(budget.bufferedBytes).toBe(12);
    },
  );

  it("says gateway_overloaded where those of others are too much, and whose it is where its own are", () => {
    const { body, budget } = createBody();
    budget.count(OTHER, 15);
    expect(body.add(Buffer.alloc(6), "upstream_error")).toMatchObject({ code: "gateway_overloaded" });
    expect(body.take()).toHaveLength(0);
    expect(budget.bufferedBytes).toBe(15);
    budget.release(OTHER, 15);
    budget.count(OWNER, 7);
    expect(body.add(Buffer.alloc(6), "upstream_error")).toMatchObject({ code: "buffer_limit_exceeded" });
  });

  it("has as much room in pieces as at once, where it is its owner's only one", () => {
    const { body } = createBody({ maxBodyBytes: 10, maxUpstreamBytes: 11, maxBufferedBytes: 10 });
    for (let piece = 0; piece < 12; piece += 1) {
      expect(body.add(Buffer.from("x"), "request_too_large")).toBeNull();
    }
  });

  it("keeps of small pieces what they have, not what they were read into, and knows of crumbs", () => {
    const { budget } = createBody({ maxBodyBytes: 1e6, maxUpstreamBytes: 1e6, maxBufferedBytes: 2e6 });
    const body = new CollectedBody({ budget, maxBytes: 1e6 }, OWNER);
    const read = Buffer.alloc(65_536, "ab");
    for (let piece = 0; piece < 1_000; piece += 1) body.add(read.subarray(0, 2), "request_too_large");
    expect(body.refusalOfRequest()).toBeNull();
    body.add(read.subarray(0, 2), "request_too_large");
    expect(body.refusalOfRequest()?.code).toBe("invalid_parameter");
    const whole = Buffer.from(body.take());
    expect(whole.toString()).toBe("ab".repeat(1_001));
    for (let piece = 0; piece < 1_500; piece += 1) body.add(read.subarray(0, 512), "request_too_large");
    expect(body.refusalOfRequest()).toBeNull();
  });

  it("counts twice while something is made of it, and not at all once that is done or has failed", async () => {
    const { body, budget } = createBody();
    const counted: number[] = [];
    const measure = async (bytes: Uint8Array): Promise<number> => {
      counted.push(budget.bufferedBytes);
      return bytes.byteLength;
    };
    body.add(Buffer.from("only"), "upstream_error");
    expect(await body.takeFor(measure)).toBe(4);
    counted.push(budget.bufferedBytes);
    body.add(Buffer.from("only"), "upstream_error");
    const broken = body.takeFor(async (bytes) => {
      await measure(bytes);
      throw new Error("broken");
    });
    await expect(broken).rejects.toThrow("broken");
    counted.push(budget.bufferedBytes);
    expect(counted).toEqual([8, 0, 8, 0]);
  });
});
