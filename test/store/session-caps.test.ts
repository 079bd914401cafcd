/** Caps of sessions: which request is refused, what a session has spent, and when it is forgotten. */
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/shared/time/calendar.ts";
import { liveSessionsKey, requestKey, sessionSpendKey } from "../../src/data-path/store/redis/keys.ts";
import type { BilledRequest, OpenRecordInput } from "../../src/shared/stored/settlement.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import {
  admitKnown,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();
const CENT = 1_000_000n;
const NAME = "run 1";

type SessionRequest = BilledRequest & { readonly session: string };

async function identify(key: TestKey, session = NAME, { store } = test): Promise<SessionRequest> {
  return { ...(await createIdentity(store, key)), session, isSessionCapped: true };
}

async function open(key: TestKey, changes: Partial<OpenRecordInput> = {}, on = test) {
  const identity = await identify(key, changes.session, on);
  return { identity, opened: await on.store.openRecord(openRecordInput(identity, changes)) };
}

async function spend(key: TestKey, cents: bigint, changes: Partial<OpenRecordInput> = {}, on = test) {
  const { identity, opened } = await open(key, changes, on);
  expect(opened.outcome).toBe("opened");
  await on.store.charge(chargeInput(identity, 1, cents * CENT, { final: FINAL }));
  return identity;
}

/** What Redis has of a session. */
async function readSession({ organizationId, keyId }: TestKey, name = NAME, { client } = test) {
  const sha1 = createHash("sha1").update(name).digest("hex");
  const [spent, held] = await client.hmget(sessionSpendKey(organizationId, keyId, sha1), "spent", "held");
  return { spent: BigInt(spent ?? "0"), held: BigInt(held ?? "0") };
}

describe("the cap of a session", () => {
  it.each([
    { of: "its key", key: { sessionCapCents: 10 }, organization: {}, cents: 10 },
    { of: "its organization", key: {}, organization: { sessionCapCents: 8 }, cents: 8 },
    {
      of: "both, the smaller one",
      key: { sessionCapCents: 10 },
      organization: { sessionCapCents: 8 },
      cents: 8,
    },
    {
      of: "both, the smaller one",
      key: { sessionCapCents: 7 },
      organization: { sessionCapCents: 8 },
      cents: 7,
    },
  ])("of $of refuses what comes once it is spent, and no other session", async (row) => {
    const key = await createTestKey(test.store, row.key, row.organization);
    expect(await admitKnown(test.store, key)).toMatchObject({ isEntered: true, areSessionsCapped: true });
    await spend(key, BigInt(row.cents) - 1n);
    await spend(key, 1n);
    expect((await open(key)).opened).toEqual({
      outcome: "session_cap_reached",
      figures: { spentMicrocents: BigInt(row.cents) * CENT, heldMicrocents: 0n, capCents: row.cents },
    });
    expect((await open(key, { session: "run 2" })).opened.outcome).toBe("opened");
    const unnamed = await createIdentity(test.store, key);
    expect((await test.store.openRecord(openRecordInput(unnamed))).outcome).toBe("opened");
  });

  it("is each key's own", async () => {
    const one = await createTestKey(test.store, { sessionCapCents: 1 });
    const other = await createTestKey(test.store, { sessionCapCents: 1 });
    await spend(one, 1n);
    expect((await open(one)).opened.outcome).toBe("session_cap_reached");
    expect((await open(other)).opened.outcome).toBe("opened");
  });

  it("is lowered by its client from then on, and never raised", async () => {
    const key = await createTestKey(test.store, { sessionCapCents: 10 });
    await spend(key, 3n, { sessionBudgetCents: 500 });
    await spend(key, 2n, { sessionBudgetCents: 6 });
    await spend(key, 1n, { sessionBudgetCents: 9 });
    const { opened } = await open(key);
    expect(opened).toMatchObject({ outcome: "session_cap_reached", figures: { capCents: 6 } });
  });

  it("is set by its client alone where there is none, for this session", async () => {
    const key = await createTestKey(test.store);
    expect(await admitKnown(test.store, key)).toMatchObject({ areSessionsCapped: false });
    await spend(key, 5n);
    expect(await readSession(key)).toEqual({ spent: 0n, held: 0n });
    await spend(key, 4n, { sessionBudgetCents: 4 });
    expect(await admitKnown(test.store, key)).toMatchObject({ areSessionsCapped: true });
    expect((await open(key)).opened).toMatchObject({
      outcome: "session_cap_reached",
      figures: { spentMicrocents: 4n * CENT, capCents: 4 },
    });
    expect((await open(key, { session: "run 2" })).opened.outcome).toBe("opened");
  });

  it("is named before a total that is reached as well, and before a month's", async () => {
    const limits = [...monthLimits({ cap: 5 }), { period: "total", kind: "cap", cents: 5 } as const];
    const key = await createTestKey(test.store, { sessionCapCents: 5, limits });
    await spend(key, 5n);
    expect((await open(key)).opened.outcome).toBe("session_cap_reached");
    expect((await open(key, { session: "run 2" })).opened).toMatchObject({
      outcome: "key_cap_reached",
      figures: { period: "total" },
    });
  });

  it("counts a record once, however often it is repeated", async () => {
    const key = await createTestKey(test.store, { sessionCapCents: 5 }, { strictCaps: true });
    const identity = await identify(key);
    const input = openRecordInput(identity, { worstCaseMicrocents: 3n * CENT });
    expect([await test.store.openRecord(input), await test.store.openRecord(input)]).toMatchObject([
      { outcome: "opened" },
      { outcome: "exists" },
    ]);
    expect(await readSession(key)).toEqual({ spent: 0n, held: 3n * CENT });
  });
});

