/** Limits of tokens per minute against a plain model, with two workers' stores on one Redis whose clock the test sets. */
import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../src/shared/settings/token-limits.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import type { TakenTokens } from "../../src/shared/stored/token-rate.ts";
import { runs } from "../support/extent.ts";
import { canSetClock, microseconds } from "./clock-fixture.ts";
import {
  admitKnown,
  chargeInput,
  connectStore,
  FINAL,
  openRecordInput,
  type StoreUnderTest,
} from "./fixture.ts";
import { createOwners, identify, type Owners, THURSDAY, timed, useTimedStore } from "./windows-fixture.ts";

useTimedStore();

const UNITS = 60_000n;
const SCOPES = ["key", "user", "organization"] as const;
type Scope = (typeof SCOPES)[number];

/** A bucket as docs/request-limits.md describes it, in integers without a limit. */
class ModelBucket {
  readonly limit: bigint;
  readonly isShared: boolean;
  /** Tokens that a shared bucket was below its floor, and when an admission found that. */
  readonly forgiven: { readonly atMs: number; readonly tokens: number }[] = [];
  #level: bigint;
  #atMs = 0;

  constructor({ limit, scope }: Limit) {
    this.limit = BigInt(limit);
    this.isShared = scope !== "key";
    this.#level = this.limit * UNITS;
  }

  /** Overdrawn when it is 0 or less. */
  levelAt(nowMs: number): bigint {
    const level = this.#unboundedAt(nowMs);
    return this.isShared && level < this.#floor ? this.#floor : level;
  }

  /** An admission finds it as it is then; what comes between is added to what it had left. */
  settle(nowMs: number): void {
    const below = this.levelAt(nowMs) - this.#unboundedAt(nowMs);
    if (below > 0n) this.forgiven.push({ atMs: nowMs, tokens: Number(below) / Number(UNITS) });
    this.#level = this.levelAt(nowMs);
    this.#atMs = nowMs;
  }

  get #floor(): bigint {
    return -5n * this.limit * UNITS;
  }

  #unboundedAt(nowMs: number): bigint {
    const level = this.#level + BigInt(nowMs - this.#atMs) * this.limit;
    const full = this.limit * UNITS;
    return level < full ? level : full;
  }

  take(tokens: number): void {
    this.#level -= BigInt(tokens) * UNITS;
  }
}

type Step =
  | { readonly kind: "admit"; readonly worker: 0 | 1; readonly prompt: number; readonly reserved: number }
  | {
      readonly kind: "charge";
      readonly which: number;
      readonly input: number;
      readonly output: number;
      readonly ends: boolean;
    }
  /** Its client has left, or its upstream tells no usage: the end is charged what its last progress has counted. */
  | { readonly kind: "estimate"; readonly which: number }
  | { readonly kind: "open"; readonly which: number; readonly estimate: number }
  | { readonly kind: "leave"; readonly which: number }
  | { readonly kind: "wait"; readonly ms: number };

interface InFlight {
  readonly identity: BilledRequest;
  readonly worker: 0 | 1;
  readonly given: TakenTokens;
  sequence: number;
  input: number;
  output: number;
  /** Output that shared buckets count: what was reserved, until more is used or the request ends. */
  shared: number;
}

const tokens = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 500 }),
  fc.integer({ min: 0, max: 20_000 }),
);
const worker = fc.constantFrom(0 as const, 1 as const);
const which = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("admit" as const), worker, prompt: tokens, reserved: tokens }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("charge" as const),
      which,
      input: tokens,
      output: tokens,
      ends: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("estimate" as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("open" as const), which, estimate: tokens }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 400_000 })),
    }),
  },
);
const limits = fc.uniqueArray(
  fc.record({
    scope: fc.constantFrom(...SCOPES),
    type: fc.constantFrom(...TOKEN_LIMIT_TYPES),
    limit: fc.oneof(fc.constantFrom(1, 1_000, 60_000), fc.integer({ min: 1, max: 100_000 })),
  }),
  { minLength: 1, maxLength: 5, selector: ({ scope, type }) => `${scope} ${type}` },
);

const FIELDS = {
  total: "tokensPerMinute",
  input: "inputTokensPerMinute",
  output: "outputTokensPerMinute",
} as const;

