import { describe, expect, it } from "vitest";
import { CENT, createCap, createOutage, MINUTE_MS } from "./outage-fixture.ts";

describe("admission while Redis is unreachable", () => {
  it("lets a key go on that was seen, in the month and with the figures that were last known", async () => {
    const { admit, wait } = await createOutage({ timeMs: Date.UTC(2026, 10, 30, 23, 59, 59) });
    wait(500);
    expect(await admit()).toMatchObject({ decision: "admitted", month: "2026-11", day: "2026-11-30" });
    wait(500);
    expect(await admit()).toMatchObject({ decision: "admitted", month: "2026-12", day: "2026-12-01" });
  });

  it.each([
    ["a key that this worker has not seen", {}, { isSeen: false }, {}],
    ["another key of the organization", {}, {}, { presentedHash: "b".repeat(64) }],
    ["an organization with strict caps", { organization: { strictCaps: true } }, {}, {}],
    [
      "a key that only a raise lets through, which may have ended",
      { caps: [createCap({ raisedCents: 50, spentMicrocents: 50n * CENT })] },
      {},
      {},
    ],
    [
      "a key that meets a limit of tokens per minute, however much of it is left",
      {
        tokenBuckets: [{ type: "total", limit: 1_000_000, remaining: 1_000_000, resetMs: 0 } as const],
      },
      {},
      {},
    ],
    ["a gateway without a grace period", {}, { graceMs: 0 }, {}],
    ["a token of a group, where the last request was of none", {}, {}, { groupId: "group_2" }],
  ])("fails as Redis did for %s", async (_name, changes, options, input) => {
    const { admit } = await createOutage(changes, options);
    await expect(admit(input)).rejects.toThrow("Command timed out");
  });

  it("lets a token go on in the group of its last request, and in no other", async () => {
    const { admit, decide, comeBack, goAway, patience } = await createOutage();
    comeBack();
    await admit({ groupId: "group_1" });
    goAway();
    expect(await decide({ groupId: "group_1" })).toBe("admitted");
    expect(patience.at(-1)).toBe(false);
    for (const groupId of ["group_2", null]) {
      await expect(admit({ groupId })).rejects.toThrow("Command timed out");
      expect(patience.at(-1)).toBe(true);
    }
  });

  it.each([
    ["a key that this worker has not seen", {}, { isSeen: false }],
    ["an organization with strict caps", { organization: { strictCaps: true } }, {}],
    [
      "a key that meets a limit of tokens per minute",
      { tokenBuckets: [{ type: "total", limit: 1, remaining: 1, resetMs: 0 } as const] },
      {},
    ],
    ["a gateway without a grace period", {}, { graceMs: 0 }],
  ])("waits longer for Redis's answer for %s", async (_name, changes, options) => {
    const { admit, patience } = await createOutage(changes, options);
    await expect(admit()).rejects.toThrow("Command timed out");
    expect(patience.at(-1)).toBe(true);
  });

  it("waits longer once the grace period is over, and not before", async () => {
    const { admit, patience, wait } = await createOutage();
    await admit();
    expect(patience.at(-1)).toBe(false);
    wait(MINUTE_MS);
    await expect(admit()).rejects.toThrow("Command timed out");
    expect(patience.at(-1)).toBe(true);
  });

  it("fails as Redis did for an error that is no outage", async () => {
    const { admit, failWith } = await createOutage();
    const fault = new Error("ERR user_script:1: attempt to index nil");
    fault.name = "ReplyError";
    failWith(fault);
    await expect(admit()).rejects.toThrow("ERR");
  });

  it("fails once the grace period is over, until Redis has answered", async () => {
    const { admit, decide, wait, comeBack, goAway } = await createOutage();
    expect(await decide()).toBe("admitted");
    wait(MINUTE_MS - 1);
    expect(await decide()).toBe("admitted");
    wait(1);
    await expect(admit()).rejects.toThrow("Command timed out");
    comeBack();
    expect(await decide()).toBe("admitted");
    goAway();
    expect(await decide()).toBe("admitted");
  });

  it("begins the grace period when Redis was first missed by anybody", async () => {
    const { admit, outage, wait } = await createOutage();
    outage.missed(null);
    wait(MINUTE_MS);
    await expect(admit()).rejects.toThrow("Command timed out");
  });

  it("fails for a key that was last seen longer ago than ten minutes", async () => {
    const { admit, wait } = await createOutage();
    wait(10 * MINUTE_MS + 1);
    await expect(admit()).rejects.toThrow("Command timed out");
  });

  it.each(["key_disabled", "user_disabled", "organization_suspended"] as const)(
    "refuses with %s what was so when it was last seen",
    async (decision) => {
      const { decide } = await createOutage({ decision });
      expect(await decide()).toBe(decision);
    },
  );

  it("refuses a key from the moment at which it expires", async () => {
    const expiresAtMs = Date.UTC(2026, 10, 21, 12) + 1_000;
    const { decide, wait } = await createOutage({ key: { expiresAtMs } });
    wait(999);
    expect(await decide()).toBe("admitted");
    wait(1);
    expect(await decide()).toBe("key_expired");
  });

  it.each([
    [
      "key",
      { caps: [createCap({ scope: "key", cents: 10, spentMicrocents: 6n * CENT })] },
      "key_cap_reached",
    ],
    [
      "organization",
      { caps: [createCap({ scope: "organization", cents: 10, spentMicrocents: 6n * CENT })] },
      "organization_cap_reached",
    ],
  ] as const)(
    "adds what this worker counts to the last known spend of the %s",
    async (_name, changes, decision) => {
      const { decide, spend } = await createOutage(changes);
      const request = {
        organizationId: "org_1",
        keyId: "key_1",
        requestId: "req_2",
        month: "2026-11",
        day: "2026-11-21",
      };
      spend.counted(request, 4n * CENT - 1n);
      expect(await decide()).toBe("admitted");
      spend.counted(request, 4n * CENT);
      expect(await decide()).toBe(decision);
      expect(await decide({ metered: false, promptTokens: 0 })).toBe("admitted");
    },
  );

  it.each([
    [
      "key",
      { caps: [createCap({ scope: "key", cents: 10, spentMicrocents: 6n * CENT })] },
      "key_cap_reached",
    ],
    [
      "organization",
      { caps: [createCap({ scope: "organization", cents: 10, spentMicrocents: 6n * CENT })] },
      "organization_cap_reached",
    ],
  ] as const)(
    "holds the %s to it after Redis has come back, until Redis has the charges in the spool",
    async (_name, changes, decision) => {
      const { admit, decide, spend, comeBack, setBehind, left } = await createOutage(changes);
      const request = {
        organizationId: "org_1",
        keyId: "key_1",
        requestId: "req_2",
        month: "2026-11",
        day: "2026-11-21",
      };
      spend.counted(request, 4n * CENT);
      setBehind(true);
      comeBack();
      expect(await admit({ requestId: "req_3" })).toMatchObject({ decision, isEntered: false });
      expect(await decide({ requestId: "req_4" })).toBe(decision);
      // Redis had entered both.
      expect(left).toEqual(["req_3", "req_4"]);
      expect(await decide({ metered: false, promptTokens: 0 })).toBe("admitted");
      setBehind(false);
      expect(await decide()).toBe("admitted");
    },
  );

  it("goes by Redis's spend where the spool has charges of other organizations alone", async () => {
    const { decide, comeBack, setBehind, answerWith } = await createOutage({
      caps: [createCap({ cents: 10, spentMicrocents: 10n * CENT })],
    });
    expect(await decide()).toBe("key_cap_reached");
    setBehind(true);
    comeBack();
    // Corrected meanwhile.
    answerWith({ caps: [createCap({ scope: "key", cents: 10, spentMicrocents: 4n * CENT })] });
    expect(await decide()).toBe("admitted");
  });

  it("counts a charge once that Redis has executed and not acknowledged: nothing is refused for its double", async () => {
    const before = { caps: [createCap({ scope: "key", cents: 10, spentMicrocents: 6n * CENT })] };
    const { decide, spend, comeBack, setBehind, answerWith } = await createOutage(before);
    const request = {
      organizationId: "org_1",
      keyId: "key_1",
      requestId: "req_2",
      month: "2026-11",
      day: "2026-11-21",
    };
    spend.counted(request, 2n * CENT);
    setBehind(true);
    comeBack();
    answerWith({ caps: [createCap({ scope: "key", cents: 10, spentMicrocents: 8n * CENT })] });
    expect(await decide()).toBe("admitted");
  });

  it("begins a new month without spend", async () => {
    const caps = [createCap({ cents: 10, spentMicrocents: 10n * CENT })];
    const { decide, wait } = await createOutage({ caps, timeMs: Date.UTC(2026, 10, 30, 23, 59, 59) });
    expect(await decide()).toBe("key_cap_reached");
    wait(1_000);
    expect(await decide()).toBe("admitted");
  });

  it("holds a worker to its share of concurrent requests, at least one", async () => {
    const { decide, setInFlight } = await createOutage({ key: { maxConcurrentRequests: 5 } }, { shares: 2 });
    setInFlight(1);
    expect(await decide()).toBe("admitted");
    setInFlight(2);
    expect(await decide()).toBe("concurrency_limited");
  });

  it.each([1, 2, 3, 7])("grants no more than the key's rate over all of %s workers", async (shares) => {
    let granted = 0;
    for (let worker = 0; worker < shares; worker += 1) {
      const { decide, wait } = await createOutage({}, { shares });
      for (let ms = 0; ms <= 30_000; ms += 50) {
        if ((await decide()) === "admitted") granted += 1;
        wait(50);
      }
    }
    // 59 tokens left, ten a second.
    expect(granted).toBeLessThanOrEqual(59 + 300);
    expect(granted).toBeGreaterThanOrEqual(59 + 300 - 2 * shares);
  });

  it("says when there is a token again", async () => {
    const { admit, wait } = await createOutage({
      key: { requestsPerMinute: 6 },
      bucket: { remaining: 1, capacity: 10, resetMs: 0, retryAfterSeconds: 0 },
    });
    expect((await admit()).bucket).toMatchObject({ remaining: 0, capacity: 10, retryAfterSeconds: 0 });
    expect(await admit()).toMatchObject({ decision: "rate_limited", bucket: { retryAfterSeconds: 10 } });
    wait(10_000);
    expect((await admit()).decision).toBe("admitted");
  });

  it("does not grant its share anew with each of many short outages", async () => {
    const { decide, wait, comeBack, goAway } = await createOutage();
    let granted = 0;
    for (let count = 0; count < 10; count += 1) {
      for (let index = 0; index < 60; index += 1) if ((await decide()) === "admitted") granted += 1;
      comeBack();
      await decide();
      goAway();
      wait(100);
    }
    expect(granted).toBeLessThanOrEqual(59 + 10);
  });

  it("has buckets of their own for count_tokens", async () => {
    const { decide } = await createOutage({
      bucket: { remaining: 0, capacity: 60, resetMs: 0, retryAfterSeconds: 0 },
    });
    expect(await decide()).toBe("rate_limited");
    expect(await decide({ bucket: "count_tokens", metered: false, promptTokens: 0 })).toBe("admitted");
  });

  it("tells once when Redis goes and when it comes back", async () => {
    const { decide, warnings, comeBack } = await createOutage();
    await decide();
    await decide();
    comeBack();
    await decide();
    await decide();
    expect(warnings).toEqual(["redis unreachable", "redis reachable again"]);
  });

  it("tells it only now and then when one node of a cluster is away", async () => {
    const { outage, warnings, wait } = await createOutage();
    for (let count = 0; count < 100; count += 1) {
      outage.missed("org_1");
      outage.reached("org_2");
      wait(150);
    }
    const goes = "redis unreachable";
    const comes = "redis reachable again";
    expect(warnings).toEqual([goes, comes, goes, comes]);
  });

  it("counts the grace period of an organization on while others are answered", async () => {
    const { admit, outage, wait } = await createOutage();
    await admit();
    wait(MINUTE_MS - 1);
    outage.reached("org_2");
    expect((await admit()).decision).toBe("admitted");
    wait(1);
    outage.reached("org_2");
    await expect(admit()).rejects.toThrow("Command timed out");
  });

  it("says which refused requests Redis may have entered all the same: none that goes on", async () => {
    const seen = await createOutage();
    await seen.decide({ requestId: "req_admitted" });
    expect(seen.left).toEqual([]);
    const capped = await createOutage({ caps: [createCap({ cents: 0 })] });
    await capped.decide({ requestId: "req_capped" });
    expect(capped.left).toEqual(["req_capped"]);
    const unseen = await createOutage({}, { isSeen: false });
    await expect(unseen.decide({ requestId: "req_unseen" })).rejects.toThrow("Command timed out");
    expect(unseen.left).toEqual(["req_unseen"]);
  });
});
