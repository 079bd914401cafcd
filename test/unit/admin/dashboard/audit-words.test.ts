import { describe, expect, it } from "vitest";
import { describeAction, describeChanges } from "../../../../src/management/admin/dashboard/audit-words.ts";

const target = { type: "organization", id: "org_1", name: "Acme" } as const;

function changesFrom(before: object | null, after: object | null): string[] {
  return describeChanges(
    { before, after, target, names: {} } as Parameters<typeof describeChanges>[0],
    "USD",
  );
}

describe("the audit log", () => {
  it.each([
    ["key.created", "API key created"],
    ["key.rotated", "API key secret rotated"],
    ["keys.revoked", "All API keys deleted"],
    ["raise.deleted", "Temporary increase deleted"],
    ["organization.updated", "Organization changed"],
    ["session.revoked", "Session ended"],
    ["spend.corrected", "Spend corrected"],
  ])("calls %s what it is", (action, words) => {
    expect(describeAction(action)).toBe(words);
  });

  it("has the dashboard's words for choices, as the forms have", () => {
    const before = { on_cap: "refuse", notifications: { summary: "off" } };
    const after = { on_cap: "shrink", notifications: { summary: "week" } };
    const changes = changesFrom(before, after);
    expect(changes).toContain("notifications: summary: none → every week");
    expect(changes.join()).not.toMatch(/refuse\b|shrink\b/);
  });

  it("spells out what a list has, and no object in JSON", () => {
    const webhooks = [
      { format: "slack", url: "https://hooks.example.com", routing_key: null, alerts: ["hard_cap_reached"] },
    ];
    expect(changesFrom({ webhooks: [] }, { webhooks })).toEqual([
      "webhooks: none → format Slack, url https://hooks.example.com, alerts 100 % of a hard cap",
    ]);
  });

  it("shows free names of a setting, also those of other fields", () => {
    const aliases = { limits: "acme/echo-small", "x.alerts": "constructor" };
    expect(changesFrom(null, { model_names: { aliases } })).toEqual([
      "model names: aliases: limits: acme/echo-small",
      "model names: aliases: x: alerts: constructor",
    ]);
  });

  it("has amounts in the organization's currency, and times of the day", () => {
    expect(changesFrom(null, { hard_cap_cents: 4_000, expires_at: "2026-11-21T14:03:00.000Z" })).toEqual([
      "hard cap: 40.00 USD",
      "expires at: 2026-11-21 14:03 UTC",
    ]);
  });
});
