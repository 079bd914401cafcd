import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Reaper } from "../../../src/data-path/settlement/reaper.ts";
import { defaultsOf } from "../../../src/shared/settings/table.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/shared/settings/organization.ts";
import type { CloseOutcome, OverdueRequest } from "../../../src/shared/stored/settlement.ts";

function overdue(requestId: string): OverdueRequest {
  return {
    organizationId: "org_1",
    requestId,
    record: { keyId: "key_1", month: "2026-11", day: "2026-11-21" },
  };
}

function open(outcomes: Record<string, CloseOutcome>, strictCaps = false) {
  const seen = { closed: [] as string[], counted: 0, isDown: false, atMs: 1_000_000, logged: [] as object[] };
  const organization = {
    ...defaultsOf(ORGANIZATION_SETTINGS),
    name: "Acme",
    currency: "USD",
    id: "org_1",
    createdAtMs: 0,
    deletedAtMs: null,
    version: 1,
    strictCaps,
  };
  const reaper = new Reaper({
    clock: { nowMs: () => 0, monotonicMs: () => seen.atMs },
    logger: {
      info: (fields) => void seen.logged.push(fields),
      warn: (fields) => void seen.logged.push(fields),
    },
    onClosed: () => {
      seen.counted += 1;
    },
    store: {
      listOrganizationIds: () =>
        seen.isDown ? Promise.reject(new Error("away")) : Promise.resolve(["org_1"]),
      getOrganization: () => Promise.resolve(organization),
      listOverdue: () => Promise.resolve(Object.keys(outcomes).map(overdue)),
      close: ({ requestId }) => {
        seen.closed.push(requestId);
        return Promise.resolve(outcomes[requestId] ?? "gone");
      },
    },
  });
  return { reaper, seen };
}

describe("Reaper.sweep", () => {
  it("closes what is overdue, and counts what it was that closed it", async () => {
    const { reaper, seen } = open({ req_1: "closed", req_2: "not_due", req_3: "gone", req_4: "closed" });
    expect(await reaper.sweep()).toBe(2);
    expect(seen.counted).toBe(2);
    expect(seen.closed).toEqual(["req_1", "req_2", "req_3", "req_4"]);
  });

  it("closes nothing in the first 30 s after Redis is back, so that owners can renew first", async () => {
    const { reaper, seen } = open({ req_1: "closed" });
    seen.isDown = true;
    await expect(reaper.sweep()).rejects.toThrow("away");
    seen.atMs += 60_000;
    await expect(reaper.sweep()).rejects.toThrow("away");
    seen.isDown = false;
    seen.atMs += 29_999;
    expect(await reaper.sweep()).toBe(0);
    seen.atMs += 1;
    expect(await reaper.sweep()).toBe(1);
  });

  it("waits 30 s more under strict caps, from when a request was first seen overdue", async () => {
    const { reaper, seen } = open({ req_1: "closed" }, true);
    expect(await reaper.sweep()).toBe(0);
    seen.atMs += 29_999;
    expect(await reaper.sweep()).toBe(0);
    expect(seen.closed).toEqual([]);
    seen.atMs += 1;
    expect(await reaper.sweep()).toBe(1);
  });
});

describe("a reaper that was started", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("sweeps every five seconds, says what it closed, and no more once it was stopped", async () => {
    const { reaper, seen } = open({ req_1: "closed" });
    reaper.start();
    await vi.advanceTimersByTimeAsync(10_000);
    await reaper.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen.closed).toEqual(["req_1", "req_1"]);
    expect(seen.logged).toEqual([{ closed: 1 }, { closed: 1 }]);
  });

  it("goes on after Redis failed, and logs why it could not sweep", async () => {
    const { reaper, seen } = open({ req_1: "closed" });
    seen.isDown = true;
    reaper.start();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen.logged).toEqual([{ err: new Error("away") }]);
    seen.isDown = false;
    seen.atMs += 30_000;
    await vi.advanceTimersByTimeAsync(5_000);
    await reaper.stop();
    expect(seen.closed).toEqual(["req_1"]);
  });
});
