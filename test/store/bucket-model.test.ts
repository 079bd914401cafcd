import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../support/extent.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { admitKnown, createTestKey } from "./fixture.ts";

const UNITS_PER_TOKEN = 60_000_000n;
const START = microseconds("2026-03-03T03:03:03Z");

type Bucket = "requests" | "count_tokens";
type Step =
  | { readonly kind: "take"; readonly bucket: Bucket; readonly times: number }
  | { readonly kind: "wait"; readonly microseconds: bigint }
  | { readonly kind: "set_back"; readonly microseconds: bigint }
  | { readonly kind: "set_rate"; readonly rpm: number };

/** A token bucket as the contract tells it, in integers without a limit. */
class ModelBucket {
  readonly #smallest: bigint;
  #rpm: bigint;
  #units: bigint | null = null;
  #at = 0n;

  constructor(rpm: number, smallest: number) {
    this.#rpm = BigInt(rpm);
    this.#smallest = BigInt(smallest);
  }

  get capacity(): bigint {
    const byRate = this.#rpm / 10n < 10n ? 10n : this.#rpm / 10n;
    return byRate < this.#smallest ? this.#smallest : byRate;
  }

  unitsAt(now: bigint): bigint {
    const full = this.capacity * UNITS_PER_TOKEN;
    if (this.#units === null) return full;
    const elapsed = now > this.#at ? now - this.#at : 0n;
    const units = this.#units + elapsed * this.#rpm;
    return units < full ? units : full;
  }

  take(now: bigint): boolean {
    const units = this.unitsAt(now);
    const granted = units >= UNITS_PER_TOKEN;
    this.#units = granted ? units - UNITS_PER_TOKEN : units;
    this.#at = now;
    return granted;
  }

  setRate(rpm: number, now: bigint): void {
    if (BigInt(rpm) === this.#rpm) return;
    const units = this.unitsAt(now);
    const before = this.capacity;
    this.#rpm = BigInt(rpm);
    if (this.#units === null) return;
    this.#units = (units * this.capacity) / before;
    this.#at = now;
  }

  waitSeconds(now: bigint): number {
    const missing = UNITS_PER_TOKEN - this.unitsAt(now);
    return Number(ceilDivide(missing, this.#rpm * 1_000_000n));
  }

  resetMs(now: bigint): number {
    return Number(ceilDivide(this.capacity * UNITS_PER_TOKEN - this.unitsAt(now), this.#rpm * 1000n));
  }
}

const ceilDivide = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

const rpm = fc.oneof(
  fc.constantFrom(1, 59, 60, 61, 99, 100, 101, 600, 6000, 999_999, 1_000_000),
  fc.integer({ min: 1, max: 1_000_000 }),
);
const span = fc.oneof(
  fc.bigInt({ min: 0n, max: 3_000n }),
  fc.bigInt({ min: 0n, max: 3_000_000n }),
  fc.bigInt({ min: 0n, max: 3_000_000_000n }),
  // Up to a year: the product of time and rate is then far beyond 2^53.
  fc.bigInt({ min: 0n, max: 31_536_000_000_000n }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("take" as const),
      bucket: fc.constantFrom<Bucket>("requests", "requests", "count_tokens"),
      times: fc.integer({ min: 1, max: 30 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("wait" as const), microseconds: span }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("set_back" as const), microseconds: span }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("set_rate" as const), rpm }) },
);

let timed: TimedStore;
beforeAll(async () => {
  if (canSetClock) timed = await openTimedStore(START);
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

describe.skipIf(!canSetClock)("the buckets of a key (sets Redis's clock: takes Linux and cc)", () => {
  it("do what a plain model does, to the unit, over takes, waits, changes of rate and clocks set back", async () => {
    await fc.assert(
      fc.asyncProperty(
        rpm,
        fc.array(step, { minLength: 1, maxLength: 30, size: "max" }),
        async (firstRpm, steps) => {
          const { store, clock } = timed;
          let now = START;
          clock.set(now);
          const key = await createTestKey(store, { requestsPerMinute: firstRpm });
          const models = {
            requests: new ModelBucket(firstRpm, 10),
            count_tokens: new ModelBucket(firstRpm, 60),
          };
          for (const each of steps) {
            if (each.kind === "wait") now += each.microseconds;
            if (each.kind === "set_back") now -= each.microseconds;
            clock.set(now);
            if (each.kind === "set_rate") {
              await store.changeKey(key, { requestsPerMinute: each.rpm }, null);
              for (const model of Object.values(models)) model.setRate(each.rpm, now);
            }
            for (let taken = 0; each.kind === "take" && taken < each.times; taken += 1) {
              const { decision, bucket } = await admitKnown(store, key, {
                bucket: each.bucket,
                metered: false,
                promptTokens: 0,
              });
              const granted = models[each.bucket].take(now);
              expect({ decision, ...bucket }).toEqual({
                decision: granted ? "admitted" : "rate_limited",
                remaining: Number(models.requests.unitsAt(now) / UNITS_PER_TOKEN),
                capacity: Number(models.requests.capacity),
                resetMs: models.requests.resetMs(now),
                retryAfterSeconds: granted ? 0 : models[each.bucket].waitSeconds(now),
              });
            }
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("keep the fraction that was full, up and down, rounded down to a unit", async () => {
    const { store, clock } = timed;
    clock.set(START);
    const key = await createTestKey(store, { requestsPerMinute: 600 });
    for (let sent = 0; sent < 40; sent += 1) await admitKnown(store, key);
    await store.changeKey(key, { requestsPerMinute: 60_000 }, null);
    expect((await admitKnown(store, key)).bucket).toMatchObject({ remaining: 1999, capacity: 6000 });
    await store.changeKey(key, { requestsPerMinute: 1 }, null);
    expect((await admitKnown(store, key)).bucket).toMatchObject({ remaining: 2, capacity: 10 });
  });

  it("refill at the old rate up to a change of rate", async () => {
    const { store, clock } = timed;
    clock.set(START);
    const key = await createTestKey(store, { requestsPerMinute: 60 });
    for (let sent = 0; sent < 10; sent += 1) await admitKnown(store, key);
    clock.set(START + 5_000_000n);
    await store.changeKey(key, { requestsPerMinute: 1_000_000 }, null);
    expect((await admitKnown(store, key)).bucket.remaining).toBe(49_999);
  });
});
