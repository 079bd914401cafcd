import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sessionKey } from "../../src/store/redis/keys.ts";
import { connectStore, type StoreUnderTest, withTestStore } from "./fixture.ts";

const under = withTestStore();
let other: StoreUnderTest;
beforeAll(async () => {
  other = await connectStore(under.address);
});
afterAll(async () => {
  await other.stop();
});

const HOUR_MS = 3_600_000;
const newHash = (): string => randomBytes(32).toString("hex");

describe("sessions", () => {
  it("are found by their hash in every process, as what they were made", async () => {
    const [operator, token] = [newHash(), newHash()];
    await under.store.createSession(operator, { type: "operator", proof: "p" }, HOUR_MS);
    await under.store.createSession(token, { type: "token", tokenHash: "h" }, HOUR_MS);
    expect(await other.store.findSession(operator)).toEqual({ type: "operator", proof: "p" });
    expect(await other.store.findSession(token)).toEqual({ type: "token", tokenHash: "h" });
    expect(await other.store.findSession(newHash())).toBeNull();
  });

  it("are over everywhere once one process has ended them, and ending twice is no error", async () => {
    const hash = newHash();
    await under.store.createSession(hash, { type: "operator", proof: "p" }, HOUR_MS);
    await other.store.endSession(hash);
    await other.store.endSession(hash);
    expect(await under.store.findSession(hash)).toBeNull();
  });

  it("end by themselves", async () => {
    const hash = newHash();
    await under.store.createSession(hash, { type: "operator", proof: "p" }, HOUR_MS);
    const leftMs = await under.client.pttl(sessionKey(hash));
    expect(leftMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
  });

  it("of a form that is not known are none", async () => {
    const hash = newHash();
    await under.client.set(sessionKey(hash), "superuser x");
    expect(await under.store.findSession(hash)).toBeNull();
  });
});
