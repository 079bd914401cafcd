import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textCompletion } from "../support/scripted-answer.ts";
import { chatBody, CHAT_PATH } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { addTestKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { GOLD_MODEL } from "./metering-figures.ts";
import { canSetClock, CLOCK_NEEDS, withTimedStack } from "./timed-stack.ts";
import { monthLimits } from "../support/month-limits.ts";

const WORKERS = byExtent({ push: 2, nightly: 4 });
/** On each push the bursts that are small. */
const RATES = [
  { requestsPerMinute: 60, capacity: 10, milliseconds: 1_000 },
  { requestsPerMinute: 600, capacity: 60, milliseconds: 100 },
  { requestsPerMinute: 6_000, capacity: 600, milliseconds: 10 },
].slice(0, byExtent({ push: 2, nightly: 3 }));
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
afterAll(() => agent.destroy());

describe.skipIf(!canSetClock)(`while Redis's clock stands still${CLOCK_NEEDS}`, () => {
  const timed = withTimedStack("2026-11-21T12:00:00.000Z", WORKERS);

  beforeAll(async () => {
    // The first admissions of a worker are slow, and one that takes 250 ms is answered 503.
    const { key } = await timed.stack.createKey();
    await waitFor("workers that are warm", async () => (await burst(key, 64).catch(() => 0)) === 64);
  }, 60_000);

  /** How many of so many requests at once were let through; every other one is a 429. */
  async function burst(key: string, count: number): Promise<number> {
    const send = () => timed.stack.send({ path: "/v1/models", key, agent });
    const statuses = (await Promise.all(Array.from({ length: count }, send))).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    return statuses.filter((status) => status === 200).length;
  }

  it.each(RATES)(
    "a key of $requestsPerMinute rpm has a burst of exactly $capacity over all workers, and one more after $milliseconds ms",
    async ({ requestsPerMinute, capacity, milliseconds }) => {
      const start = Date.parse("2026-11-21T13:00:00.000Z");
      const setClock = (passedMs: number): void => timed.setClock(new Date(start + passedMs).toISOString());
      setClock(0);
      const { key } = await timed.stack.createKey({ requestsPerMinute });
      expect(await burst(key, capacity + 20)).toBe(capacity);
      setClock(milliseconds - 1);
      expect(await burst(key, 5)).toBe(0);
      setClock(milliseconds);
      expect(await burst(key, 5)).toBe(1);
      setClock(milliseconds + 60_000);
      expect(await burst(key, capacity + 20)).toBe(capacity);
    },
  );

  it("two keys of one organization have a bucket each", async () => {
    const first = await timed.stack.createKey({ requestsPerMinute: 60 });
    const second = await addTestKey(await timed.stack.store(), first.organizationId, {
      requestsPerMinute: 60,
    });
    expect(await burst(first.key, 15)).toBe(10);
    expect(await burst(second.key, 15)).toBe(10);
    expect(await burst(first.key, 5)).toBe(0);
  });

  it("an organization's own amounts have alerts of their own, over what all of its keys spend", async () => {
    timed.upstream.answer({
      kind: "json",
      // Twenty cents at GOLD_MODEL.
      body: textCompletion("x", { promptTokens: 10, cachedTokens: 0, completionTokens: 5 }),
    });
    const organization = { limits: monthLimits({ cap: 80, budget: 50 }) };
    const first = await timed.stack.createKey({ limits: monthLimits({ budget: 1_000 }) }, organization);
    const second = await addTestKey(await timed.stack.store(), first.organizationId);
    const send = async ({ key }: { readonly key: string }): Promise<number> =>
      (await timed.stack.send({ path: CHAT_PATH, key, body: chatBody({ model: GOLD_MODEL }) })).status;
    const listAlerts = async (): Promise<unknown[]> => {
      const { data } = await timed.stack.admin("GET", `/api/organizations/${first.organizationId}/alerts`);
      return (data as Record<string, unknown>[])
        .toReversed()
        .map(({ scope, type, threshold_percent }) => [scope, type, threshold_percent].join(" "));
    };
    const waitForAlerts = async (expected: readonly string[]): Promise<void> => {
      await waitFor(`${expected.length} alerts`, async () => (await listAlerts()).length >= expected.length);
      expect(await listAlerts()).toEqual(expected);
    };

    expect(await send(first)).toBe(200);
    expect(await listAlerts()).toEqual([]);
    // 40 of 50 cents.
    expect(await send(second)).toBe(200);
    const eighty = "organization budget.threshold_reached 80";
    await waitForAlerts([eighty]);
    expect(await send(first)).toBe(200);
    const hundred = "organization budget.threshold_reached 100";
    await waitForAlerts([eighty, hundred]);
    // 80 of 80 cents: both thresholds of the cap with one charge.
    expect(await send(second)).toBe(200);
    await waitForAlerts([
      eighty,
      hundred,
      "organization hard_cap.threshold_reached 90",
      "organization hard_cap.threshold_reached 100",
    ]);
    expect([await send(first), await send(second)]).toEqual([402, 402]);
  });
});
