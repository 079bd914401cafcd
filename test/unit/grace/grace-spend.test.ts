import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GraceSpend } from "../../../src/data-path/grace/grace-spend.ts";
import type { ChargeInput } from "../../../src/shared/stored/settlement.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";
import { runs } from "../../support/extent.ts";

const REQUEST = {
  organizationId: "org_1",
  keyId: "key_1",
  requestId: "req_1",
  month: "2026-11",
  day: "2026-11-21",
  owners: "user_1.group_1",
};

function charge(
  totalMicrocents: bigint,
  sequence: number,
  { isFinal = false, requestId = REQUEST.requestId } = {},
): ChargeInput {
  return {
    ...REQUEST,
    requestId,
    model: "acme/echo-small",
    route: "POST /v1/chat/completions",
    totalMicrocents,
    sequence,
    tokens: NO_TOKENS,
    requests: 1,
    estimated: false,
    estimate: null,
    final: isFinal ? { status: 200, errorCode: null, checks: [] } : null,
  };
}

const MONTH = "2026-11";
const WEEK = { period: "week", day: "2026-11-21", subjectId: "user_1" } as const;

/** What of the key's month is in an admission's figures. */
function inMonth(spend: GraceSpend) {
  const microcents = spend.inReply("org_1", { period: "month", day: REQUEST.day, subjectId: "key_1" });
  return { microcents, isBehind: spend.isBehind("org_1", REQUEST.day) };
}

describe("GraceSpend", () => {
  it("knows of each key and organization what was counted and what of it is in Redis's figures", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 5n);
    spend.counted({ ...REQUEST, keyId: "key_2", requestId: "req_2" }, 7n);
    spend.acknowledged(charge(5n, 1));
    spend.counted(REQUEST, 8n);
    expect([spend.inWindow(MONTH, "key_1"), spend.inWindow(MONTH, "org_1")]).toEqual([8n, 15n]);
    expect(inMonth(spend)).toEqual({ microcents: 5n, isBehind: true });
    expect(spend.inWindow("2026-12", "key_1")).toBe(0n);
    const december = { period: "month", day: "2026-12-01", subjectId: "key_1" } as const;
    expect(spend.inReply("org_1", december)).toBe(0n);
    expect(spend.isBehind("org_1", "2026-12-01")).toBe(false);
  });

  it("passes over an acknowledgement that is older than one before", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 9n);
    spend.acknowledged(charge(9n, 2));
    spend.acknowledged(charge(4n, 0));
    expect(inMonth(spend)).toEqual({ microcents: 9n, isBehind: false });
  });

  it("passes over what it never counted: an earlier process's", () => {
    const spend = new GraceSpend();
    spend.acknowledged(charge(9n, 2, { isFinal: true }));
    spend.unanswered(charge(9n, 2));
    expect(inMonth(spend)).toEqual({ microcents: 0n, isBehind: false });
  });

  it("takes what was not answered as in Redis until it is acknowledged, and Redis as behind", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 9n);
    spend.unanswered(charge(9n, 1));
    expect(inMonth(spend)).toEqual({ microcents: 9n, isBehind: true });
    spend.counted(REQUEST, 7n);
    spend.acknowledged(charge(7n, 2, { isFinal: true }));
    expect(inMonth(spend)).toEqual({ microcents: 7n, isBehind: false });
  });

  it.each([
    { figures: "the month's", create: () => new Line(OF_MONTH) },
    { figures: "a week's, from its first admission on", create: () => new Line(OF_WEEK) },
  ])(
    "shows of $figures what was spent, whatever arrives in which order: never twice, and short by what was lost alone",
    ({ create }) => {
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.record({ charge: fc.nat(3), by: fc.integer({ min: -5, max: 50 }) }) },
        { weight: 2, arbitrary: fc.constant("admit" as const) },
        { weight: 4, arbitrary: fc.record({ deliver: fc.integer({ min: 1, max: 6 }) }) },
        { weight: 1, arbitrary: fc.record({ breakAfter: fc.nat(6) }) },
      );
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const line = create();
          for (const each of steps) {
            if (each === "admit") line.admit();
            else if ("charge" in each) line.charge(each.charge, BigInt(each.by));
            else if ("deliver" in each) line.deliver(each.deliver);
            else line.breakAfter(each.breakAfter);
            const { shown, spent, isAllAnswered } = line;
            expect([shown, spent, isAllAnswered ? shown === spent : shown <= spent]).toEqual([
              shown,
              spent,
              true,
            ]);
          }
        }),
        { numRuns: runs(2_000) },
      );
    },
  );
});

