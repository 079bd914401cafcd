import { strict as assert } from "node:assert";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GraceOutage } from "../../src/data-path/grace/grace-outage.ts";
import { Reaper } from "../../src/data-path/settlement/reaper.ts";
import type { RequestAccount } from "../../src/data-path/settlement/request-account.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { Settlement } from "../../src/data-path/settlement/settlement.ts";
import { runs } from "../support/extent.ts";
import { createSafeties } from "../unit/settlement/safeties-fixture.ts";
import { Spool } from "../../src/data-path/spool/spool.ts";
import { TokenEstimator } from "../../src/data-path/settlement/tokens/token-estimator.ts";
import type { Answer } from "../../src/data-path/translation/client-protocol.ts";
import { createOpenInput } from "../unit/settlement/settlement-fixture.ts";
import { canSetClock, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { createIdentity, createTestKey, type TestKey } from "./fixture.ts";
import { START } from "./spend-model.ts";
import type { OpenRecordInput } from "../../src/shared/stored/settlement.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

/** What becomes of a command: executed and answered; executed, its answer lost; lost; executed after others. */
type Delivery = "answered" | "answer_lost" | "lost" | "late";

/** One request and the process that owns it. */
interface OwnerPlan {
  /** Its admission entered it, so it goes upstream on a line of the journal; else on its record. */
  readonly isEntered: boolean;
  readonly record: Delivery;
  /** The first tick after it went upstream: of one that was only begun. Null: it ends before. */
  readonly opening: Delivery | null;
  /**
   * Another host, on the same volume by mistake, reads what is on disk before the end and sends it at once, or when the
   * end is on record and forgotten.
   */
  readonly theft: "early" | "late" | null;
  /** Of what streamed so far, each larger than the one before. `pause`: its records are closed by another meanwhile. */
  readonly progress: readonly {
    readonly tokens: number;
    readonly delivery: Delivery;
    readonly pause: boolean;
  }[];
  /** Null: the process dies, and what is on its disk is sent by the next one. */
  readonly final: { readonly tokens: number; readonly delivery: Delivery } | null;
}

/** As the fixture's prices and estimates come to. */
const FLOOR = 100n;
const OUTPUT_PRICE = 10n;
const PAUSE_MS = 31_000;

const delivery = fc.oneof(
  { weight: 3, arbitrary: fc.constant("answered" as const) },
  { weight: 2, arbitrary: fc.constantFrom("answer_lost" as const, "lost" as const, "late" as const) },
);
const owner: fc.Arbitrary<OwnerPlan> = fc.record({
  isEntered: fc.boolean(),
  record: delivery,
  opening: fc.option(delivery, { freq: 1 }),
  theft: fc.constantFrom("early" as const, "late" as const, null),
  progress: fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 3 }), delivery, pause: fc.boolean() }), {
    maxLength: 3,
  }),
  final: fc.option(fc.record({ tokens: fc.integer({ min: 0, max: 9 }), delivery }), { freq: 2 }),
});

