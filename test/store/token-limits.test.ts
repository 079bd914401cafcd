/** Limits of tokens per minute on a Redis whose clock the test sets. */
import { describe, expect, it } from "vitest";
import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../src/shared/settings/token-limits.ts";
import { LIMIT_SCOPES, type LimitScope } from "../../src/shared/stored/decision.ts";
import type { TakenTokens } from "../../src/shared/stored/token-rate.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import { requestBucketKey, tokenBucketsKey } from "../../src/data-path/store/redis/keys.ts";
import { canSetClock, microseconds } from "./clock-fixture.ts";
import { admitKnown, chargeInput, FINAL, openRecordInput } from "./fixture.ts";
import {
  closeOverdue,
  createOwners,
  identify,
  type Owners,
  THURSDAY,
  timed,
  useTimedStore,
} from "./windows-fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

useTimedStore();

const FIELDS = {
  total: "tokensPerMinute",
  input: "inputTokensPerMinute",
  output: "outputTokensPerMinute",
} as const satisfies Record<TokenLimitType, string>;

async function limit(
  of: Owners,
  scope: LimitScope,
  type: TokenLimitType,
  tokens: number | null,
): Promise<void> {
  const { store } = timed();
  const settings = { [FIELDS[type]]: tokens };
  if (scope === "key") await store.changeKey(of.key, settings, null);
  else if (scope === "user") await store.changeUser(of.organizationId, of.userId, settings, null);
  else if (scope === "group") await store.changeGroup(of.organizationId, of.groupId, settings, null);
  else await store.changeOrganization(of.organizationId, settings, null);
}

interface Admitted {
  readonly identity: BilledRequest;
  readonly taken: TakenTokens;
}

async function admitted(of: Owners, promptTokens: number, reservedTokens = 0): Promise<Admitted> {
  const { decision, takenTokens } = await admitKnown(timed().store, of.key, { promptTokens, reservedTokens });
  expect(decision).toBe("admitted");
  if (takenTokens === null) throw new Error("it meets no limit of tokens");
  return { identity: await identify(of), taken: takenTokens };
}

const used = ({ taken }: Admitted, input: number, output: number) => ({
  usedTokens: { ...taken, input, output },
});

/** The final charge of a request that ends with it, by the upstream's own count. */
async function end(request: Admitted, input: number, output: number): Promise<void> {
  const changes = { final: FINAL, isSingleCharge: true, ...used(request, input, output) } as const;
  await timed().store.charge(chargeInput(request.identity, 1, 5n, changes));
}

/** Tokens left of the tightest bucket of a type; takes none of it. */
async function left(of: Owners, type: TokenLimitType): Promise<number | undefined> {
  const { tokenBuckets } = await admitKnown(timed().store, of.key, { metered: false });
  return tokenBuckets.find((bucket) => bucket.type === type)?.remaining;
}

function wait(ms: number): void {
  timed().clock.set(microseconds(THURSDAY) + BigInt(ms) * 1000n);
}