interface Limit {
  readonly scope: Scope;
  readonly type: TokenLimitType;
  readonly limit: number;
}

async function setAll(of: Owners, all: readonly Limit[]): Promise<void> {
  const { store } = timed();
  const ofScope = (scope: Scope) =>
    Object.fromEntries(
      all.filter((row) => row.scope === scope).map(({ type, limit }) => [FIELDS[type], limit]),
    );
  await store.changeKey(of.key, ofScope("key"), null);
  await store.changeUser(of.organizationId, of.userId, ofScope("user"), null);
  await store.changeOrganization(of.organizationId, ofScope("organization"), null);
}

const amountOf = (type: TokenLimitType, input: number, output: number): number =>
  amountsOf(input, output)[type];

type Amounts = Readonly<Record<TokenLimitType, number>>;
const amountsOf = (input: number, output: number): Amounts => ({ total: input + output, input, output });

type TwoStores = readonly [StoreUnderTest["store"], StoreUnderTest["store"]];

/** One organization's requests, and a model bucket for each of its limits. */
class Run {
  readonly of: Owners;
  readonly #stores: TwoStores;
  readonly #buckets: readonly (Limit & { readonly bucket: ModelBucket })[];
  readonly #inFlight: InFlight[] = [];
  /** By type, what was taken and given back when, and the most that each request has come to. */
  readonly #moves: (Amounts & { readonly atMs: number })[] = [];
  readonly #most = new Map<string, Amounts>();
  /** The requests that were in flight at each of the moves. */
  readonly #together: (readonly string[])[] = [];
  nowMs = 0;

  constructor(of: Owners, all: readonly Limit[], stores: TwoStores) {
    this.of = of;
    this.#stores = stores;
    this.#buckets = all.map((limit) => ({ ...limit, bucket: new ModelBucket(limit) }));
  }

  async do(next: Step): Promise<void> {
    if (next.kind === "wait") {
      this.nowMs += next.ms;
      timed().clock.set(microseconds(THURSDAY) + BigInt(this.nowMs) * 1000n);
    } else if (next.kind === "admit") await this.#admit(next);
    else await this.#end(next);
  }

