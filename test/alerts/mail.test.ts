import { afterEach, describe, expect, it } from "vitest";
import { EmailChannel } from "../../src/management/alerts/email-channel.ts";
import {
  createMailer,
  type Mailer,
  type MailerOptions,
  type SmtpSettings,
} from "../../src/management/alerts/mailer.ts";
import { Secret } from "../../src/shared/config/secret.ts";
import type { OrganizationRecord } from "../../src/shared/stored/management.ts";
import { ORGANIZATION } from "../store/fixture.ts";
import { type MailServer, type MailServerOptions, startMailServer } from "../support/mail-server.ts";
import { createTestAuthority } from "../support/tls.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import { ALERT, messageOf } from "../unit/alerts/alert-fixture.ts";

const EMAILS = ["a@example.com", "b@example.com"];
const QUEUED = { channel: "email", queuedAtMs: 0, entryId: "1-0" } as const;
const UNBOUNDED = {
  readDetails: async () => [],
  store: { takeEmail: async () => 0, listQueued: async () => [] },
  maxPerHour: 1,
  allowedDomains: null,
};
const NO_LOGIN = { username: null, password: null };
const LOGIN = {
  username: "gateway",
  password: new Secret({ env: "PASSWORD" }, { baseDir: "/", env: { PASSWORD: "s3cret" } }),
};
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((thing) => thing.close()));
});

async function startServer(options?: MailServerOptions): Promise<MailServer> {
  const server = await startMailServer(options);
  open.push(server);
  return server;
}

function createChannel(
  settings: Partial<SmtpSettings> & { url: string },
  options?: MailerOptions,
): EmailChannel {
  const mailer: Mailer = createMailer(
    { from: "Gateway <gateway@example.org>", ...NO_LOGIN, ...settings },
    options,
  );
  open.unshift(mailer);
  return new EmailChannel({
    ...UNBOUNDED,
    mailer,
    pagesUrl: "https://gateway.example.org",
    logger: { warn: () => undefined },
  });
}

function attempt(channel: EmailChannel, progress = "", changes: Partial<OrganizationRecord> = {}) {
  const notifications = { ...NO_WATCH, dashboard: true, emails: EMAILS, webhook: null, webhooks: [] };
  const organization = {
    ...ORGANIZATION,
    id: ALERT.organizationId,
    createdAtMs: 0,
    deletedAtMs: null,
    version: 1,
    notifications,
    ...changes,
  };
  return channel.attempt({
    ...QUEUED,
    message: messageOf(),
    organization,
    progress,
    signal: new AbortController().signal,
  });
}

describe("a mail", () => {
  it("reaches several recipients as text and HTML, from and to whom it says", async () => {
    const server = await startServer();
    expect(await attempt(createChannel(server))).toEqual({ outcome: "delivered" });
    const [received] = server.received;
    expect(received).toMatchObject({ from: "gateway@example.org", recipients: EMAILS });
    const { mail } = received!;
    expect(mail.from).toMatchObject({ name: "Gateway", address: "gateway@example.org" });
    expect(mail.to?.map(({ address }) => address)).toEqual(EMAILS);
    expect(mail.subject).toBe('[Acme] 90% of the November 2026 hard cap of API key "ci" is spent');
    expect(mail.text).toContain("$45.07");
    expect(mail.html).toContain("$45.07");
    expect(mail.html).toContain(
      `href="https://gateway.example.org/organizations/${ALERT.organizationId}/keys/`,
    );
    expect(mail.messageId).toBe(`<${ALERT.id}@example.org>`);
    expect(received!.raw).toMatch(/^Auto-Submitted: auto-generated$/m);
  });

  it.each([
    { name: "line breaks", keyName: "x\r\nBcc: evil@example.com\r\n\r\nHello" },
    { name: "an address", keyName: '"a" <evil@example.com>, b@example.com' },
    { name: "other letters", keyName: "Ключ ✓ 鍵" },
  ])("takes no header and no recipient from a name with $name", async ({ keyName }) => {
    const server = await startServer();
    const channel = createChannel(server);
    await channel.attempt({
      ...QUEUED,
      message: messageOf({ keyName }),
      organization: {
        ...ORGANIZATION,
        name: `Acme\nX-Evil: 1 ${keyName}`,
        id: ALERT.organizationId,
        createdAtMs: 0,
        deletedAtMs: null,
        version: 1,
        notifications: {
          ...NO_WATCH,
          dashboard: true,
          emails: ["a@example.com"],
          webhook: null,
          webhooks: [],
        },
      },
      progress: "",
      signal: new AbortController().signal,
    });
    const [received] = server.received;
    expect(received?.recipients).toEqual(["a@example.com"]);
    const names = received?.mail.headers.map(({ key }) => key);
    expect(names).not.toContain("bcc");
    expect(names).not.toContain("x-evil");
    expect(received?.mail.to).toHaveLength(1);
    expect(received?.mail.subject).toContain(keyName.replace(/[\r\n]+/g, " "));
  });
});