describe.skipIf(!canSetClock)("a limit of tokens per minute (sets Redis's clock: takes Linux and cc)", () => {
  it.each(LIMIT_SCOPES.flatMap((scope) => TOKEN_LIMIT_TYPES.map((type) => ({ scope, type }))))(
    "of a $scope admits while its level of $type tokens is above 0, and says when it is again",
    async ({ scope, type }) => {
      const of = await createOwners();
      await limit(of, scope, type, 1_000);
      const request = await admitted(of, 900);
      expect(await left(of, type)).toBe(type === "output" ? 1_000 : 100);
      // It has used four minutes' tokens of either kind.
      await end(request, 4_000, type === "total" ? 0 : 4_000);
      const refused = await admitKnown(timed().store, of.key);
      expect(refused).toMatchObject({
        decision: "token_rate_limited",
        tokenLimit: { scope, type, limit: 1_000 },
        bucket: { retryAfterSeconds: 181 },
        tokenBuckets: [{ type, limit: 1_000, remaining: 0, resetMs: 240_000 }],
      });
      wait(180_000);
      expect((await admitKnown(timed().store, of.key)).decision).toBe("token_rate_limited");
      wait(180_001);
      expect((await admitKnown(timed().store, of.key)).decision).toBe("admitted");
    },
  );

  it("lets one request pass that is larger than a whole minute, and takes its estimate at once", async () => {
    const of = await createOwners();
    await limit(of, "key", "input", 1_000);
    const request = await admitted(of, 16_000);
    expect((await admitKnown(timed().store, of.key)).decision).toBe("token_rate_limited");
    await end(request, 10, 0);
    expect(await left(of, "input")).toBe(990);
  });

  it("takes of no bucket for a request that is refused, nor for one that calls no model", async () => {
    const of = await createOwners();
    await limit(of, "key", "total", 1_000);
    await timed().store.changeKey(of.key, { limits: monthLimits({ cap: 0 }) }, null);
    const refused = await admitKnown(timed().store, of.key, { promptTokens: 500 });
    expect(refused.decision).toBe("key_cap_reached");
    await admitKnown(timed().store, of.key, { promptTokens: 500, metered: false });
    expect(await left(of, "total")).toBe(1_000);
  });

  it("decides requests that come together one after the other", async () => {
    const of = await createOwners();
    await limit(of, "key", "total", 1_000);
    const results = await Promise.all(
      [600, 600, 600].map((promptTokens) => admitKnown(timed().store, of.key, { promptTokens })),
    );
    expect(results.map(({ decision }) => decision)).toEqual(["admitted", "admitted", "token_rate_limited"]);
    expect(results.map(({ tokenBuckets }) => tokenBuckets[0]?.remaining)).toEqual([400, 0, 0]);
  });

  it("names of several empty ones that which is above 0 last", async () => {
    const of = await createOwners();
    await limit(of, "organization", "total", 1_000);
    await limit(of, "key", "input", 2_000);
    await limit(of, "group", "output", 10);
    await end(await admitted(of, 0), 5_000, 60);
    const { tokenLimit, bucket } = await admitKnown(timed().store, of.key);
    expect(tokenLimit).toEqual({ scope: "group", type: "output", limit: 10 });
    // 50 tokens at ten a minute, against 4,060 at 1,000 and 3,000 at 2,000.
    expect(bucket.retryAfterSeconds).toBe(301);
  });

  it("moves at progress and at the end to what is known by then, each charge once", async () => {
    const of = await createOwners();
    await limit(of, "key", "total", 10_000);
    const request = await admitted(of, 1_000);
    const { identity } = request;
    const charge = (sequence: number, input: number, output: number, isFinal = false) =>
      timed().store.charge(
        chargeInput(identity, sequence, 5n, {
          ...used(request, input, output),
          final: isFinal ? FINAL : null,
        }),
      );
    await charge(1, 1_200, 300);
    expect(await left(of, "total")).toBe(8_500);
    await charge(1, 1_200, 300);
    await charge(2, 1_200, 800);
    expect(await left(of, "total")).toBe(8_000);
    await charge(4, 400, 1_000, true);
    await charge(3, 9_000, 9_000);
    await charge(4, 9_000, 9_000, true);
    expect(await left(of, "total")).toBe(8_600);
  });

  it("is put right by the record of a request that waits for one", async () => {
    const of = await createOwners();
    await limit(of, "user", "input", 10_000);
    const { identity, taken } = await admitted(of, 1_000);
    await timed().store.openRecord(
      openRecordInput(identity, { floorInputTokens: 7_000, takenTokens: taken }),
    );
    await timed().store.openRecord(
      openRecordInput(identity, { floorInputTokens: 7_000, takenTokens: taken }),
    );
    expect(await left(of, "input")).toBe(3_000);
    const final = { final: FINAL, usedTokens: { ...taken, input: 500, output: 0 } };
    await timed().store.charge(chargeInput(identity, 1, 5n, final));
    expect(await left(of, "input")).toBe(9_500);
  });

  it("gets back what was taken for a request that does not go upstream, or fails there with nothing", async () => {
    const of = await createOwners();
    await limit(of, "group", "total", 1_000);
    const { identity, taken } = await admitted(of, 600);
    await timed().store.removeAbandoned(of.organizationId, [{ ...identity, takenTokens: taken }]);
    expect(await left(of, "total")).toBe(1_000);
    await end(await admitted(of, 700), 0, 0);
    expect(await left(of, "total")).toBe(1_000);
  });

  it("keeps for a request whose worker died what it had taken, which time pays off", async () => {
    const of = await createOwners();
    await limit(of, "key", "total", 1_000);
    const request = await admitted(of, 600);
    await timed().store.charge(chargeInput(request.identity, 1, 5n, used(request, 600, 1_400)));
    wait(60_000);
    await closeOverdue(of);
    expect(await left(of, "total")).toBe(0);
    wait(61_001);
    expect((await admitKnown(timed().store, of.key)).decision).toBe("admitted");
  });

  it("keeps its level's share when it is changed, and its level when it is taken away and set again", async () => {
    const of = await createOwners();
    await limit(of, "key", "output", 1_000);
    await end(await admitted(of, 0), 0, 750);
    await limit(of, "key", "output", 4_000);
    expect(await left(of, "output")).toBe(1_000);
    await limit(of, "key", "output", 400);
    expect(await left(of, "output")).toBe(100);
    await end(await admitted(of, 0), 0, 40_000);
    await limit(of, "key", "output", null);
    expect((await admitKnown(timed().store, of.key)).decision).toBe("admitted");
    wait(3_600_000);
    await limit(of, "key", "output", 400);
    expect((await admitKnown(timed().store, of.key)).decision).toBe("token_rate_limited");
  });

  const SHARED = LIMIT_SCOPES.filter((scope) => scope !== "key");

  it.each(SHARED)(
    "of a %s takes a request's likely output at admission, a key's own does not",
    async (scope) => {
      const of = await createOwners();
      await limit(of, scope, "total", 1_000);
      await limit(of, scope, "output", 900);
      await limit(of, "key", "output", 500);
      const first = await admitted(of, 100, 600);
      // The tightest of each type: of output the key's own is full, the shared one has 300.
      expect([await left(of, "total"), await left(of, "output")]).toEqual([300, 300]);
      await admitted(of, 100, 600);
      expect((await admitKnown(timed().store, of.key)).decision).toBe("token_rate_limited");
      await end(first, 100, 40);
      expect([await left(of, "total"), await left(of, "output")]).toEqual([160, 260]);
    },
  );

  it("keeps the likely output taken while a request has progress, and gives it back at the end", async () => {
    const of = await createOwners();
    await limit(of, "user", "output", 1_000);
    const request = await admitted(of, 0, 600);
    const charge = (sequence: number, output: number, isFinal = false) =>
      timed().store.charge(
        chargeInput(request.identity, sequence, 5n, {
          ...used(request, 0, output),
          final: isFinal ? FINAL : null,
        }),
      );
    await charge(1, 200);
    expect(await left(of, "output")).toBe(400);
    await charge(2, 700);
    expect(await left(of, "output")).toBe(300);
    await charge(3, 650, true);
    expect(await left(of, "output")).toBe(350);
    const unsent = await admitted(of, 0, 300);
    await timed().store.removeAbandoned(of.organizationId, [
      { ...unsent.identity, takenTokens: unsent.taken },
    ]);
    expect(await left(of, "output")).toBe(350);
  });

  it.each(SHARED)(
    "of a %s makes others wait five minutes at most, however much one has used",
    async (scope) => {
      const of = await createOwners();
      await limit(of, scope, "total", 1_000);
      await end(await admitted(of, 0), 0, 3_600_000);
      const refused = await admitKnown(timed().store, of.key);
      expect(refused).toMatchObject({ decision: "token_rate_limited", bucket: { retryAfterSeconds: 301 } });
      wait(300_001);
      expect((await admitKnown(timed().store, of.key)).decision).toBe("admitted");
    },
  );

  it.each(SHARED)("of a %s is full again once it was raised", async (scope) => {
    const of = await createOwners();
    await limit(of, scope, "output", 1_000);
    await end(await admitted(of, 0), 0, 9_000);
    await limit(of, scope, "output", 900);
    expect((await admitKnown(timed().store, of.key)).decision).toBe("token_rate_limited");
    await limit(of, scope, "output", 901);
    expect(await left(of, "output")).toBe(901);
  });

  it("loses nothing when the clock goes back, and counts for the owners of the admission", async () => {
    const of = await createOwners();
    await limit(of, "user", "total", 1_000);
    wait(10_000);
    const request = await admitted(of, 400);
    wait(0);
    expect(await left(of, "total")).toBe(600);
    await timed().store.changeKey(of.key, { userId: null }, null);
    await end(request, 900, 0);
    expect(await left(of, "total")).toBeUndefined();
    await timed().store.changeKey(of.key, { userId: of.userId }, null);
    expect(await left(of, "total")).toBe(100);
  });

  it("is shown with its key as the next admission finds it, which changes nothing", async () => {
    const of = await createOwners();
    await limit(of, "key", "input", 1_000);
    await limit(of, "organization", "total", 10);
    await end(await admitted(of, 0), 1_500, 7);
    wait(15_000);
    const read = async () =>
      (await timed().store.readBuckets(of.organizationId, [of.key.keyId])).get(of.key.keyId);
    const shown = [{ type: "input", limit: 1_000, remaining: 0, resetMs: 75_000 }];
    expect((await read())?.tokens).toEqual(shown);
    expect((await read())?.tokens).toEqual(shown);
    wait(45_000);
    expect((await read())?.tokens).toEqual([
      { type: "input", limit: 1_000, remaining: 250, resetMs: 45_000 },
    ]);
  });

  it("begins full again once nobody has called for a day, and leaves nothing behind then", async () => {
    const of = await createOwners();
    await limit(of, "organization", "total", 1_000);
    const request = await admitted(of, 500);
    const { client } = timed();
    const name = tokenBucketsKey(of.organizationId, "organization");
    expect(await client.pttl(name)).toBeGreaterThan(86_400_000);
    await client.del(name);
    await end(request, 500, 100);
    expect(await client.exists(name)).toBe(0);
    expect(await left(of, "total")).toBe(1_000);
  });

  it("leaves nothing behind of a key that is deleted while its request runs", async () => {
    const of = await createOwners();
    await limit(of, "key", "total", 1_000);
    const request = await admitted(of, 500);
    await timed().store.deleteKey(of.key, undefined);
    await end(request, 500, 100);
    expect(await timed().client.exists(requestBucketKey(of.organizationId, of.key.keyId))).toBe(0);
  });
});
