import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/contract/errors.ts";
import { GraceOutage } from "../../../src/grace/grace-outage.ts";
import type { SpoolEntry } from "../../../src/spool/entry.ts";
import { openInSpool, type SpoolOpenServices } from "../../../src/settlement/open-in-spool.ts";
import { createAccount } from "./account-fixture.ts";

const TIMEOUT = new Error("Command timed out");
const HOLD = { error: TIMEOUT, isStrict: false, takePlace: () => null };

function createServices(changes: Partial<SpoolOpenServices> = {}, graceMs = 1_000) {
  const entries: SpoolEntry[] = [];
  const services: SpoolOpenServices = {
    spool: { append: async (entry) => void entries.push(entry) },
    outage: new GraceOutage({ clock: { monotonicMs: () => 0 }, graceMs, logger: { warn: () => undefined } }),
    clock: { nowMs: () => 7 },
    logger: { error: () => undefined },
    ...changes,
  };
  return { services, entries };
}

describe("openInSpool", () => {
  it("puts a request on record at its floor and keeps its record from being deleted", async () => {
    const { account } = createAccount();
    const { services, entries } = createServices();
    expect(await openInSpool(services, account, HOLD)).toBe(null);
    expect(entries).toEqual([
      {
        kind: "open",
        atMs: 7,
        opened: { ...account.identity, floorMicrocents: 100n, floorInputTokens: 100 },
      },
    ]);
    expect(account.hasUnansweredCommand).toBe(true);
  });

  it("writes nothing for a request that has no place among the key's requests in flight", async () => {
    const { account } = createAccount();
    const { services, entries } = createServices();
    const full = new GatewayError("concurrency_limit_exceeded");
    expect(await openInSpool(services, account, { ...HOLD, takePlace: () => full })).toBe(full);
    expect(entries).toEqual([]);
  });

  it.each([
    ["strict caps", {}, TIMEOUT, true, 1_000],
    ["no grace time", {}, TIMEOUT, false, 0],
    ["an error that is no outage", {}, new TypeError("a script replied number"), false, 1_000],
    [
      "a spool that is full",
      { spool: { append: () => Promise.reject(new Error("the spool holds as much as it may")) } },
      TIMEOUT,
      false,
      1_000,
    ],
  ] as const)("keeps a request from going on with %s", async (_name, changes, error, isStrict, graceMs) => {
    const { account } = createAccount();
    const { services, entries } = createServices(changes, graceMs);
    const hold = { ...HOLD, error, isStrict: isStrict };
    expect((await openInSpool(services, account, hold))?.code).toBe("gateway_unavailable");
    expect(entries).toEqual([]);
  });
});
