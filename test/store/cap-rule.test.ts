/** The rules that TypeScript and the scripts in Redis both have: when a cap is reached, and what a bucket holds. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketCapacity, countBucketCapacity } from "../../src/data-path/limits/bucket-capacity.ts";
import { isReached, MAX_CENTS, MICROCENTS_PER_CENT, remainingOfLimit } from "../../src/shared/money/money.ts";
import { RATE_BOUNDS } from "../../src/shared/settings/key.ts";
import { type Raise, raisedCap } from "../../src/shared/settings/raises.ts";
import { readScript } from "../../src/data-path/store/ioredis/scripts.ts";
import { spendKey } from "../../src/data-path/store/redis/keys.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { admitKnown, createIdentity, createTestKey, openRecordInput, withTestStore } from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

/** What counters in Redis hold at most. */
const MOST = 2n ** 63n - 1n;
const MAX_EXACT = 2n ** 53n;
const UNIT = BigInt(MICROCENTS_PER_CENT);

const cents = fc.oneof(
  fc.constantFrom(0, 1, MAX_CENTS - 1, MAX_CENTS),
  fc.integer({ min: 0, max: MAX_CENTS }),
  fc.integer({ min: 0, max: 1_000 }),
);
/** Anything that a counter can be, and amounts a few microcents beside the bound of `cents`. */
const amountNear = (limit: number) =>
  fc.oneof(
    fc.bigInt({ min: -3n, max: 3n }).map((beside) => BigInt(limit) * UNIT + beside),
    fc.bigInt({ min: -MOST, max: MOST }),
    fc.bigInt({ min: 0n, max: BigInt(MAX_CENTS) * UNIT }),
    fc.constantFrom(0n, MAX_EXACT - 1n, MAX_EXACT, MAX_EXACT + 1n, MOST),
  );

/** Runs a piece of Lua behind the files that it includes. Numbers come and go as texts. */
async function runLua(files: readonly string[], code: string, values: readonly string[]): Promise<string[]> {
  const script = [...files.map((file) => readScript(`include/${file}`)), code].join("\n");
  return (await test.client.eval(script, 1, "{cap-rule}", ...values)) as string[];
}

describe("the rule of caps", () => {
  it("is the scripts' and TypeScript's alike, at the bounds and for sums that Lua's numbers do not hold", async () => {
    const code = `local cents, taken = tonumber(ARGV[1]), tonumber(ARGV[2])
      local reached, remaining = is_reached(cents, taken), remaining_of(cents, taken)
      return { reached and '1' or '', remaining < 0 and '-' or remaining > 0 and '+' or '0', string.format('%.0f', remaining),
        is_share_reached(cents, 100, taken) and '1' or '' }`;
    await fc.assert(
      fc.asyncProperty(
        cents.chain((limit) => fc.tuple(fc.constant(limit), amountNear(limit))),
        async ([limit, taken]) => {
          const [reached, sign, remaining, whole] = await runLua(["cap-rule.lua"], code, [
            String(limit),
            String(taken),
          ]);
          const left = remainingOfLimit(limit, taken);
          expect([reached, whole]).toEqual(isReached(limit, taken) ? ["1", "1"] : ["", ""]);
          expect(sign).toBe(left < 0n ? "-" : left > 0n ? "+" : "0");
          const isExact =
            taken >= -MAX_EXACT && taken <= MAX_EXACT && left <= MAX_EXACT && left >= -MAX_EXACT;
          expect(isExact ? remaining : String(left)).toBe(String(left));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("decides admissions and records by cap, raises, what is spent and what is held as TypeScript says", async () => {
    const raised = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: MAX_CENTS })),
      {
        maxLength: 2,
      },
    );
    const key = await createTestKey(test.store, { requestsPerMinute: 1_000_000 });
    const strict = await createTestKey(test.store, {}, { strictCaps: true });
    await fc.assert(
      fc.asyncProperty(
        fc.record({ base: cents, raises: raised, isOfOrganization: fc.boolean() }).chain((limit) => {
          const inForce = Math.min(MAX_CENTS, limit.base + limit.raises.reduce((sum, each) => sum + each, 0));
          const spent = amountNear(inForce).filter((amount) => amount >= 0n);
          const small = fc.bigInt({ min: 0n, max: 10n });
          return fc.record({ ...constants(limit), spent, held: small, worst: small });
        }),
        async ({ base, raises, isOfOrganization, spent, held, worst }) => {
          const settings = { limits: monthLimits({ cap: base }), raises: raises.map(createRaise) };
          const none = { limits: [], raises: [] };
          const [ofKey, ofOrganization] = isOfOrganization ? [none, settings] : [settings, none];
          for (const one of [key, strict]) {
            await test.store.changeKey(one, ofKey, null);
            await test.store.changeOrganization(one.organizationId, ofOrganization, null);
          }
          const nowMs = await test.store.timeMs();
          const inForce = raisedCap(base, settings.raises, { period: "month", nowMs });
          const identity = await createIdentity(test.store, key);
          const subject = isOfOrganization ? "organization" : `key:${key.keyId}`;
          await test.client.hset(spendKey(key.organizationId, identity.month), subject, String(spent));
          const refused = isOfOrganization ? "organization_cap_reached" : "key_cap_reached";
          const isRefused = isReached(inForce, spent);
          expect((await admitKnown(test.store, key)).decision).toBe(isRefused ? refused : "admitted");
          expect((await test.store.openRecord(openRecordInput(identity))).outcome).toBe(
            isRefused ? refused : "opened",
          );
          await test.client.del(spendKey(key.organizationId, identity.month));

          const worstCaseMicrocents = worst;
          const other = await createIdentity(test.store, strict);
          const spends = spendKey(strict.organizationId, other.month);
          const ofStrict = isOfOrganization ? "organization" : `key:${strict.keyId}`;
          await test.client.hset(spends, ofStrict, String(spent), `held:${ofStrict}`, String(held));
          const isTooMuch = isRefused || remainingOfLimit(inForce, spent + held + worst) < 0n;
          const asked = await test.store.openRecord(openRecordInput(other, { worstCaseMicrocents }));
          expect(asked.outcome).toBe(isTooMuch ? refused : "opened");
          await test.client.del(spends);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("the capacity of a key's buckets", () => {
  it("is the scripts' and TypeScript's alike", async () => {
    const code = `local rate = tonumber(ARGV[1])
      return { string.format('%.0f', request_capacity(rate)), string.format('%.0f', count_capacity(rate)) }`;
    const { minimum, maximum } = RATE_BOUNDS;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.integer({ min: minimum, max: 1_000 })),
        async (rate) => {
          const capacities = await runLua(["integer.lua", "bucket.lua"], code, [String(rate)]);
          expect(capacities).toEqual([bucketCapacity(rate), countBucketCapacity(rate)].map(String));
        },
      ),
      { numRuns: 500 },
    );
  });
});

function createRaise(amount: number): Raise {
  return {
    id: createId("raise", Date.now()),
    period: "month",
    cents: amount,
    expiresAtMs: Date.now() + 3_600_000,
    reason: "launch",
    createdBy: { type: "token", id: "token_1", name: "ops" },
  };
}

function constants<Values extends Readonly<Record<string, unknown>>>(values: Values) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fc.constant(value)]),
  ) as unknown as { readonly [Name in keyof Values]: fc.Arbitrary<Values[Name]> };
}
