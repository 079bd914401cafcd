import { describe, expect, it } from "vitest";
import type { GraceSpend } from "../../../src/data-path/grace/grace-spend.ts";
import { LIMIT_PERIODS } from "../../../src/shared/settings/limits.ts";
import type { ApplicableCap } from "../../../src/shared/stored/admission.ts";
import { LIMIT_SCOPES } from "../../../src/shared/stored/decision.ts";
import { CENT, type Changes, createCap, createOutage } from "./outage-fixture.ts";

describe("caps of other windows while Redis is unreachable", () => {
  const [user, group] = [
    { id: "user_1", name: "Zoë" },
    { id: "group_1", name: "Search" },
  ];
  const request = {
    organizationId: "org_1",
    keyId: "key_1",
    requestId: "req_2",
    month: "2026-11",
    day: "2026-11-21",
    owners: "user_1.group_1",
  };
  const withCaps = (...caps: readonly Partial<ApplicableCap>[]): Changes => ({
    user,
    group,
    caps: caps.map((cap) => createCap({ cents: 10, spentMicrocents: 6n * CENT, ...cap })),
  });
  /** What the worker knows since it has seen such a cap. */
  const hear = (spend: GraceSpend) =>
    spend.inReply("org_1", { period: "week", day: "2026-11-21", subjectId: "user_1" });

  it.each(LIMIT_SCOPES.flatMap((scope) => LIMIT_PERIODS.map((period) => ({ scope, period }))))(
    "adds what it counts to the last known spend of a $scope in a $period",
    async ({ scope, period }) => {
      const { admit, decide, spend } = await createOutage(withCaps({ scope, period }));
      hear(spend);
      spend.counted(request, 4n * CENT - 1n);
      expect(await decide()).toBe("admitted");
      spend.counted(request, 4n * CENT);
      const reachedCap = { scope, period, cents: 10, raisedCents: 0, spentMicrocents: 10n * CENT };
      expect(await admit()).toMatchObject({ decision: `${scope}_cap_reached`, reachedCap });
      expect(await decide({ metered: false, promptTokens: 0 })).toBe("admitted");
    },
  );

  it("begins a window that has none of its spend, and keeps the others", async () => {
    const timeMs = Date.UTC(2026, 10, 21, 23, 59, 59);
    const day = { scope: "user", period: "day", spentMicrocents: 10n * CENT } as const;
    const ended = await createOutage({ ...withCaps(day), timeMs });
    expect(await ended.decide()).toBe("user_cap_reached");
    ended.wait(1_000);
    expect(await ended.decide()).toBe("admitted");
    const lasting = await createOutage({ ...withCaps({ ...day, period: "week" }), timeMs });
    lasting.wait(1_000);
    expect(await lasting.decide()).toBe("user_cap_reached");
  });

  it("names the one that resets last, and of those the narrowest owner's", async () => {
    const full = { spentMicrocents: 10n * CENT };
    const { admit } = await createOutage(
      withCaps(
        { scope: "key", period: "day", ...full },
        { scope: "user", period: "week", ...full },
        { scope: "group", period: "week", ...full },
      ),
    );
    expect((await admit()).reachedCap).toMatchObject({ scope: "user", period: "week" });
  });

  it("holds them to it after Redis has come back, until Redis has the charges in the spool", async () => {
    const changes = withCaps({ scope: "group", period: "week" });
    const { admit, decide, spend, comeBack, setBehind, left } = await createOutage(changes);
    hear(spend);
    spend.counted(request, 4n * CENT);
    setBehind(true);
    comeBack();
    expect(await admit({ requestId: "req_3" })).toMatchObject({
      decision: "group_cap_reached",
      reachedCap: { scope: "group", period: "week" },
      isEntered: false,
    });
    expect(left).toEqual(["req_3"]);
    setBehind(false);
    expect(await decide()).toBe("admitted");
  });

  it("goes by the raised cap of a month", async () => {
    const raised = { scope: "key", cents: 20, raisedCents: 10, spentMicrocents: 20n * CENT } as const;
    const { admit } = await createOutage({ caps: [createCap(raised)] });
    expect(await admit()).toMatchObject({
      decision: "key_cap_reached",
      reachedCap: { period: "month", cents: 20, raisedCents: 10 },
    });
  });
});
