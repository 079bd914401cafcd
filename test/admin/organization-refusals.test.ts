import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminUnderTest, createOrganization, NO_EMAILS_SENT, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

describe("POST /api/organizations", () => {
  it.each([
    { name: "no name", body: { currency: "USD" }, code: "missing_required_parameter", param: "name" },
    { name: "no currency", body: { name: "A" }, code: "missing_required_parameter", param: "currency" },
    { name: "an empty name", body: { name: "", currency: "USD" }, param: "name" },
    { name: "a blank name", body: { name: "   ", currency: "USD" }, param: "name" },
    { name: "a name of 101 characters", body: { name: "é".repeat(101), currency: "USD" }, param: "name" },
    { name: "a line break in the name", body: { name: "a\nb", currency: "USD" }, param: "name" },
    { name: "a lone surrogate in the name", body: '{"name":"\\ud800","currency":"USD"}', param: "name" },
    { name: "a number as name", body: { name: 1, currency: "USD" }, param: "name" },
    { name: "a currency that is none", body: { name: "A", currency: "XYZ" }, param: "currency" },
    { name: "a currency without cents", body: { name: "A", currency: "JPY" }, param: "currency" },
    { name: "a currency in small letters", body: { name: "A", currency: "usd" }, param: "currency" },
    {
      name: "a negative cap",
      body: { name: "A", currency: "USD", hard_cap_cents: -1 },
      param: "hard_cap_cents",
    },
    {
      name: "a cap above the largest",
      body: { name: "A", currency: "USD", hard_cap_cents: 9_000_000_001 },
      param: "hard_cap_cents",
    },
    {
      name: "a fraction of a cent",
      body: { name: "A", currency: "USD", budget_cents: 0.5 },
      param: "budget_cents",
    },
    {
      name: "a cap as text",
      body: { name: "A", currency: "USD", hard_cap_cents: "1" },
      param: "hard_cap_cents",
    },
    {
      name: "shrinking without strict caps",
      body: { name: "A", currency: "USD", on_cap: "shrink" },
      param: "on_cap",
    },
    { name: "an unknown field", body: { name: "A", currency: "USD", hardcap: 1 }, param: "hardcap" },
    {
      name: "a field of the prototype",
      body: '{"name":"A","currency":"USD","__proto__":{}}',
      param: "__proto__",
    },
    {
      name: "an unknown field inside of another",
      body: { name: "A", currency: "USD", notifications: { email: [] } },
      param: "notifications.email",
    },
    {
      name: "an email address that is none",
      body: { name: "A", currency: "USD", notifications: { emails: ["a"] } },
      param: "notifications.emails.0",
    },
    {
      name: "an email address twice",
      body: { name: "A", currency: "USD", notifications: { emails: ["a@b.example", "a@b.example"] } },
      param: "notifications.emails",
    },
    {
      name: "a webhook in the clear",
      body: { name: "A", currency: "USD", notifications: { webhook: { url: "http://example.com" } } },
      param: "notifications.webhook.url",
    },
    {
      name: "a webhook with a password",
      body: { name: "A", currency: "USD", notifications: { webhook: { url: "https://u:p4ss@example.com" } } },
      param: "notifications.webhook.url",
    },
    {
      name: "defaults out of range",
      body: { name: "A", currency: "USD", key_defaults: { requests_per_minute: 0 } },
      param: "key_defaults.requests_per_minute",
    },
  ])("refuses $name with 400", async ({ body, code = "invalid_parameter", param }) => {
    const refusal = await admin.refused("POST", "/api/organizations", { body });
    expect(refusal).toMatchObject({ status: 400, code, param });
    expect(refusal.message).toContain(`\`${param}\``);
    expect(refusal.message).not.toContain("p4ss");
  });

  it("names the field that an unknown one may have been meant for, and the range of one out of range", async () => {
    const body = { name: "A", currency: "USD", hard_cap_cent: 1, budget_cents: -1 };
    const { message } = await admin.refused("POST", "/api/organizations", { body });
    expect(message).toContain("did you mean `hard_cap_cents`?");
    expect(message).toContain("from 0 to 9000000000");
    expect(message).toContain("found -1");
  });

  it("says that mails cannot be chosen where no mail server is configured", async () => {
    const without = await startAdmin({ email: { ...NO_EMAILS_SENT, mailer: null } });
    try {
      const body = { name: "A", currency: "USD", notifications: { emails: ["a@example.com"] } };
      expect(await without.refused("POST", "/api/organizations", { body })).toMatchObject({
        status: 400,
        param: "notifications.emails",
      });
      await createOrganization(without, { notifications: { emails: [] } });
    } finally {
      await without.stop();
    }
  });

  it("takes addresses of the operator's domains only, and names the other one and the domains", async () => {
    const bounded = await startAdmin({ email: { ...NO_EMAILS_SENT, allowedDomains: ["example.com"] } });
    try {
      const emails = ["a@example.com", "b@evil.example"];
      const body = { name: "A", currency: "USD", notifications: { emails } };
      const refusal = await bounded.refused("POST", "/api/organizations", { body });
      expect(refusal).toMatchObject({ status: 400, param: "notifications.emails.1" });
      expect(refusal.message).toContain("must be an address in example.com");
      await createOrganization(bounded, { notifications: { emails: ["a@example.com"] } });
    } finally {
      await bounded.stop();
    }
  });
});
