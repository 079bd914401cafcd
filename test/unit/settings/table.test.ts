import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { KEY_SETTINGS } from "../../../src/shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/shared/settings/organization.ts";
import type { Setting, StoredSetting } from "../../../src/shared/settings/setting.ts";
import { USER_GROUP_SETTINGS } from "../../../src/shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../src/shared/settings/user.ts";
import { keyChange } from "../../../src/management/admin/schemas/key.ts";
import {
  convertSettings,
  defaultsOf,
  describeSettings,
  formatFields,
  parseFields,
  recordSettings,
} from "../../../src/shared/settings/table.ts";
import { NO_WATCH } from "../../support/no-watch.ts";
import { monthLimits } from "../../support/month-limits.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

describe("a table of settings", () => {
  it("reads from Redis what it has written there", () => {
    const key = {
      ...defaultsOf(KEY_SETTINGS),
      name: "ci",
      limits: monthLimits({ cap: 0 }),
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
      notifications: { ...NO_WATCH, dashboard: false, emails: [], webhook: null, webhooks: [] },
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
        notifications: { ...NO_WATCH, dashboard: true, emails: [], webhook: null, webhooks: [webhook] },
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
      notifications: { ...NO_WATCH, dashboard: true, emails: ["a@example.com"], webhook, webhooks: [] },
    };
    const wanted = { notifications: { ...NO_WATCH, dashboard: false } };
    const changes = convertSettings(ORGANIZATION_SETTINGS, wanted, current);
    expect(changes).toEqual({ notifications: { ...current.notifications, dashboard: false } });
    expect(JSON.stringify(describeSettings(ORGANIZATION_SETTINGS, current))).not.toContain("whsec_");
  });
});

describe("an alias of a limit", () => {
  const day = { period: "day", kind: "cap", cents: 3 } as const;
  const current = {
    ...defaultsOf(KEY_SETTINGS),
    name: "ci",
    limits: [day, ...monthLimits({ cap: 500, budget: 400 })],
  };
  const convert = (wanted: Parameters<typeof convertSettings<typeof KEY_SETTINGS>>[1]) =>
    convertSettings(KEY_SETTINGS, wanted, current).limits;

  it("changes its row and no other", () => {
    expect(convert({ hard_cap_cents: 600 })).toEqual([day, ...monthLimits({ cap: 600, budget: 400 })]);
    expect(convert({ hard_cap_cents: null, budget_cents: 1 })).toEqual([day, ...monthLimits({ budget: 1 })]);
    expect(convert({ name: "other" })).toBeUndefined();
  });

  it("is replaced by `limits`, a row left out with the others", () => {
    expect(convert({ limits: [day] })).toEqual([day]);
    expect(convert({ limits: monthLimits({ cap: 7 }), hard_cap_cents: 7 })).toEqual(monthLimits({ cap: 7 }));
  });

  it("is shown in both forms, and recorded in one", () => {
    const both = { hard_cap_cents: 500, budget_cents: 400, limits: current.limits };
    expect(describeSettings(KEY_SETTINGS, current)).toMatchObject(both);
    expect(recordSettings(KEY_SETTINGS, current)).toMatchObject({ ...both, limits: [day] });
  });

  it("is refused beside a row of another amount, inside of a group too", () => {
    const limits = monthLimits({ budget: 5 });
    const { keyDefaults } = ORGANIZATION_SETTINGS;
    const problemsOf = (body: object) => keyDefaults.kind.input.safeParse(body).error?.issues ?? [];
    expect(problemsOf({ limits, budget_cents: 5, hard_cap_cents: null })).toEqual([]);
    expect(problemsOf({ limits, budget_cents: 4 })).toMatchObject([{ path: ["budget_cents"] }]);
    expect(problemsOf({ limits, hard_cap_cents: 0 })).toMatchObject([{ path: ["hard_cap_cents"] }]);
    expect(keyChange.safeParse({ limits, budget_cents: null }).success).toBe(false);
  });
});

describe("a setting's name", () => {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:tsx?|js|lua)$/.test(name))
    .map((name) => ({ name, text: readFileSync(path.join(SOURCE, name), "utf8") }));
  const rows = [KEY_SETTINGS, ORGANIZATION_SETTINGS, USER_SETTINGS, USER_GROUP_SETTINGS].flatMap((table) =>
    Object.entries<Setting & Partial<Pick<StoredSetting, "field">>>(table).map(
      ([inRecords, { apiName, field = apiName }]) => ({
        apiName,
        inRecords,
        field,
      }),
    ),
  );

  /** Words that are no setting's alone, whose files tell nothing, each with what else it is. */
  const SHARED: Readonly<Record<string, string>> = {
    name: "of everything",
    currency: "of each amount",
    email: "a channel of alerts",
    disabled: "an attribute of HTML, and of webhooks and upstreams",
    note: "a verb, and what is told beside a delivery or a lock",
    notifications: "a section of the configuration",
    limits: "a folder, of the configuration's, of tokens",
    raises: "the calls and pages of raises",
    expires_at: "of a raise, a token and a secret",
    suspended: "what model providers say of an account",
    user_id: "of usage, of requests, and the end user's in messages",
    group_id: "of usage and of requests",
  };

  it.each(rows.filter(({ apiName }) => !(apiName in SHARED)))(
    "$apiName stands in ten files or fewer, in all of its spellings",
    ({ apiName, inRecords, field }) => {
      const camel = apiName.replaceAll(/_[a-z]/g, (letter) => letter.charAt(1).toUpperCase());
      const words = [apiName, inRecords, camel, apiName.replaceAll("_", "-"), apiName.toUpperCase()];
      // The field in Redis is a text: "rpm" is a word that people write, too.
      const spelled = new RegExp(`\\b(?:${[...new Set(words)].join("|")})\\b|["'\`]${field}["'\`]`);
      const named = sources.filter(({ text }) => spelled.test(text)).map(({ name }) => name);
      // So that a failure tells them all.
      expect(named.length > 10 ? named : []).toEqual([]);
    },
  );
});
