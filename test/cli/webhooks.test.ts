import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { callCli } from "./call-cli.ts";

let admin: AdminUnderTest;
let receiver: WebhookReceiver;
beforeAll(async () => {
  admin = await startAdmin({ allowPrivateWebhooks: true });
  receiver = await startWebhookReceiver();
  await createOrganization(admin, { notifications: { webhook: { url: receiver.url } } });
});
afterAll(async () => {
  await receiver.close();
  await admin.stop();
});

const igw = (...args: string[]) =>
  callCli(["webhook", ...args], { env: { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: OPERATOR_TOKEN } });
const idIn = (stdout: string) => /webhook_[0-9a-f-]{36}/.exec(stdout)?.[0] ?? "";

describe("webhook", () => {
  it("adds, shows, changes, tests and removes them; the end of what is secret is shown alone", async () => {
    const slack = await igw(
      "add",
      "--format",
      "slack",
      "--url",
      `${receiver.url}/s3cret`,
      "--alerts",
      "hard_cap_reached",
    );
    const id = idIn(slack.stdout);
    expect(slack.stdout).toBe(`Added ${id}.\n`);
    const signed = await igw("add", "--url", receiver.url);
    expect(signed.stdout).toMatch(/It is shown only once:\n\n {2}whsec_/);
    const listed = (await igw("list")).stdout;
    expect(listed).toMatch(/^webhook +standard +http:\S+ +all +active$/m);
    expect(listed).toMatch(
      new RegExp(`^${id} +slack +http://127\\.0\\.0\\.1:\\d+/…cret +hard_cap_reached +active$`, "m"),
    );
    expect(listed).not.toContain("s3cret");
    expect((await igw("set", id, "--alerts", "budget_near,hard_cap_reached")).stdout).toBe(
      `Changed ${id}.\n`,
    );
    expect((await igw("list")).stdout).toContain("budget_near, hard_cap_reached");
    expect((await igw("test", id)).stdout).toMatch(/^The endpoint returned 204/);
    expect(receiver.received.at(-1)?.path).toBe("/hook/s3cret");
    const asked = await igw("remove", id);
    expect([asked.code, asked.stderr]).toEqual([expect.any(Number), expect.stringContaining("--yes")]);
    expect((await igw("remove", id, "--yes")).stdout).toBe(`Removed the webhook ${id}.\n`);
    const left = JSON.parse((await igw("list", "--json")).stdout) as { data: { id: string }[] };
    expect(left.data.map((one) => one.id)).toEqual(["webhook", idIn(signed.stdout)]);
  });

  it("makes a new secret of the first one, and says which there are when one is not", async () => {
    expect((await igw("rotate-secret", "webhook")).stdout).toContain("whsec_");
    const refused = await igw("test", "webhook_x");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("webhook list")]);
  });
});