  async #admit({ worker: by, prompt, reserved }: Extract<Step, { kind: "admit" }>): Promise<void> {
    const { decision, takenTokens, tokenBuckets } = await admitKnown(this.#stores[by], this.of.key, {
      promptTokens: prompt,
      reservedTokens: reserved,
    });
    for (const { bucket } of this.#buckets) bucket.settle(this.nowMs);
    const isEmpty = this.#buckets.some(({ bucket }) => bucket.levelAt(this.nowMs) <= 0n);
    assert.equal(decision, isEmpty ? "token_rate_limited" : "admitted");
    if (!isEmpty && takenTokens !== null) {
      const identity = await identify(this.of);
      this.#move(prompt, 0, reserved);
      this.#inFlight.push({
        identity,
        worker: by,
        given: takenTokens,
        sequence: 0,
        input: prompt,
        output: 0,
        shared: reserved,
      });
      this.#count(identity.requestId, prompt, 0);
    }
    for (const { type, remaining } of tokenBuckets) {
      const levels = this.#buckets
        .filter((row) => row.type === type)
        .map(({ bucket }) => bucket.levelAt(this.nowMs));
      const lowest = levels.reduce((least, level) => (level < least ? level : least));
      assert.equal(remaining, lowest <= 0n ? 0 : Number(lowest / UNITS));
    }
  }

  async #end(next: Exclude<Step, { kind: "wait" | "admit" }>): Promise<void> {
    const at = this.#inFlight.length === 0 ? -1 : next.which % this.#inFlight.length;
    const request = this.#inFlight[at];
    if (request === undefined) return;
    const { identity, given } = request;
    // The other worker's store: whose command it is makes no difference.
    const store = this.#stores[request.worker];
    if (next.kind === "open") {
      if (request.sequence > 0) return;
      await store.openRecord(
        openRecordInput(identity, { floorInputTokens: next.estimate, takenTokens: given }),
      );
      request.sequence += 1;
      this.#settle(request, next.estimate, 0, false);
    } else if (next.kind === "leave") {
      if (request.sequence > 0) return;
      await store.removeAbandoned(this.of.organizationId, [{ ...identity, takenTokens: given }]);
      this.#settle(request, 0, 0, true);
      this.#inFlight.splice(at, 1);
    } else {
      const { input, output, ends } =
        next.kind === "estimate" ? { input: request.input, output: request.output, ends: true } : next;
      const isSingleCharge = ends && request.sequence === 0 ? ({ isSingleCharge: true } as const) : {};
      request.sequence += 1;
      const usedTokens = { ...given, input, output };
      const charge = chargeInput(identity, request.sequence, 5n, {
        usedTokens,
        final: ends ? FINAL : null,
        ...isSingleCharge,
      });
      await store.charge(charge);
      // Sent again: it counts once.
      await this.#stores[1 - request.worker]?.charge(charge);
      this.#settle(request, input, output, ends);
      if (ends) this.#inFlight.splice(at, 1);
    }
  }

  #settle(request: InFlight, input: number, output: number, ends: boolean): void {
    const shared = ends ? output : Math.max(output, request.given.reserved);
    this.#move(input - request.input, output - request.output, shared - request.shared);
    Object.assign(request, { input, output, shared });
    this.#count(request.identity.requestId, input, output);
  }

  #move(input: number, output: number, shared: number): void {
    this.#moves.push({ ...amountsOf(input, output), atMs: this.nowMs });
    for (const { type, bucket } of this.#buckets) {
      bucket.take(amountOf(type, input, bucket.isShared ? shared : output));
    }
  }

  #count(requestId: string, input: number, output: number): void {
    const before = this.#most.get(requestId) ?? amountsOf(0, 0);
    const now = amountsOf(input, output);
    const most = (type: TokenLimitType) => Math.max(before[type], now[type]);
    this.#most.set(requestId, { total: most("total"), input: most("input"), output: most("output") });
    this.#together.push(this.#inFlight.map(({ identity }) => identity.requestId));
  }

  /**
   * What is published, of each limit and from any moment to any other: limit × (t + 1), and what was in flight, at the first
   * moment and when the level came to 0; of a shared limit also what its floor forgave meanwhile.
   */
  checkBound(): void {
    for (const { limit, type, bucket } of this.#buckets) {
      const mostOf = (ids: readonly string[] = []) =>
        ids.reduce((sum, id) => sum + (this.#most.get(id)?.[type] ?? 0), 0);
      const inFlight = Math.max(0, ...this.#together.map(mostOf));
      for (const [begin, { atMs: fromMs }] of this.#moves.entries()) {
        const atFirst = mostOf(this.#together[begin]);
        let used = 0;
        for (const { atMs, [type]: tokens } of this.#moves.slice(begin)) {
          used += tokens;
          const forgiven = bucket.forgiven
            .filter((each) => each.atMs >= fromMs && each.atMs <= atMs)
            .reduce((sum, each) => sum + each.tokens, 0);
          const bound = limit * ((atMs - fromMs) / 60_000 + 1) + atFirst + inFlight + forgiven;
          assert.ok(used <= bound, `${used} tokens in ${atMs - fromMs} ms are more than ${bound}`);
        }
      }
    }
  }
}

describe.skipIf(!canSetClock)("limits of tokens per minute (sets Redis's clock: takes Linux and cc)", () => {
  let other: StoreUnderTest;
  beforeAll(async () => {
    if (canSetClock) other = await connectStore(timed().address);
  });
  afterAll(async () => {
    if (canSetClock) await other.stop();
  });

  it("decide as their model does, to the token, whichever worker asks, and keep what is published", async () => {
    const held = fc.assert(
      fc.asyncProperty(limits, fc.array(step, { minLength: 5, maxLength: 60 }), async (all, steps) => {
        timed().clock.set(microseconds(THURSDAY));
        const of = await createOwners();
        await setAll(of, all);
        const run = new Run(of, all, [timed().store, other.store]);
        for (const next of steps) await run.do(next);
        run.checkBound();
      }),
      // Each organization that is made looks at all others of the same minute, which is the same each time here.
      { numRuns: runs(200), interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true },
    );
    await expect(held).resolves.toBeUndefined();
  });
});
