import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { formatAlertEvent } from "../../src/management/alerts/alert-event.ts";
import { nextWaitMs, RETRY_SCHEDULE } from "../../src/management/alerts/retry-schedule.ts";
import { createWebhookSecret, signWebhook } from "../../src/management/alerts/signature.ts";
import { ALERT, messageOf } from "../unit/alerts/alert-fixture.ts";

const page = readFileSync(new URL("../../docs/alerts.md", import.meta.url), "utf8");
const dir = mkdtempSync(join(tmpdir(), "igw-docs-"));
afterAll(() => rmSync(dir, { recursive: true }));

function snippet(language: string, containing: string): string {
  const all = Array.from(page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm));
  const found = all.find(([, name, code]) => name === language && code?.includes(containing));
  if (found === undefined) throw new Error(`docs/alerts.md has no ${language} with ${containing}`);
  return found[2] ?? "";
}

const PAGES = "https://dashboard.example.com";
const secret = createWebhookSecret();
const former = createWebhookSecret();
const format = (message = messageOf()) =>
  JSON.stringify(formatAlertEvent({ message, organizationName: "Acme", pagesUrl: PAGES }));
const body = format(messageOf({ keyName: "naïve ✓" }));
const timestamp = Math.floor(Date.now() / 1000);
const headers = signWebhook([secret, former], { id: ALERT.id, timestamp, body });
const old = signWebhook([secret], { id: ALERT.id, timestamp: timestamp - 600, body });

const CASES = [
  { name: "what we send", secret, headers, body, expected: true },
  { name: "what we send while the secret is changed", secret: former, headers, body, expected: true },
  { name: "a changed body", secret, headers, body: body.replace("4507", "4508"), expected: false },
  { name: "another secret", secret: createWebhookSecret(), headers, body, expected: false },
  { name: "an old event", secret, headers: old, body, expected: false },
];

describe("docs/alerts.md", () => {
  it("shows the payload as it is sent", () => {
    const sent = JSON.parse(format()) as { readonly data: { readonly alerts: readonly object[] } };
    const shown = snippet("json", '"data"').replace("[…]", JSON.stringify(sent.data.alerts));
    expect(JSON.parse(shown)).toEqual(sent);
  });

  it.each(CASES)("in Node says $expected to $name", async (given) => {
    const file = join(dir, "verify.mjs");
    writeFileSync(file, snippet("js", "verifyWebhook"));
    const { verifyWebhook } = (await import(pathToFileURL(file).href)) as {
      verifyWebhook: (secret: string, headers: object, body: string) => boolean;
    };
    expect(verifyWebhook(given.secret, given.headers, given.body)).toBe(given.expected);
  });

  it.each(CASES)("in Python says $expected to $name", (given) => {
    const call = "import json, sys\ngiven = json.load(sys.stdin)\n";
    const print = 'print(verify_webhook(given["secret"], given["headers"], given["body"].encode()))\n';
    const output = execFileSync(
      "python3",
      ["-c", `${snippet("python", "verify_webhook")}\n${call}${print}`],
      {
        input: JSON.stringify(given),
        encoding: "utf8",
      },
    );
    expect(output.trim()).toBe(given.expected ? "True" : "False");
  });

  it("has the retry schedule that is in force", () => {
    const waits = Array.from({ length: 4 }, (_, index) =>
      nextWaitMs(RETRY_SCHEDULE, { failedAttempts: index + 1, ageMs: 0, retryAfterMs: 0, random: 0.5 }),
    ).map((wait) => (wait ?? 0) / 1000);
    expect(waits).toEqual([1, 2, 4, 8]);
    expect(page).toContain(
      "after 1 second, then after 2, 4, 8 and so on up to one hour; each interval varies by up to 20 %.",
    );
    expect(page).toContain("After three days the gateway stores the alert as failed");
    expect(RETRY_SCHEDULE).toMatchObject({
      maxWaitMs: 3_600_000,
      jitter: 0.2,
      giveUpAfterMs: 3 * 86_400_000,
    });
  });
});