describe("the cap of a session with strict caps", () => {
  it("holds exactly what fits, however many come at once, and lets in what is given back", async () => {
    const key = await createTestKey(test.store, { sessionCapCents: 10 }, { strictCaps: true });
    const many = await Promise.all(
      Array.from({ length: 40 }, () => open(key, { worstCaseMicrocents: (3n * CENT) / 2n })),
    );
    const opened = many.filter((each) => each.opened.outcome === "opened");
    expect(opened.length).toBe(6);
    expect(await readSession(key)).toEqual({ spent: 0n, held: 9n * CENT });
    const [first] = opened;
    await test.store.charge(chargeInput(first!.identity, 1, CENT / 2n, { final: FINAL }));
    expect(await readSession(key)).toEqual({ spent: CENT / 2n, held: (15n * CENT) / 2n });
    expect((await open(key, { worstCaseMicrocents: 2n * CENT + 1n })).opened).toEqual({
      outcome: "session_cap_reached",
      figures: { spentMicrocents: CENT / 2n, heldMicrocents: (15n * CENT) / 2n, capCents: 10 },
    });
    expect((await open(key, { worstCaseMicrocents: 2n * CENT })).opened.outcome).toBe("opened");
  });

  it("is named where it leaves less room than the others", async () => {
    const key = await createTestKey(
      test.store,
      { sessionCapCents: 10, limits: monthLimits({ cap: 12 }) },
      { strictCaps: true },
    );
    await spend(key, 5n, { worstCaseMicrocents: 5n * CENT, session: "run 2" });
    await spend(key, 2n, { worstCaseMicrocents: 2n * CENT });
    expect((await open(key, { worstCaseMicrocents: 9n * CENT })).opened.outcome).toBe("key_cap_reached");
    const other = { worstCaseMicrocents: 9n * CENT, session: "run 2", sessionBudgetCents: 6 };
    expect((await open(key, other)).opened.outcome).toBe("session_cap_reached");
  });
});

describe("a request whose record is lost", () => {
  it("counts in its session with its charge, where a cap may hold", async () => {
    const key = await createTestKey(test.store, { sessionCapCents: 5 });
    const { identity } = await open(key);
    await test.client.del(requestKey(key.organizationId, identity.requestId));
    await test.store.charge(chargeInput(identity, 1, 3n * CENT));
    await test.store.charge(chargeInput(identity, 2, 4n * CENT, { final: FINAL }));
    expect((await readSession(key)).spent).toBe(4n * CENT);
  });
});

