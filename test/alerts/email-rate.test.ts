/** Emails of one organization: so many in an hour, and one for all that waited. */
import { describe, expect, it } from "vitest";
import type { Mail, Mailer } from "../../src/management/alerts/mailer.ts";
import { alertCourierKey, emailCountKey } from "../../src/data-path/store/redis/keys.ts";
import { addTestKey, createTestKey, type TestKey, withTestStore } from "../store/fixture.ts";
import { waitFor } from "../support/wait.ts";
import { CENT, listStates, spend, trackDeliveries, waitForStates } from "./delivery-fixture.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();
const { running, start } = trackDeliveries(
  () => test,
  () => ({ answer: null, received: [] }) as never,
);
const EMAILS = ["a@example.com", "b@other.example"];
const MAX_PER_HOUR = 2;
const emails = { maxPerHour: MAX_PER_HOUR, allowedDomains: ["example.com"] };

/** Takes what it is given, or fails as often as it is told to. */
function createRecorder() {
  const sent: Mail[] = [];
  const recorder = {
    sent,
    failures: 0,
    mailer: {
      async send(mail: Mail) {
        if (recorder.failures > 0) {
          recorder.failures -= 1;
          throw new Error("no connection");
        }
        sent.push(mail);
        return { accepted: mail.recipients, refused: [] };
      },
      verify: async () => undefined,
      close: () => undefined,
    } satisfies Mailer,
  };
  return recorder;
}

/** Fires an alert of a key of its own. */
async function fire({ organizationId }: TestKey, name: string): Promise<void> {
  const key = await addTestKey(test.store, organizationId, { name, limits: monthLimits({ budget: 1 }) });
  await spend(test, key, (85n * CENT) / 100n);
}

/** Waits until an alert waits for the hour's end, then ends the hour. */
async function endHour({ organizationId }: TestKey): Promise<void> {
  const courier = alertCourierKey(organizationId, "email");
  await waitFor("an alert to wait", async () => (await test.client.hget(courier, "next_at")) !== null);
  await test.client.del(emailCountKey(organizationId));
  await test.client.hdel(courier, "next_at");
  await Promise.all(running.splice(0).map((delivery) => delivery.stop()));
}

describe("emails of one organization", () => {
  it("are so many in an hour, then one that tells of all that waited, to allowed domains only", async () => {
    const { sent, mailer, ...recorder } = createRecorder();
    const notifications = { ...NO_WATCH, dashboard: true, emails: EMAILS, webhook: null, webhooks: [] };
    const key = await createTestKey(test.store, {}, { notifications });
    start({ mailer, emails });
    for (let alert = 0; alert < 40; alert += 1) await fire(key, `key-${alert}`);
    const waiting = Array.from({ length: 38 }, () => "pending" as const);
    const states = await waitForStates(test, key, "email", ["delivered", "delivered", ...waiting]);
    expect(sent).toHaveLength(MAX_PER_HOUR);
    expect(states[2]).toMatchObject({
      attempts: 0,
      lastError: expect.stringContaining("2 emails") as string,
    });

    await endHour(key);
    expect(sent).toHaveLength(MAX_PER_HOUR);
    const [, , third] = await listStates(test, key, "email");
    expect(third).toMatchObject({ attempts: 0, lastError: expect.stringContaining("2 emails") as string });
    start({ mailer, emails });
    await waitForStates(
      test,
      key,
      "email",
      Array.from({ length: 40 }, () => "delivered" as const),
    );
    expect(sent).toHaveLength(MAX_PER_HOUR + 1);
    const digest = sent.at(-1);
    expect(digest?.subject).toContain("(and 37 more alerts)");
    for (const name of ["key-2", "key-3", "key-39"]) expect(digest?.text).toContain(`API key "${name}"`);
    expect(new Set(sent.flatMap(({ recipients }) => recipients))).toEqual(new Set(["a@example.com"]));
    expect(recorder.failures).toBe(0);

    // The hour has room for one more.
    await fire(key, "the-next");
    await waitForStates(
      test,
      key,
      "email",
      Array.from({ length: 41 }, () => "delivered" as const),
    );
    expect(sent).toHaveLength(MAX_PER_HOUR + 2);
  });

  it("count once however often the mail server fails, and tell of the same alerts then", async () => {
    const recorder = createRecorder();
    const notifications = {
      ...NO_WATCH,
      dashboard: true,
      emails: ["a@example.com"],
      webhook: null,
      webhooks: [],
    };
    const key = await createTestKey(test.store, {}, { notifications });
    start({ mailer: recorder.mailer, emails });
    for (let alert = 0; alert < 4; alert += 1) await fire(key, `key-${alert}`);
    await waitForStates(test, key, "email", ["delivered", "delivered", "pending", "pending"]);
    await endHour(key);
    recorder.failures = 3;
    start({ mailer: recorder.mailer, emails });
    await waitForStates(test, key, "email", ["delivered", "delivered", "delivered", "delivered"]);
    expect(recorder.sent.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('"key-0"'),
      expect.stringContaining('"key-1"'),
      expect.stringContaining("(and 1 more alert)"),
    ]);
    expect(await test.client.get(emailCountKey(key.organizationId))).toBe("1");
  });
});
