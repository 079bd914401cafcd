/**
 * An upgrade on a live store without a stop: a real older build, of this repository's own history, and the new one serve
 * side by side on one Redis under load, until the old one is drained. Not a cent is lost on the way, in any window.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/time/calendar.ts";
import { type Generation, startGeneration } from "../envoy/access/generations.ts";
import { buildOlder, type OlderBuild, whyNotBuildable } from "../support/older-build.ts";
import { waitFor } from "../support/wait.ts";
import { checkFigures, checkTagRows, readFigures } from "./fault-accounts.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { startUpgradeLoad, type UpgradeLoad } from "./upgrade-load.ts";
import {
  type CapCheck,
  checkCaps,
  type Drained,
  drainOlder,
  type Ended,
  endUpgrade,
  type Mixed,
  serveByBoth,
  setLimits,
  startOlderAgain,
} from "./upgrade-run.ts";
import { startUpgradeStack, type UpgradeStack } from "./upgrade-stack.ts";
import { verifyOnHost } from "./usage-commands.ts";

/** The last commit before limits of windows: it knows users and groups, and its charges move only the month's counters. */
const OLDER_COMMIT = "2d9005c7ac83d7a6060251f55c235c3019737aec";
const HELD_STREAMS = 6;
/** What is asked of days is asked within one. */
const ROOM_IN_DAY_MS = 120_000;

const missing = whyNotBuildable(OLDER_COMMIT);

describe.skipIf(missing !== null)(`an upgrade under load${missing === null ? "" : ` (${missing})`}`, () => {
  let older: OlderBuild | undefined;
  let up: UpgradeStack | undefined;
  let load: UpgradeLoad;
  let mixed: Mixed;
  let drained: Drained;
  let wholeStreams: number;
  let capChecks: readonly CapCheck[];
  let olderAtTheEnd: string;
  let ended: Ended;

  beforeAll(async () => {
    older = await buildOlder(OLDER_COMMIT);
    up = await startUpgradeStack(older);
    await waitFor("room in this day", () => DAY_MS - (Date.now() % DAY_MS) > ROOM_IN_DAY_MS, {
      timeoutMs: 2 * ROOM_IN_DAY_MS,
    });
    load = startUpgradeLoad(up);
    try {
      await upgrade(up);
    } finally {
      await load.stopClients();
    }
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await up?.stop();
    await older?.remove();
  }, 90_000);

  async function upgrade(on: UpgradeStack): Promise<void> {
    await load.answered(10);
    await load.sendAnn(4);
    await load.holdStreams();
    const next: Generation = await startGeneration(on.first);
    on.started.push(next);
    mixed = await serveByBoth(on, load, next);
    drained = await drainOlder(on, load, next);
    wholeStreams = await setLimits(on, load, next);
    capChecks = await checkCaps(on, load, next);
    olderAtTheEnd = await startOlderAgain(on, "late");
    await load.answered(10);
    ended = await endUpgrade(on, load, next);
  }

  const stack = (): UpgradeStack => {
    if (up === undefined) throw new Error("the stack is not there");
    return up;
  };
  const allSent = () => Object.values(load.sent).flat();

  it("serves by both builds, and no request fails but what limits refuse", () => {
    expect(mixed.calls.first).toBeGreaterThan(20);
    expect(mixed.calls.next).toBeGreaterThan(20);
    const { zoe, ci, ann } = load.sent;
    const outcomesOf = (sent: typeof zoe) =>
      new Set(sent.map(({ status, isWhole, errorCode }) => `${status} ${isWhole} ${errorCode ?? ""}`));
    expect(outcomesOf(zoe)).toEqual(new Set(["200 true "]));
    // One more than the organization's last cap let through.
    expect(outcomesOf(ci.slice(0, -1))).toEqual(new Set(["200 true "]));
    const refused = ann.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 8 + 4 }, () => 402));
    expect(ann.filter(({ status }) => status === 200).every(({ isWhole }) => isWhole)).toBe(true);
    expect(allSent().length).toBeGreaterThan(100);
  });

  it("cuts no stream that spans the end of the older build, or the moment that limits are set", () => {
    expect([drained.wholeStreams, wholeStreams]).toEqual([2 * HELD_STREAMS, HELD_STREAMS]);
    expect([drained.exitCode, ended.exitCode]).toEqual([0, 0]);
  });

  it("refuses limits of windows while an older worker is there, its last streams included, and changes nothing", () => {
    expect(new Set(mixed.tooEarly)).toEqual(new Set(["409 older_workers"]));
    expect(mixed.recordsAfter).toEqual(mixed.recordsBefore);
    expect(drained.whileDraining).toBe("409 older_workers");
  });

  it("keeps caps of the month in force over both builds, whichever has set them", () => {
    expect(new Set(mixed.capped)).toEqual(new Set([402]));
    expect(new Set(mixed.lifted)).toEqual(new Set([200]));
  });

  it("lets the older build start again until the first limit is set, and never from then on", () => {
    expect(mixed.olderAgain).toBe("ready");
    expect(olderAtTheEnd).toMatch(/^ended [1-9]/);
    expect(olderAtTheEnd).toContain(
      "The data in Redis was written by a newer version of this gateway (schema 3; this one knows 2). " +
        "Start that version, or give this one another Redis.",
    );
  });

  it("has new caps know what both builds have charged, and let through exactly what they leave", () => {
    const expected = [
      ["key", "day"],
      ["user", "week"],
      ["group", "month"],
      ["user", "total"],
    ].map(([scope, period], index) => {
      const spentCents = capChecks[index]?.spentCents;
      return { refusal: { status: 402, scope, period, spentCents }, spentCents, above: [200, 200, 402] };
    });
    expect(capChecks).toEqual(expected);
    expect(ended.lastStatuses).toEqual([200, 402]);
  });

  it("counts in every window of every owner what the upstream's answers cost, to the microcent", () => {
    expect(ended.counted).toEqual(ended.expected);
    expect(Object.values(ended.expected).every((microcents) => microcents > 0n)).toBe(true);
  });

  it("loses nothing: spend, usage and the logs of both builds agree with what the upstream counted", async () => {
    const { first, upstream, tenant } = stack();
    const on = { store: first.store, upstream };
    const key = { ...tenant.keys.ci, organizationId: tenant.organizationId };
    const all = { name: "all", key, sent: allSent() };
    const figures = await readFigures(on, all);
    expect(figures.chargedMicrocents).toBe(figures.usedMicrocents);
    expect([...checkFigures(figures), ...(await checkTagRows(on, all, figures, {}))]).toEqual([]);
    const stackOfVerify = { configFile: first.configFile };
    expect(await verifyOnHost({ stack: stackOfVerify, requests: ended.requestLogs })).toEqual({
      spentMicrocents: figures.usedMicrocents,
      kinds: [],
    });
  });
});