describe("the mail server's answer", () => {
  it.each([
    { name: "421 to the message", code: 421, outcome: "again" },
    { name: "451 to the message", code: 451, outcome: "again" },
    { name: "550 to the message", code: 550, outcome: "failed" },
    { name: "554 to the message", code: 554, outcome: "failed" },
  ])("$name: $outcome", async ({ code, outcome }) => {
    const server = await startServer();
    server.refuseMessage = () => code;
    const result = await attempt(createChannel(server));
    expect(result.outcome).toBe(outcome);
    expect(JSON.stringify(result)).toContain(String(code));
  });

  it("that refuses one recipient for good is a delivery, with a note", async () => {
    const server = await startServer();
    server.refuseRecipient = (address) => (address === "a@example.com" ? 550 : null);
    expect(await attempt(createChannel(server))).toEqual({
      outcome: "delivered",
      note: "a@example.com: 550 refused by the test",
    });
    expect(server.received.map(({ recipients }) => recipients)).toEqual([["b@example.com"]]);
  });

  it("that refuses everybody for good is a failure", async () => {
    const server = await startServer();
    server.refuseRecipient = () => 550;
    expect(await attempt(createChannel(server))).toMatchObject({ outcome: "failed" });
  });

  it("that refuses one recipient for now brings it to that one alone the next time", async () => {
    const server = await startServer();
    const channel = createChannel(server);
    server.refuseRecipient = (address) => (address === "b@example.com" ? 450 : null);
    const first = await attempt(channel);
    expect(first).toMatchObject({ outcome: "again", error: "b@example.com: 450 refused by the test" });
    server.refuseRecipient = () => null;
    const progress = first.outcome === "again" ? first.progress : undefined;
    expect(await attempt(channel, progress)).toEqual({ outcome: "delivered" });
    expect(server.received.map(({ recipients }) => recipients)).toEqual([
      ["a@example.com"],
      ["b@example.com"],
    ]);
  });

  it("does not come while it is down: again", async () => {
    const server = await startMailServer();
    await server.close();
    expect(await attempt(createChannel(server))).toMatchObject({
      outcome: "again",
      error: "the mail server could not be reached or did not accept the email (ESOCKET)",
    });
  });
});

describe("the mail server's security", () => {
  it.each(["tls", "starttls"] as const)("is %s with a login where the server has it", async (mode) => {
    const authority = await createTestAuthority();
    const keyPair = await authority.issue("localhost", ["IP:127.0.0.1"]);
    await authority.close();
    const login = { user: "gateway", password: "s3cret" };
    const server = await startServer({ security: { mode, keyPair }, login });
    const settings = { url: server.url, ...LOGIN };
    expect(await attempt(createChannel(settings, { certificateAuthorities: authority.ca }))).toEqual({
      outcome: "delivered",
    });
    expect(server.received).toMatchObject([{ secure: true, user: "gateway" }]);
    // A certificate that nobody vouches for.
    expect(await attempt(createChannel(settings))).toMatchObject({ outcome: "again" });
    // A wrong password is the operator's matter and will be put right.
    const wrong = {
      url: server.url,
      username: "gateway",
      password: new Secret({ env: "PASSWORD" }, { baseDir: "/", env: { PASSWORD: "wrong" } }),
    };
    expect(await attempt(createChannel(wrong, { certificateAuthorities: authority.ca }))).toMatchObject({
      outcome: "again",
      error: expect.stringContaining("EAUTH"),
    });
    expect(server.received).toHaveLength(1);
  });
});

describe("the email channel", () => {
  it("is off when there are no addresses", async () => {
    const server = await startServer();
    const notifications = { ...NO_WATCH, dashboard: true, emails: [], webhook: null, webhooks: [] };
    expect(await attempt(createChannel(server), "", { notifications })).toEqual({ outcome: "off" });
  });

  it("waits for a mail server where none is configured any more", async () => {
    const channel = new EmailChannel({
      ...UNBOUNDED,
      mailer: null,
      pagesUrl: "",
      logger: { warn: () => undefined },
    });
    expect(await attempt(channel)).toMatchObject({ outcome: "again" });
  });
});