let timed: TimedStore;
let nowMs = 0;
beforeAll(async () => {
  if (canSetClock) timed = await openTimedStore(START);
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

function passTime(milliseconds: number): void {
  nowMs += milliseconds;
  timed.clock.set(BigInt(nowMs) * 1000n);
}

/** Lets another process close what is overdue. */
async function reap(): Promise<void> {
  passTime(PAUSE_MS);
  const logger = { info: () => undefined, warn: () => undefined };
  await new Reaper({
    store: timed.store,
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    onClosed: () => undefined,
    logger,
  }).sweep();
}

/** A worker process with one request: the gateway's own settlement and spool, on a line to Redis that loses things. */
class Owner {
  readonly dir = mkdtempSync(join(tmpdir(), "igw-owner-"));
  /** Executed when the schedule says so. */
  readonly late: (() => Promise<unknown>)[] = [];
  readonly #settlement: Settlement;
  readonly #spool: Spool;
  #next: Delivery = "answered";
  #account: RequestAccount | null = null;
  /** Of the charge with the highest sequence number that is or will be executed. */
  deliveredMicrocents = 0n;

  constructor() {
    const { store } = timed;
    this.#spool = this.#createSpool("1", { charge: () => Promise.reject(new Error("Command timed out")) });
    const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() };
    const logger = { warn: () => undefined, error: () => undefined };
    const openRecord = (input: OpenRecordInput) => this.#deliver(() => store.openRecord(input));
    this.#settlement = new Settlement({
      ...createSafeties(),
      dashboard: { baseUrl: null, contact: null },
      estimator: new TokenEstimator({ count: () => Promise.resolve(null) }),
      clock,
      logger,
      // Deleting records is the owner's, whatever is still in the spool.
      spool: {
        append: (entry) => this.#spool.append(entry),
        stop: () => Promise.resolve(true),
        journal: this.#spool.journal,
      },
      outage: new GraceOutage({ clock, graceMs: 60_000, logger }),
      patient: { openRecord },
      store: {
        openRecord,
        charge: (input) => {
          if (this.#next !== "lost") {
            this.deliveredMicrocents = input.estimate?.totalMicrocents ?? input.totalMicrocents;
          }
          return this.#deliver(() => store.charge(input));
        },
        renew: (...input) => store.renew(...input),
        deleteRecords: (...input) => store.deleteRecords(...input),
        removeAbandoned: (...input) => store.removeAbandoned(...input),
        recordRequest: (input) => store.recordRequest(input),
        changeOutcome: (outcome) => store.changeOutcome(outcome),
      },
    });
  }

  async open(key: TestKey, { isEntered, record, opening }: OwnerPlan): Promise<void> {
    const requestId = createId("req", nowMs);
    const identity = { ...(await createIdentity(timed.store, key)), requestId };
    const { organizationId, route, month, day, currency } = identity;
    const { keyId, hash: presentedHash } = key;
    const asked = { organizationId, keyId, presentedHash, requestId, route };
    if (isEntered) await timed.store.admit({ ...asked, bucket: "requests", metered: true, promptTokens: 0 });
    this.#next = record;
    this.#account = await this.#settlement.open(
      createOpenInput({
        identity: { requestId, route, month, day },
        caller: { organizationId, keyId, currency },
        limits: { isEntered },
      }),
    );
    if (!isEntered || opening === null) return;
    this.#next = opening;
    await this.#account.chargeOpening();
  }

  async stream(tokens: number, next: Delivery): Promise<void> {
    this.#next = next;
    this.#observe(tokens);
    await this.#account!.chargeProgress();
  }

  /** The record is deleted where its owner may. */
  async finish(tokens: number, next: Delivery): Promise<void> {
    this.#next = next;
    this.#observe(tokens);
    await this.#account!.settle("complete", { status: 200, errorCode: null });
    await this.#settlement.stop(5_000);
  }

  /** The process is gone. */
  async end(): Promise<void> {
    await this.#spool.stop(0);
  }

  /** The next process sends what is on disk. Returns whether all of it is on record. */
  async replay(): Promise<boolean> {
    return this.#replay(this.dir);
  }

  /** A process that does not know that this one is there sends what is on its disk; this one goes on. */
  steal(): () => Promise<boolean> {
    const copy = mkdtempSync(join(tmpdir(), "igw-thief-"));
    cpSync(this.dir, copy, { recursive: true });
    return () => this.#replay(copy);
  }

  async #replay(dir: string): Promise<boolean> {
    const spool = this.#createSpool("2", timed.store, dir);
    await spool.start();
    const isDrained = await spool.stop(10_000);
    rmSync(dir, { recursive: true });
    return isDrained;
  }

  #createSpool(
    generation: string,
    store: ConstructorParameters<typeof Spool>[0]["store"],
    dir = this.dir,
  ): Spool {
    return new Spool({
      dir,
      maxBytes: 1_000_000,
      index: 0,
      workers: 1,
      generation,
      store,
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
  }

  #observe(outputTokens: number): void {
    const usage = {
      ...NO_TOKENS,
      inputTokens: Number(FLOOR),
      cachedInputTokens: 0,
      outputTokens,
      reasoningTokens: 0,
    };
    const observation = {
      usage,
      generatedBytes: 0,
      generatedDeltas: outputTokens,
      generatedText: "",
    };
    this.#account!.observe({ observation } as Answer);
  }

  async #deliver<Value>(run: () => Promise<Value>): Promise<Value> {
    if (this.#next === "late") this.late.push(run);
    if (this.#next === "answered") return run();
    if (this.#next === "answer_lost") await run();
    throw new Error("Command timed out");
  }
}

/** Runs a plan and resolves with what the request must have cost in the end. */
async function runOwner(plan: OwnerPlan, key: TestKey, one: Owner): Promise<() => bigint> {
  await one.open(key, plan);
  let tokens = 0;
  for (const step of plan.progress) {
    tokens += step.tokens;
    await one.stream(tokens, step.delivery);
    if (step.pause) await reap();
  }
  const sendStolen = plan.theft === null ? () => Promise.resolve(true) : one.steal();
  if (plan.theft === "early") assert.equal(await sendStolen(), true);
  if (plan.final === null) {
    await one.end();
    // Before Redis forgets that it was entered.
    if (plan.isEntered) assert.equal(await one.replay(), true);
    if (plan.theft === "late") assert.equal(await sendStolen(), true);
    const larger = (): bigint => (one.deliveredMicrocents > FLOOR ? one.deliveredMicrocents : FLOOR);
    return larger;
  }
  await one.finish(plan.final.tokens, plan.final.delivery);
  await one.end();
  if (plan.theft === "late") assert.equal(await sendStolen(), true);
  const total = FLOOR + BigInt(plan.final.tokens) * OUTPUT_PRICE;
  return () => total;
}

describe.skipIf(!canSetClock)(
  "what requests cost when processes die and lines fail (takes Linux and cc)",
  () => {
    it("is each one's final total, or the estimate of its last charge that arrived, at least its prompt, where its process died", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(owner, { minLength: 1, maxLength: 4 }),
          fc.boolean(),
          async (plans, lateFirst) => {
            nowMs = Number(START / 1000n);
            passTime(0);
            const key = await createTestKey(timed.store);
            const owners: Owner[] = [];
            const expected: (() => bigint)[] = [];
            for (const plan of plans) {
              const one = new Owner();
              owners.push(one);
              expected.push(await runOwner(plan, key, one));
            }
            const replay = async (): Promise<void> => {
              for (const one of owners) {
                if (existsSync(one.dir)) assert.equal(await one.replay(), true);
              }
            };
            const late = owners.flatMap((one) => one.late);
            if (!lateFirst) await replay();
            await reap();
            for (const run of late) await run();
            if (lateFirst) await replay();
            await reap();
            const spend = await timed.store.readSpend(key.organizationId, null);
            const { rows } = await timed.store.readUsage(key.organizationId, null);
            const sum = expected.reduce((total, each) => total + each(), 0n);
            expect([spend.organizationMicrocents, spend.keyMicrocents.get(key.keyId)]).toEqual([sum, sum]);
            expect(rows.map(({ costMicrocents, requests }) => [costMicrocents, requests])).toEqual([
              [sum, plans.length],
            ]);
            expect(await timed.store.listOverdue(key.organizationId, 100)).toEqual([]);
          },
        ),
        { numRuns: runs(80) },
      );
    });
  },
);
