/** The commands of finance: spend of all organizations, the statement of a month, and a test email. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailer } from "../../src/management/alerts/mailer.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  NO_EMAILS_SENT,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { callCli } from "./call-cli.ts";

let mails: MailServer;
let admin: AdminUnderTest;
let id = "";
beforeAll(async () => {
  mails = await startMailServer();
  const from = "Gateway <gateway@example.org>";
  const mailer = createMailer({ url: mails.url, from, username: null, password: null });
  admin = await startAdmin({ email: { ...NO_EMAILS_SENT, mailer } });
  id = await createOrganization(admin, { name: "Acme", notifications: { emails: ["ops@example.com"] } });
  const { id: keyId } = await createApiKey(admin, id, { name: "ci" });
  const identity = await createIdentity(admin.store, { organizationId: id, keyId, hash: "" });
  // A hundred cents and a half.
  await admin.store.charge(chargeInput(identity, 1, 100_500_000n, { final: FINAL }));
});
afterAll(async () => {
  await admin.stop();
  await mails.close();
});

const igw = (...args: string[]) =>
  callCli(args, { env: { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: OPERATOR_TOKEN } });

describe("org spend", () => {
  it("prints a table, and the same as CSV", async () => {
    const { code, stdout } = await igw("org", "spend");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Acme +1\.01 USD +1 +0 of 1/);
    const csv = await igw("org", "spend", "--csv", "--sort", "name");
    expect(parseCsv(csv.stdout).rows).toMatchObject([{ organization_name: "Acme", spent: "1.00500000" }]);
  });
});

describe("usage statement", () => {
  it("prints what was spent on what, and the sums", async () => {
    const { code, stdout } = await igw("usage", "statement", "--org", id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^API KEY +REQUESTS +AMOUNT \(USD\)\nci +1 +1\.01$/m);
    expect(stdout).toMatch(/^Total of \d{4}-\d{2}: 1\.01 USD$/m);
  });
});

describe("alerts test --email", () => {
  it("prints the result", async () => {
    const args = ["alerts", "test", "--email", "--org", id];
    const { code, stdout } = await igw(...args);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^The mail server accepted the email \(\d+ ms\)\.$/m),
    ]);
    mails.refuseRecipient = () => 550;
    const failed = await igw(...args);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("ops@example.com: 550")]);
  });
});
