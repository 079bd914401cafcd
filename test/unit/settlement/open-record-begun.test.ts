import { afterEach, describe, expect, it, vi } from "vitest";
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import type { SpoolEntry } from "../../../src/data-path/spool/entry.ts";
import type { OpenedRequest } from "../../../src/data-path/spool/opened-request.ts";
import type { JournalFile, RequestJournal } from "../../../src/data-path/spool/request-journal.ts";
import { createId } from "../../../src/data-path/store/ids.ts";
import { OK } from "./account-fixture.ts";
import { ADMISSION, createOpenInput, createSettlement, type StoreScript } from "./settlement-fixture.ts";

/** By the fixture's clock. */
const NOW_MS = Date.UTC(2026, 10, 21);
const away = () => Promise.reject(new Error("Command timed out"));

/** A settlement whose journal and spool are on a disk that takes what it is told to. */
function open(script: StoreScript = {}) {
  const disk = {
    isFull: false,
    begun: [] as OpenedRequest[],
    left: 0,
    spooled: [] as SpoolEntry[],
  };
  const journal = {
    async append(opened: OpenedRequest): Promise<JournalFile | null> {
      if (disk.isFull) return null;
      disk.begun.push(opened);
      return { path: "", bytes: 0, live: 0 };
    },
    release: () => void (disk.left += 1),
  };
  const spool = {
    journal: journal as unknown as RequestJournal,
    stop: () => Promise.resolve(true),
    async append(entry: SpoolEntry) {
      if (disk.isFull) throw new Error("full");
      disk.spooled.push(entry);
    },
  };
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const outage = new GraceOutage({ clock, graceMs: 1_000, logger: { warn: () => undefined } });
  const { settlement, seen } = createSettlement(script, { spool, outage });
  const begin = (sinceAdmissionMs = 0, isEntered = true) => {
    const requestId = createId("req", NOW_MS - sinceAdmissionMs);
    return settlement.open(createOpenInput({ identity: { requestId }, limits: { isEntered } }));
  };
  return { settlement, seen, disk, begin };
}

/** A Redis whose answer to each charge comes when the test says so. */
function keepAnswers() {
  const answers: (() => void)[] = [];
  const charge = () =>
    new Promise<{ outcome: "applied" }>((resolve) => answers.push(() => resolve({ outcome: "applied" })));
  return { charge, answers };
}

afterEach(() => void vi.useRealTimers());

