import { describe, expect, it } from "vitest";
import { Reaper } from "../../../src/settlement/reaper.ts";
import type { CloseOutcome, OverdueRequest } from "../../../src/store/types/settlement.ts";

function overdue(requestId: string): OverdueRequest {
  return {
    organizationId: "org_1",
    requestId,
    record: { keyId: "key_1", month: "2026-11", day: "2026-11-21" },
  };
}

function open(outcomes: Record<string, CloseOutcome>) {
  const seen = { closed: [] as string[], counted: 0, isDown: false, atMs: 1_000_000 };
  const reaper = new Reaper({
    clock: { nowMs: () => 0, monotonicMs: () => seen.atMs },
    logger: { info: () => undefined, warn: () => undefined },
    onClosed: () => {
      seen.counted += 1;
    },
    store: {
      listOrganizationIds: () =>
        seen.isDown ? Promise.reject(new Error("away")) : Promise.resolve(["org_1"]),
      getOrganization: () => Promise.resolve(null),
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
});
