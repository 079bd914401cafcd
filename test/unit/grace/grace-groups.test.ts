/** A caller whose token leads to one group or another while Redis goes away and comes back, beside a model of it. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createGraceAdmission } from "../../../src/data-path/grace/grace-admission.ts";
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import { GraceSpend } from "../../../src/data-path/grace/grace-spend.ts";
import type { AdmitInput, KnownKeyResult } from "../../../src/shared/stored/admission.ts";
import type { ChargeInput } from "../../../src/shared/stored/settlement.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";
import { runs } from "../../support/extent.ts";
import { CENT, createCap, createResult, INPUT } from "./outage-fixture.ts";

const GROUPS = ["group_1", "group_2", "group_3"] as const;
type Group = (typeof GROUPS)[number];
const CAP_CENTS = 20;
const CAP = BigInt(CAP_CENTS) * CENT;
const WINDOW = "2026-11";
const DAY = "2026-11-21";

const group = fc.constantFrom(...GROUPS);
const amount = fc.bigInt({ min: 0n, max: 12n * CENT });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("ask" as const), group }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("charge" as const), amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("other worker" as const), group, amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("turn" as const) }) },
);

/** Redis with the groups' spend, and a worker that asks it. */
function createWorker() {
  const spend = new GraceSpend();
  const spent = new Map<Group, bigint>(GROUPS.map((name) => [name, 0n]));
  const spool: { readonly group: Group; readonly charge: ChargeInput }[] = [];
  let isAway = false;
  const clock = { monotonicMs: () => 0 };
  const ask = async ({ groupId }: AdmitInput): Promise<KnownKeyResult> => {
    if (isAway) throw new Error("Command timed out");
    const wanted = groupId as Group;
    const spentMicrocents = spent.get(wanted)!;
    const own = spend.inReply(INPUT.organizationId, { period: "month", day: DAY, subjectId: wanted });
    const cap = createCap({ scope: "group", cents: CAP_CENTS, spentMicrocents, ownMicrocents: own });
    const isReached = spentMicrocents >= CAP;
    return createResult({
      decision: isReached ? "group_cap_reached" : "admitted",
      group: { id: wanted, name: wanted },
      caps: [cap],
      reachedCap: isReached ? cap : null,
      isBehind: spend.isBehind(INPUT.organizationId, DAY),
    });
  };
  const admit = createGraceAdmission({
    admit: ask,
    admitPatiently: ask,
    outage: new GraceOutage({ clock, graceMs: 60_000, logger: { warn: () => undefined } }),
    spend,
    clock,
    workerCount: () => 1,
    countInFlight: () => 0,
    hasUnsentCharges: () => spool.length > 0,
    abandon: () => undefined,
  });
  const send = (): void => {
    for (const { group: of, charge } of isAway ? [] : spool.splice(0)) {
      spent.set(of, spent.get(of)! + charge.totalMicrocents);
      spend.acknowledged(charge);
    }
  };
  return {
    spent,
    isAway: () => isAway,
    turn(): void {
      isAway = !isAway;
      send();
    },
    charge(of: Group, totalMicrocents: bigint, requestId: string): void {
      const charge: ChargeInput = {
        organizationId: INPUT.organizationId,
        keyId: INPUT.keyId,
        requestId,
        month: WINDOW,
        day: DAY,
        owners: of,
        model: "acme/echo-small",
        route: INPUT.route,
        totalMicrocents,
        sequence: 1,
        tokens: NO_TOKENS,
        requests: 1,
        estimated: false,
        estimate: null,
        final: { status: 200, errorCode: null, checks: [] },
      };
      spend.counted(charge, totalMicrocents);
      spool.push({ group: of, charge });
      send();
    },
    decide: (groupId: Group) =>
      admit({ ...INPUT, groupId }).then(
        ({ decision }) => decision,
        () => "503",
      ),
  };
}

it("is admitted in the group of its last request alone, and past no cap of a group", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const worker = createWorker();
      /** As Redis told, and what the worker has charged there since. */
      let known: { readonly group: Group; spent: bigint } | null = null;
      let last: Group | null = null;
      for (const [index, each] of steps.entries()) {
        if (each.kind === "turn") worker.turn();
        if (each.kind === "other worker" && !worker.isAway()) {
          worker.spent.set(each.group, worker.spent.get(each.group)! + each.amount);
        }
        if (each.kind === "charge" && last !== null) {
          worker.charge(last, each.amount, `req_${index}`);
          if (known?.group === last) known.spent += each.amount;
          last = null;
        }
        if (each.kind !== "ask") continue;
        if (!worker.isAway()) known = { group: each.group, spent: worker.spent.get(each.group)! };
        const isKnown = known?.group === each.group;
        const decided = (known?.spent ?? 0n) >= CAP ? "group_cap_reached" : "admitted";
        const decision = await worker.decide(each.group);
        expect(decision).toBe(isKnown ? decided : "503");
        if (decision === "admitted") last = each.group;
      }
    }),
    { numRuns: runs(1_000) },
  );
});