describe("GraceSpend in other windows", () => {
  const inWindows = (spend: GraceSpend, id: string) =>
    ["day:20778", "week:2968", "2026-11", "total"].map((window) => spend.inWindow(window, id));

  it("counts every owner in every window, of organizations that have such caps", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 5n);
    expect(inWindows(spend, "user_1")).toEqual([0n, 0n, 5n, 0n]);
    spend.inReply("org_1", WEEK);
    spend.counted({ ...REQUEST, requestId: "req_2" }, 7n);
    // With what was in flight when the first was heard of.
    for (const id of ["user_1", "group_1", "key_1", "org_1"]) {
      expect(inWindows(spend, id)).toEqual([12n, 12n, 12n, 12n]);
    }
    spend.counted({ ...REQUEST, organizationId: "org_2", keyId: "key_2", requestId: "req_3" }, 9n);
    expect(inWindows(spend, "key_2")).toEqual([0n, 0n, 9n, 0n]);
  });

  it("takes of a request that began before what Redis did not have yet", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 5n);
    spend.acknowledged(charge(5n, 1));
    spend.counted(REQUEST, 8n);
    spend.inReply("org_1", WEEK);
    spend.counted(REQUEST, 9n);
    expect(spend.inWindow("week:2968", "user_1")).toBe(4n);
    spend.acknowledged(charge(9n, 2, { isFinal: true }));
    expect(spend.inReply("org_1", WEEK)).toBe(4n);
  });
});

describe("GraceSpend with more keys and organizations than it keeps", () => {
  const spendOf = (spend: GraceSpend, keyId: string, microcents: bigint, isFinal = true): void => {
    const requestId = `req_${keyId}_${microcents}`;
    const ids = { keyId, organizationId: `org_${keyId}`, requestId, owners: "" };
    spend.counted({ ...REQUEST, ...ids }, microcents);
    spend.acknowledged({ ...charge(microcents, 1, { isFinal }), ...ids });
  };
  const own = (spend: GraceSpend, keyId: string) => {
    const window = { period: "month", day: REQUEST.day, subjectId: keyId } as const;
    return { counted: spend.inWindow(MONTH, keyId), inReply: spend.inReply(`org_${keyId}`, window) };
  };

  it("shows of a forgotten one never less than is spent since its last admission", () => {
    const spend = new GraceSpend({ maxSubjects: 6 });
    spendOf(spend, "a", 40n);
    const base = 40n - own(spend, "a").inReply;
    spendOf(spend, "a", 5n);
    for (const other of ["b", "c", "d", "e"]) spendOf(spend, other, 10n);
    expect(base + own(spend, "a").counted).toBeGreaterThanOrEqual(45n);
    spendOf(spend, "a", 7n);
    expect(base + own(spend, "a").counted).toBeGreaterThanOrEqual(52n);
  });

  it("is exact again from its next admission on", () => {
    const spend = new GraceSpend({ maxSubjects: 6 });
    for (const other of ["a", "b", "c", "d", "e"]) spendOf(spend, other, 10n);
    const base = 10n - own(spend, "a").inReply;
    spendOf(spend, "a", 3n);
    expect(base + own(spend, "a").counted).toBe(13n);
  });

  it("forgets those first that were charged longest ago, and none with a request that has not ended", () => {
    const spend = new GraceSpend({ maxSubjects: 6 });
    spendOf(spend, "a", 40n, false);
    spendOf(spend, "b", 30n);
    for (const other of ["c", "d", "e"]) {
      spendOf(spend, "b", 1n);
      spendOf(spend, other, 2n);
    }
    expect(own(spend, "a")).toEqual({ counted: 40n, inReply: 40n });
    expect(own(spend, "b")).toEqual({ counted: 33n, inReply: 33n });
  });

  it("counts a new one while all others have a request that has not ended, and forgets once they have", () => {
    const spend = new GraceSpend({ maxSubjects: 6 });
    const keys = ["a", "b", "c", "d", "e", "f"];
    for (const key of keys) spendOf(spend, key, 10n, false);
    expect(keys.map((key) => own(spend, key).counted)).toEqual(keys.map(() => 10n));
    for (const key of keys) spendOf(spend, key, 10n);
    spendOf(spend, "g", 1n);
    spendOf(spend, "h", 1n);
    // Begins at the most that a forgotten one had come to.
    expect(own(spend, "a").inReply).toBe(own(spend, "x").inReply);
  });
});

