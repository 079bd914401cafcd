import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { callCli } from "./call-cli.ts";

const DASHBOARD = "https://gateway.example.com";

let admin: AdminUnderTest;
let receiver: WebhookReceiver;
let organization: string;
let key: string;
beforeAll(async () => {
  admin = await startAdmin({ allowPrivateWebhooks: true, dashboardUrl: DASHBOARD });
  receiver = await startWebhookReceiver();
  organization = await createOrganization(admin, { notifications: { webhook: { url: receiver.url } } });
  const { id } = await createApiKey(admin, organization, { name: "ci", hard_cap_cents: 100 });
  const identity = await createIdentity(admin.store, { organizationId: organization, keyId: id, hash: "" });
  await admin.store.charge(chargeInput(identity, 1, 95_000_000n, { final: FINAL }));
  key = id;
});
afterAll(async () => {
  await receiver.close();
  await admin.stop();
});

const igw = (...args: string[]) =>
  callCli(["alerts", ...args], { env: { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: OPERATOR_TOKEN } });

describe("alerts", () => {
  it("lists what was reached and how each delivery stands", async () => {
    const { code, stdout } = await igw("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^alert_\S+ +\S+Z +API key "ci" +90% of the monthly hard cap, 1\.00 USD +0\.95 USD +pending +pending$/m,
    );
    const path = `/organizations/${organization}/keys/${key}#limits`;
    expect(stdout).toMatch(
      new RegExp(`\n\nChange the monthly hard cap of API key "ci": ${DASHBOARD}${path}\n$`),
    );
    const { data } = (await igw("list", "--json")).json();
    expect(data).toMatchObject([{ key_name: "ci", threshold_percent: 90, path, url: `${DASHBOARD}${path}` }]);
  });

  it("sends one again, on a channel that there is", async () => {
    const [alert] = (await igw("list", "--json")).json()["data"] as { id: string }[];
    expect((await igw("redeliver", alert!.id)).stdout).toContain("Sending the alert again.");
    expect((await igw("redeliver", `alert_…${alert!.id.slice(-8)}`)).stdout).toContain(
      "Sending the alert again.",
    );
    const refused = await igw("redeliver", alert!.id, "--channel", "email");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("has no email in its `notifications`"),
    ]);
    expect((await igw("redeliver", "alert_x")).stderr).toContain("Unknown alert");
  });

  it("tests the webhook: exit code 0 when it arrived, 1 with the reason when not", async () => {
    const { code, stdout } = await igw("test");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^The endpoint returned 204 \(\d+ ms\)\.\n$/)]);
    receiver.answer = () => 500;
    const failed = await igw("test");
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("the endpoint returned 500")]);
  });

  it("shows what was reached in one step in one line, and each limit's page at the operator's address", async () => {
    const other = await createOrganization(admin, { name: "Several" });
    const made = await createApiKey(admin, other, { name: "both", hard_cap_cents: 100, budget_cents: 100 });
    const identity = await createIdentity(admin.store, { organizationId: other, keyId: made.id, hash: "" });
    await admin.store.charge(chargeInput(identity, 1, 100_000_000n, { final: FINAL }));
    const { stdout } = await igw("list", "--org", other);
    const page = `${DASHBOARD}/organizations/${other}/keys/${made.id}`;
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(6);
    expect(stdout).toMatch(/API key "both" +90%, 100% of the monthly hard cap, 1\.00 USD/);
    expect(stdout).toMatch(/API key "both" +80%, 100% of the monthly budget, 1\.00 USD/);
    expect(lines.slice(4)).toEqual([
      `Change the monthly hard cap of API key "both": ${page}#limits`,
      `Change the monthly budget of API key "both": ${page}#limits`,
    ]);
  });
});