describe("an entered request", () => {
  it("goes upstream on its line of the journal, and its final charge is all that Redis gets", async () => {
    const { settlement, seen, disk, begin } = open();
    const account = await begin();
    const { requestId } = account.identity;
    expect(disk.begun).toMatchObject([{ requestId, floorMicrocents: 100n, floorInputTokens: 100 }]);
    await account.settle("complete", OK);
    await settlement.stop(1_000);
    expect(seen.opened).toEqual([]);
    expect(seen.charges).toMatchObject([{ requestId, sequence: 1, final: OK }]);
    expect(disk.left).toBe(1);
    expect(seen.forgotten).toEqual([requestId]);
  });

  it("that ends before its first tick does not wait for its charge, which is not forgotten", async () => {
    const { charge, answers } = keepAnswers();
    const { settlement, seen, disk, begin } = open({ charge });
    const account = await begin();
    const { requestId } = account.identity;
    await account.settle("complete", OK);
    expect(seen.charges).toMatchObject([{ requestId, sequence: 1, final: OK }]);
    expect(disk.left).toBe(0);
    expect(settlement.figures).toMatchObject({ requestsInFlight: 1, unacknowledgedCharges: 1 });
    const stopped = settlement.stop(10_000);
    answers[0]?.();
    await stopped;
    expect(disk.left).toBe(1);
    expect(seen.forgotten).toEqual([requestId]);
  });

  it("that ends after its first tick waits for its charge", async () => {
    const { charge, answers } = keepAnswers();
    const { begin } = open({ charge });
    const account = await begin();
    const ticked = account.chargeOpening();
    let isOver = false;
    const settled = account.settle("complete", OK).then(() => (isOver = true));
    answers[0]?.();
    await ticked;
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    expect(answers).toHaveLength(2);
    answers[1]?.();
    await settled;
  });

  it.each([
    { why: "was admitted more than a second ago", sinceAdmissionMs: 1_001 },
    { why: "was admitted by a clock that is a second ahead", sinceAdmissionMs: -1_001 },
    { why: "was not entered", isEntered: false },
  ])("waits for its record when it $why", async ({ sinceAdmissionMs = 0, isEntered = true }) => {
    const { seen, disk, begin } = open();
    await begin(sinceAdmissionMs, isEntered);
    expect(seen.opened).toHaveLength(1);
    expect(disk.begun).toEqual([]);
  });

  it("with tags waits for the record that says in which row it counts; the next ones with the same tags know", async () => {
    const { seen, disk, begin, settlement } = open({
      openRecord: () => Promise.resolve({ outcome: "opened", tagRow: "row_a" }),
    });
    const tagged = (tags: string, month = "2026-11") => {
      const identity = { requestId: createId("req", NOW_MS), tags, month };
      return settlement.open(createOpenInput({ identity, limits: { isEntered: true } }));
    };
    await tagged("team=a");
    await (await tagged("team=a")).settle("complete", OK);
    expect(seen.opened).toHaveLength(1);
    expect(disk.begun).toMatchObject([{ tags: "team=a", tagRow: "row_a" }]);
    expect(seen.charges).toMatchObject([{ tags: "team=a", tagRow: "row_a" }]);
    await tagged("team=b");
    await tagged("team=a", "2026-12");
    expect(seen.opened).toHaveLength(3);
    await begin();
    expect(disk.begun).toHaveLength(2);
  });

  it("waits for its record when the disk does not take its line", async () => {
    const { seen, disk, begin } = open();
    disk.isFull = true;
    await begin();
    expect(seen.opened).toHaveLength(1);
  });

  it("gets its record from the first tick, at its prompt's floor, even when nothing has come yet", async () => {
    const { seen, disk, begin } = open();
    const account = await begin();
    await account.chargeOpening();
    expect(seen.charges).toMatchObject([
      {
        requestId: account.identity.requestId,
        sequence: 0,
        totalMicrocents: 0n,
        estimate: { totalMicrocents: 100n, price: { name: "price" } },
        final: null,
      },
    ]);
    expect(disk.left).toBe(1);
  });

  it("goes to the spool when its first tick is not answered, and the next ones wait for their records until one is opened", async () => {
    let isAway = true;
    const { settlement, seen, disk, begin } = open({
      charge: () => (isAway ? away() : Promise.resolve({ outcome: "applied" })),
      openRecord: () => (isAway ? away() : Promise.resolve({ outcome: "opened" })),
    });
    const account = await begin();
    await account.chargeOpening();
    await expect.poll(() => disk.spooled).toMatchObject([{ kind: "open", opened: account.opened }]);
    expect(disk.left).toBe(1);
    isAway = false;
    const second = await begin();
    expect(seen.opened).toHaveLength(1);
    const third = await begin();
    expect(seen.opened).toHaveLength(1);
    expect(disk.begun).toEqual([account.opened, third.opened]);
    for (const each of [account, second, third]) await each.settle("complete", OK);
    await settlement.stop(1_000);
    // The record of the first one stays, since nobody knows whether its first charge will still be executed.
    expect(seen.forgotten).toEqual([second.identity.requestId, third.identity.requestId]);
  });

  it("stays in the journal while neither Redis nor the spool has its charge", async () => {
    const { disk, begin } = open({ charge: away });
    const account = await begin();
    disk.isFull = true;
    await account.chargeOpening();
    expect(disk.left).toBe(0);
    disk.isFull = false;
    await account.settle("complete", OK);
    expect(disk.spooled).toMatchObject([
      { kind: "charge", charge: { requestId: account.identity.requestId } },
    ]);
    expect(disk.left).toBe(1);
  });

  it("is settled though its final charge is in memory alone, and keeps its line until Redis or the spool has it", async () => {
    vi.useFakeTimers();
    const { settlement, seen, disk, begin } = open({ charge: away });
    const account = await begin();
    disk.isFull = true;
    const settled = account.settle("complete", OK);
    await vi.advanceTimersByTimeAsync(2_500);
    await settled;
    expect(settlement.figures).toMatchObject({ requestsInFlight: 0, unacknowledgedCharges: 1 });
    expect(disk.left).toBe(0);
    disk.isFull = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(settlement.figures).toMatchObject({ requestsInFlight: 0, unacknowledgedCharges: 0 });
    expect(disk.spooled).toMatchObject([{ kind: "charge" }]);
    expect(disk.left).toBe(1);
    vi.useRealTimers();
    await settlement.stop(1_000);
    expect(seen.forgotten).toEqual([]);
  });

  it("that waited for Redis is settled as well, and its record stays", async () => {
    vi.useFakeTimers();
    const { settlement, seen, disk, begin } = open({ charge: away });
    const account = await begin(0, false);
    disk.isFull = true;
    const settled = account.settle("complete", OK);
    await vi.advanceTimersByTimeAsync(2_500);
    await settled;
    expect(settlement.figures).toMatchObject({ requestsInFlight: 0, unacknowledgedCharges: 1 });
    disk.isFull = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(settlement.figures.unacknowledgedCharges).toBe(0);
    expect(disk.spooled).toMatchObject([{ kind: "charge" }]);
    vi.useRealTimers();
    await settlement.stop(1_000);
    expect(seen.forgotten).toEqual([]);
  });

  it("leaves its line of the journal when Redis will never take its final charge", async () => {
    const refuse = () => Promise.reject(new Error("MISMATCH the organization has another currency"));
    const { settlement, seen, disk, begin } = open({ charge: refuse });
    const account = await begin();
    await account.settle("complete", OK);
    await settlement.stop(1_000);
    expect(seen.charges).toHaveLength(1);
    expect(disk).toMatchObject({ left: 1, spooled: [] });
    expect(seen.forgotten).toEqual([]);
  });

  it("leaves Redis's open requests when it will not go upstream", async () => {
    const { settlement, seen } = open();
    settlement.abandon(ADMISSION);
    await settlement.stop(1_000);
    const { keyId } = ADMISSION.caller;
    expect(seen.left).toEqual([{ keyId, requestId: ADMISSION.identity.requestId, takenTokens: null }]);
  });

  it("leaves them by its final charge alone when its record was not answered", async () => {
    const { settlement, seen } = open({ openRecord: away });
    const refused = settlement.open(createOpenInput({ limits: { isStrict: true } }));
    await expect(refused).rejects.toMatchObject({ code: "gateway_unavailable" });
    settlement.abandon(ADMISSION);
    await settlement.stop(1_000);
    expect(seen.left).toEqual([]);
    expect(seen.charges).toMatchObject([{ requestId: ADMISSION.identity.requestId, totalMicrocents: 0n }]);
  });
});
