/** Test emails of an organization, through a real mail server. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createMailer } from "../../src/management/alerts/mailer.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import {
  type AdminUnderTest,
  createOrganization,
  createToken,
  NO_EMAILS_SENT,
  startAdmin,
} from "./admin-fixture.ts";

const EMAILS = ["ops@example.com", "finance@example.com"];
const MAX_PER_HOUR = 3;

let server: MailServer;
let admin: AdminUnderTest;
beforeAll(async () => {
  server = await startMailServer();
  const from = "Gateway <gateway@example.org>";
  const mailer = createMailer({ url: server.url, from, username: null, password: null });
  admin = await startAdmin({
    email: { mailer, maxPerHour: MAX_PER_HOUR, allowedDomains: ["example.com"] },
    dashboardUrl: "https://gateway.example.com",
  });
});
afterEach(() => {
  server.received.length = 0;
  server.refuseRecipient = () => null;
});
afterAll(async () => {
  await admin.stop();
  await server.close();
});

async function createPath(emails: readonly string[]): Promise<string> {
  return `/api/organizations/${await createOrganization(admin, { notifications: { emails } })}`;
}

describe("POST …/email/test", () => {
  it("sends one email to every address, and says where addresses are removed", async () => {
    const path = await createPath(EMAILS);
    expect(await admin.ok("POST", `${path}/email/test`)).toEqual({
      delivered: true,
      recipients: EMAILS,
      error: null,
      duration_ms: expect.any(Number),
    });
    expect(server.received.map(({ recipients }) => recipients)).toEqual([EMAILS]);
    const { subject, text } = server.received[0]!.mail;
    expect(subject).toMatch(/^\[.+\] Test of alert emails$/);
    expect(text).toContain("No limit was reached.");
    expect(text).toContain(`https://gateway.example.com${path.replace("/api", "")}/settings`);
  });

  it("names the address that the mail server rejects, with its reason", async () => {
    const path = await createPath(EMAILS);
    server.refuseRecipient = (address) => (address === EMAILS[1] ? 550 : null);
    const result = await admin.ok("POST", `${path}/email/test`);
    expect(result).toMatchObject({
      delivered: false,
      error: expect.stringMatching(/^finance@example\.com: 550 /),
    });
    expect(server.received.map(({ recipients }) => recipients)).toEqual([[EMAILS[0]]]);
  });

  it("counts in the organization's emails of this hour", async () => {
    const path = await createPath(EMAILS);
    for (let count = 0; count < MAX_PER_HOUR; count += 1) await admin.ok("POST", `${path}/email/test`);
    const refused = await admin.call("POST", `${path}/email/test`);
    expect([refused.status, Number(refused.headers["retry-after"]) > 0]).toEqual([429, true]);
    expect(refused.json()).toMatchObject({ error: { code: "too_many_emails" } });
    expect(server.received).toHaveLength(MAX_PER_HOUR);
  });

  it("asks for an address, or for a mail server", async () => {
    const none = await createPath([]);
    expect(await admin.refused("POST", `${none}/email/test`)).toMatchObject({ code: "email_not_set" });
    const without = await startAdmin({ email: { ...NO_EMAILS_SENT, mailer: null } });
    try {
      const id = await createOrganization(without);
      await without.store.changeOrganization(
        id,
        { notifications: { ...NO_WATCH, dashboard: true, emails: EMAILS, webhook: null, webhooks: [] } },
        null,
      );
      const { message } = await without.refused("POST", `/api/organizations/${id}/email/test`);
      expect(message).toContain("notifications.smtp");
    } finally {
      await without.stop();
    }
  });

  it("is not for a viewer", async () => {
    const path = await createPath(EMAILS);
    const token = await createToken(admin, path.split("/")[3] ?? "", "viewer");
    expect(await admin.refused("POST", `${path}/email/test`, { token })).toMatchObject({ status: 403 });
    expect(server.received).toHaveLength(0);
  });
});