describe("a request that never had a record, since Redis was away", () => {
  it("begins its session with its charge", async () => {
    const key = await createTestKey(test.store, { sessionCapCents: 5 });
    const identity = await identify(key);
    await test.store.charge(chargeInput(identity, 1, 3n * CENT));
    await test.store.charge(chargeInput(identity, 2, 5n * CENT, { final: FINAL }));
    expect((await readSession(key)).spent).toBe(5n * CENT);
    expect((await open(key)).opened.outcome).toBe("session_cap_reached");
    const live = liveSessionsKey(key.organizationId, key.keyId);
    expect(await test.client.zcard(live)).toBe(1);
    expect(await test.client.pttl(live)).toBeGreaterThan(0);
  });

  it("begins none where its client's budget, which nobody kept, was its only cap", async () => {
    const key = await createTestKey(test.store);
    await test.store.charge(chargeInput(await identify(key), 1, CENT, { final: FINAL }));
    expect((await open(key, { sessionBudgetCents: 1 })).opened.outcome).toBe("opened");
  });
});

describe("10,000 sessions of a key", () => {
  it("have a cap, and the next ones have none and are counted, until the others are a day old", async () => {
    const key = await createTestKey(test.store, { sessionCapCents: 1 });
    const live = liveSessionsKey(key.organizationId, key.keyId);
    const nowMs = await test.store.timeMs();
    await test.client.zadd(
      live,
      ...Array.from({ length: 9_900 }, (_, n) => [String(nowMs), `other ${n}`]).flat(),
    );
    await Promise.all(Array.from({ length: 100 }, (_, n) => open(key, { session: `s${n}` })));
    const before = test.store.uncappedSessions();
    await spend(key, 1n, { session: "one more" });
    await spend(key, 1n, { session: "one more" });
    expect(test.store.uncappedSessions() - before).toBe(2);
    expect(await readSession(key, "one more")).toEqual({ spent: 0n, held: 0n });
    await spend(key, 1n, { session: "s17" });
    expect((await open(key, { session: "s17" })).opened.outcome).toBe("session_cap_reached");
    expect(await test.client.zcard(live)).toBe(10_000);
    const old = (await test.store.timeMs()) - DAY_MS;
    const oldest = await test.client.zrange(live, "0", "9000");
    await test.client.zadd(live, ...oldest.flatMap((name) => [String(old), name]));
    await spend(key, 1n, { session: "another" });
    expect((await open(key, { session: "another" })).opened.outcome).toBe("session_cap_reached");
    expect(await test.client.zcard(live)).toBe(1_000);
  });
});