interface Figures {
  /** As of an admission's reply. */
  readonly inReply: (spend: GraceSpend) => bigint;
  readonly counted: (spend: GraceSpend) => bigint;
  /** It is known what others have spent before any admission was answered: nothing. */
  readonly isSureAtOnce: boolean;
}

const OF_MONTH: Figures = {
  inReply: (spend) => inMonth(spend).microcents,
  counted: (spend) => spend.inWindow(MONTH, "key_1"),
  isSureAtOnce: true,
};
const OF_WEEK: Figures = {
  inReply: (spend) => spend.inReply("org_1", WEEK),
  counted: (spend) => spend.inWindow("week:2968", "user_1"),
  isSureAtOnce: false,
};

/** A connection to a Redis that is played by its rule: it executes commands in their order and answers in that order. */
class Line {
  readonly #spend = new GraceSpend();
  /** By request: what it was charged last, and under which number. */
  readonly #sent = new Map<string, ChargeInput>();
  readonly #inRedis = new Map<string, bigint>();
  /** Not executed yet. */
  #commands: (ChargeInput | "admit")[] = [];
  #base = 0n;
  /** What was lost since the last admission's reply, or before it. */
  readonly #lost = new Set<string>();
  #isBaseSure: boolean;
  readonly #figures: Figures;

  constructor(figures: Figures) {
    this.#figures = figures;
    this.#isBaseSure = figures.isSureAtOnce;
  }

  charge(request: number, by: bigint): void {
    const requestId = `req_${request}`;
    const last = this.#sent.get(requestId) ?? charge(0n, 0, { requestId });
    const total = last.totalMicrocents + by < 0n ? 0n : last.totalMicrocents + by;
    const next = charge(total, last.sequence + 1, { requestId });
    this.#sent.set(requestId, next);
    this.#spend.counted(next, total);
    this.#commands.push(next);
  }

  admit(): void {
    this.#commands.push("admit");
  }

  deliver(count: number): void {
    for (const command of this.#commands.splice(0, count)) this.#execute(command, true);
  }

  /** Executes so many more commands; of no one there is an answer. */
  breakAfter(count: number): void {
    const lost = this.#commands;
    this.#commands = [];
    for (const command of lost.slice(0, count)) this.#execute(command, false);
    for (const command of lost) {
      if (command === "admit") continue;
      this.#lost.add(command.requestId);
      this.#spend.unanswered(command);
    }
  }

  #execute(command: ChargeInput | "admit", isAnswered: boolean): void {
    if (command !== "admit") {
      this.#inRedis.set(command.requestId, command.totalMicrocents);
      if (!isAnswered) return;
      this.#lost.delete(command.requestId);
      this.#spend.acknowledged(command);
    } else if (isAnswered) {
      this.#base = sum(this.#inRedis.values()) - this.#figures.inReply(this.#spend);
      this.#isBaseSure = this.#lost.size === 0;
    }
  }

  /** What caps are compared with while Redis is unreachable. */
  get shown(): bigint {
    return this.#base + this.#figures.counted(this.#spend);
  }

  get spent(): bigint {
    return sum([...this.#sent.values()].map(({ totalMicrocents }) => totalMicrocents));
  }

  /** When the last admission was answered, all charges sent before it were. */
  get isAllAnswered(): boolean {
    return this.#isBaseSure;
  }
}

function sum(amounts: Iterable<bigint>): bigint {
  return [...amounts].reduce((total, amount) => total + amount, 0n);
}
