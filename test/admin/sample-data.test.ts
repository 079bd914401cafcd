/** The invented company of `up --sample-data`: every page has something to show, and its figures agree. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillSample, type FilledSample, type SampleInput } from "../../src/operation/demo/sample/fill.ts";
import { DAY_MS } from "../../src/shared/time/calendar.ts";
import { type AdminUnderTest, listAll, startAdmin, testCatalog } from "./admin-fixture.ts";

const KEYS = 12;
const PAST_DAYS = 36;

describe("sample data", () => {
  let admin: AdminUnderTest;
  let input: SampleInput;
  let filled: FilledSample;
  let base = "";
  beforeAll(async () => {
    admin = await startAdmin();
    input = {
      call: (...given) => admin.ok(...given),
      store: admin.store,
      catalog: testCatalog,
      currency: "USD",
      keys: KEYS,
    };
    const made = await fillSample(input);
    if (made === null) throw new Error("the organization existed");
    filled = made;
    base = `/api/organizations/${filled.id}`;
  }, 120_000);
  afterAll(() => admin.stop());

  it("lists each request of a month at its time, as many and as expensive as its usage counts for each key", async () => {
    const nowMs = await admin.store.timeMs();
    const days = Array.from({ length: PAST_DAYS }, (_, age) =>
      new Date(nowMs - age * DAY_MS).toISOString().slice(0, 10),
    );
    const listed = sumByKey(
      (await listRequests()).filter(({ refusal }) => refusal === "admitted" || refusal === null),
    );
    const counted = sumByKey(
      (await Promise.all(days.map((day) => admin.store.readUsageOfDay(filled.id, day))))
        .flat()
        .filter(({ model }) => model !== null),
    );
    expect(listed).toEqual(counted);
    expect(new Set(listed.keys())).toEqual(new Set(filled.keyIds));
    const [oldest] = (await listRequests()).slice(-1);
    expect(nowMs - (oldest?.recordedAtMs ?? nowMs)).toBeGreaterThan(30 * DAY_MS);
  });

  it("has limits that are reached, near and far, alerts, a rejection, an increase and a disabled key", async () => {
    const keys = await listAll(admin, `${base}/keys`, 100);
    expect(new Set(keys.map((key) => key["state"]))).toEqual(
      new Set(["active", "over_budget", "cap_reached", "disabled"]),
    );
    const alerts = await listAll(admin, `${base}/alerts`, 100);
    expect(alerts.map((alert) => alert["scope"])).toEqual(expect.arrayContaining(["key", "organization"]));
    const refusals = (await listRequests()).map(({ refusal }) => refusal);
    expect(refusals).toContain("key_cap_reached");
    const user = await admin.ok("GET", `${base}/users/${filled.userIds[0]}/limits`);
    expect(user["data"]).toContainEqual(expect.objectContaining({ raised_cents: expect.any(Number) }));
  });

  it("is not added twice", async () => {
    expect(await fillSample(input)).toBeNull();
  });

  async function listRequests() {
    const items = [];
    for (let after: string | null = null; ;) {
      const page = await admin.store.listRequests(filled.id, { limit: 1_000, after });
      items.push(...page.items);
      if (page.next === null) return items;
      after = page.next;
    }
  }
});

interface Counted {
  readonly keyId: string | null;
  readonly requests?: number;
  readonly costMicrocents: bigint;
  readonly outputTokens: number;
}

/** "requests, output tokens, cost" of each key. */
function sumByKey(rows: readonly Counted[]): ReadonlyMap<string | null, string> {
  const sums = new Map<string | null, { requests: number; outputTokens: number; cost: bigint }>();
  for (const { keyId, requests = 1, outputTokens, costMicrocents } of rows) {
    const sum = sums.get(keyId) ?? { requests: 0, outputTokens: 0, cost: 0n };
    sums.set(keyId, {
      requests: sum.requests + requests,
      outputTokens: sum.outputTokens + outputTokens,
      cost: sum.cost + costMicrocents,
    });
  }
  return new Map([...sums].map(([keyId, sum]) => [keyId, Object.values(sum).join(", ")]));
}
