import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { KEY_SETTINGS } from "../../../src/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/settings/organization.ts";
import { USER_GROUP_SETTINGS } from "../../../src/settings/user-group.ts";
import { USER_SETTINGS } from "../../../src/settings/user.ts";
import {
  convertSettings,
  defaultsOf,
  describeSettings,
  formatFields,
  parseFields,
  recordSettings,
} from "../../../src/settings/table.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

describe("a table of settings", () => {
  it("reads from Redis what it has written there", () => {
    const key = {
      ...defaultsOf(KEY_SETTINGS),
      name: "ci",
      hardCapCents: 0,
      allowedModels: ["acme/echo"],
      expiresAtMs: 4_102_444_800_000,
      disabled: true,
    };
    const pairs = formatFields(KEY_SETTINGS, key);
    const fields = Object.fromEntries(
      pairs.flatMap((field, position) => (position % 2 === 0 ? [[field, pairs[position + 1] ?? ""]] : [])),
    );
    expect(parseFields(KEY_SETTINGS, fields)).toEqual(key);
  });

  it("gives a record from before there was a setting its default, a group's member too", () => {
    const fields = { name: "Acme", currency: "USD", notifications: '{"dashboard":false,"emails":[]}' };
    expect(parseFields(ORGANIZATION_SETTINGS, fields)).toEqual({
      ...defaultsOf(ORGANIZATION_SETTINGS),
      name: "Acme",
      currency: "USD",
      notifications: { dashboard: false, emails: [], webhook: null, webhooks: [] },
    });
  });

  it("records what differs as it is kept as different, where it is shown alike, and shows no secret", () => {
    const record = (url: string, routingKey: string | null = null) => {
      const format = routingKey === null ? ("slack" as const) : ("pagerduty" as const);
      const webhook = { id: "webhook_1", format, url, routingKey, secrets: [], alerts: [] };
      return recordSettings(ORGANIZATION_SETTINGS, {
        ...defaultsOf(ORGANIZATION_SETTINGS),
        name: "Acme",
        currency: "USD",
        notifications: { dashboard: true, emails: [], webhook: null, webhooks: [webhook] },
      });
    };
    const slack = record("https://hooks.slack.com/services/T000/tail");
    expect(slack).not.toEqual(record("https://hooks.slack.com/services/T001/tail"));
    expect(slack).toEqual(record("https://hooks.slack.com/services/T000/tail"));
    const pager = record("https://events.example/", `0${"a".repeat(31)}`);
    expect(pager).not.toEqual(record("https://events.example/", `1${"a".repeat(31)}`));
    expect(JSON.stringify([slack, pager])).not.toMatch(/T000|0a{31}/);
  });

  it("refuses a record without what every one has", () => {
    expect(() => parseFields(ORGANIZATION_SETTINGS, { currency: "USD" })).toThrow(/"name"/);
  });

  it("leaves what a change does not name, inside of a group too, and shows no secret", () => {
    const secrets = [{ secret: "whsec_x", expiresAtMs: null }];
    const webhook = { url: "https://example.com/hook", secrets, disabledAtMs: 0 };
    const current = {
      ...defaultsOf(ORGANIZATION_SETTINGS),
      name: "Acme",
      currency: "USD",
      notifications: { dashboard: true, emails: ["a@example.com"], webhook, webhooks: [] },
    };
    const wanted = { notifications: { dashboard: false } };
    const changes = convertSettings(ORGANIZATION_SETTINGS, wanted, current);
    expect(changes).toEqual({ notifications: { ...current.notifications, dashboard: false } });
    expect(JSON.stringify(describeSettings(ORGANIZATION_SETTINGS, current))).not.toContain("whsec_");
  });
});

describe("a setting's name in the API", () => {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:tsx?|js|lua)$/.test(name))
    .map((name) => readFileSync(path.join(SOURCE, name), "utf8"));
  const names = Object.keys({
    ...index(KEY_SETTINGS),
    ...index(ORGANIZATION_SETTINGS),
    ...index(USER_SETTINGS),
    ...index(USER_GROUP_SETTINGS),
  });

  /** Words that mean other things, too: `user_id` is the end user's in messages, and both ids are columns of usage. */
  const COMMON = [
    "name",
    "currency",
    "email",
    "disabled",
    "note",
    "notifications",
    "suspended",
    "limits",
    "raises",
    "expires_at",
    "user_id",
    "group_id",
  ];

  it.each(names.filter((name) => !COMMON.includes(name)))("%s stands in ten files or fewer", (name) => {
    const word = new RegExp(`\\b${name}\\b`);
    expect(sources.filter((text) => word.test(text)).length).toBeLessThanOrEqual(10);
  });

  /** One rule each. Amounts, rates and expiry are what half of the pages show. */
  const ONE_RULE = [
    KEY_SETTINGS.allowedModels,
    KEY_SETTINGS.maxConcurrentRequests,
    KEY_SETTINGS.defaultTags,
    ORGANIZATION_SETTINGS.endUserTag,
    ORGANIZATION_SETTINGS.modelNames,
    ORGANIZATION_SETTINGS.keyDefaults,
  ];

  it.each(ONE_RULE)("$apiName stands in ten files or fewer in every spelling", ({ apiName, field }) => {
    const name = apiName.replaceAll(/_[a-z]/g, (letter) => letter.charAt(1).toUpperCase());
    const word = new RegExp(`\\b(?:${apiName}|${field}|${name})\\b`);
    expect(sources.filter((text) => word.test(text)).length).toBeLessThanOrEqual(10);
  });

  function index(table: Readonly<Record<string, { readonly apiName: string }>>) {
    return Object.fromEntries(Object.values(table).map(({ apiName }) => [apiName, true]));
  }
});