describe.skipIf(!canSetClock)("a session (sets Redis's clock: takes Linux and cc)", () => {
  const START = microseconds("2026-05-05T05:05:05Z");
  let now = START;
  let timed: TimedStore;
  beforeAll(async () => {
    timed = await openTimedStore(START);
  });
  afterAll(() => timed.stop());

  function advance(milliseconds: number): void {
    now += BigInt(milliseconds) * 1000n;
    timed.clock.set(now);
  }

  async function closeOverdue({ organizationId }: TestKey): Promise<void> {
    const overdue = await timed.store.listOverdue(organizationId, 100);
    await Promise.all(overdue.map((request) => timed.store.close(request)));
  }

  it("is forgotten a day after its last use, a refusal too", async () => {
    const key = await createTestKey(timed.store, { sessionCapCents: 2 });
    await spend(key, 2n, {}, timed);
    advance(DAY_MS - 1);
    expect((await open(key, {}, timed)).opened.outcome).toBe("session_cap_reached");
    advance(DAY_MS - 1);
    expect((await open(key, {}, timed)).opened.outcome).toBe("session_cap_reached");
    advance(DAY_MS + 1);
    await spend(key, 1n, {}, timed);
    expect((await readSession(key, NAME, timed)).spent).toBe(CENT);
  });

  it("with a client's budget alone keeps its key's sessions watched for as long, and no longer", async () => {
    const key = await createTestKey(timed.store);
    await spend(key, 1n, { sessionBudgetCents: 1 }, timed);
    advance(DAY_MS - 1);
    expect(await admitKnown(timed.store, key)).toMatchObject({ areSessionsCapped: true });
    expect((await open(key, {}, timed)).opened.outcome).toBe("session_cap_reached");
    advance(DAY_MS - 1);
    expect(await admitKnown(timed.store, key)).toMatchObject({ areSessionsCapped: true });
    advance(DAY_MS);
    expect(await admitKnown(timed.store, key)).toMatchObject({ areSessionsCapped: false });
  });

  it("does not count what a session of its name that was forgotten is charged late", async () => {
    const key = await createTestKey(timed.store, { sessionCapCents: 9 }, { strictCaps: true });
    const { identity } = await open(key, { worstCaseMicrocents: 5n * CENT }, timed);
    advance(DAY_MS + 1);
    await spend(key, 1n, { worstCaseMicrocents: CENT }, timed);
    await timed.store.charge(chargeInput(identity, 1, 3n * CENT, { final: FINAL }));
    expect(await readSession(key, NAME, timed)).toEqual({ spent: CENT, held: 0n });
  });

  it("tells of a request that another has closed which it was of", async () => {
    const key = await createTestKey(timed.store, { sessionCapCents: 9 });
    await open(key, { floorMicrocents: CENT }, timed);
    advance(31_000);
    await closeOverdue(key);
    const { items } = await timed.store.listRequests(key.organizationId, { limit: 5, after: null });
    expect(items).toMatchObject([{ session: NAME, owners: "", costMicrocents: CENT }]);
    expect((await readSession(key, NAME, timed)).spent).toBe(CENT);
  });

  const plan = fc.array(
    fc.record({
      request: fc.nat(5),
      step: fc.constantFrom("open", "charge", "late", "final", "renew", "reap", "pause"),
      cents: fc.nat(8),
    }),
    { minLength: 5, maxLength: 40 },
  );

  it("has spent and holds what its requests' records say, after any steps of theirs", async () => {
    await fc.assert(
      fc.asyncProperty(plan, fc.boolean(), async (steps, strictCaps) => {
        const key = await createTestKey(timed.store, { sessionCapCents: 20 }, { strictCaps });
        const names = ["a", "b"];
        const requests = await Promise.all(
          Array.from({ length: 6 }, (_, n) => identify(key, names[n % 2], timed)),
        );
        const running = new Set<number>();
        for (const [sequence, { request, step, cents }] of steps.entries()) {
          const identity = requests[request]!;
          const amount = BigInt(cents) * CENT;
          if (step === "open") {
            const { outcome } = await timed.store.openRecord(
              openRecordInput(identity, { worstCaseMicrocents: 8n * CENT, floorMicrocents: CENT }),
            );
            if (outcome === "opened") running.add(request);
          } else if (step === "pause") advance(20_000);
          else if (step === "reap") {
            advance(31_000);
            await closeOverdue(key);
          } else if (!running.has(request)) continue;
          else if (step === "renew") await timed.store.renew(key.organizationId, [identity]);
          else {
            const at = step === "late" ? 0 : sequence + 1;
            const final = step === "final" ? FINAL : null;
            const estimate = {
              totalMicrocents: amount,
              tokens: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 },
            };
            const charge = chargeInput(identity, at, amount, {
              final,
              estimate: final === null ? estimate : null,
            });
            await timed.store.charge(charge);
          }
        }
        for (const name of names) {
          const of = requests.filter(({ session }) => session === name);
          const figures = await Promise.all(
            of.map(({ requestId }) =>
              timed.client.hmget(requestKey(key.organizationId, requestId), "microcents", "left"),
            ),
          );
          const sum = (at: number) => figures.reduce((total, each) => total + BigInt(each[at] ?? "0"), 0n);
          expect(await readSession(key, name, timed)).toEqual({ spent: sum(0), held: sum(1) });
        }
      }),
      { numRuns: 25 },
    );
  });
});
