import { describe, expect, it } from "vitest";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import {
  ADMITTED_AT,
  ADMITTED_SETTINGS,
  AT,
  REPLY_LAYOUTS,
} from "../../../src/data-path/store/redis/reply-layouts.ts";
import { RECENT_TEXTS } from "../../../src/data-path/store/requests/recent-entry.ts";
import { REFUSED_FIELDS } from "../../../src/data-path/store/requests/refused-entry.ts";

type Layouts = typeof REPLY_LAYOUTS;
type FieldOf<Name extends keyof Layouts> = Layouts[Name]["fields"][number];

/** How a script writes a reply: what stands before its fields, and what it writes for each of them. */
type Written<Name extends keyof Layouts> = readonly [
  before: string,
  fields: { readonly [Field in FieldOf<Name>]: string },
];

const ALERTS_FIRED = "fire_alerts(organization, ";
const RECORD_AFTER = (record: string) => `redis.call('HGETALL', ${record})`;

/** Fields that stand together; a field that is added to a reply afterwards is in `LATER`. */
const WRITTEN: { readonly [Name in keyof Layouts]: Written<Name> } = {
  admit: [
    `return string.format('["decided","%d","%d","%s",%s,[%s],[%s],"%s","%s","%s","%s","%s"]', `,
    {
      timeMs: "now_ms",
      capacity: "capacity",
      settingsVersion: "settings_version",
      settings: "settings",
      requests: "decided",
      caps: "caps_text",
      reached: "named and named.place or ''",
      tokenBuckets: "bucket_names",
      tokenLimit: "token_limit",
      sessionsCapped: "are_sessions_capped and '1' or ''",
      alertsFired: "alerts_fired",
    },
  ],
  admitRequest: [
    `string.format('["%s","%d","%d","%d","%s","%s","%s"]', decision, `,
    {
      remaining: "remaining",
      resetMs: "math.ceil((capacity * UNITS_PER_TOKEN - units) / (rpm * 1000))",
      retryAfterSeconds: "retry_after_s",
      concurrent: "shown_concurrent",
      entered: "entered",
      tokens: "levels",
    },
  ],
  admitCap: [
    "table.concat({ scope, ",
    {
      period: "period",
      cents: "text",
      raisedCents: "raised == 0 and '0' or integer(raised)",
      spent: "spent",
    },
  ],
  limitsRead: ["write_list({ 'read', ", { timeMs: "integer(now_ms)", limits: "rows" }],
  limitRead: [
    "{ limit.scope, ",
    {
      period: "limit.period",
      kind: "limit.kind == 'budget' and 'budget' or 'cap'",
      cents: "integer(limit.cents)",
      raisedCents: "integer(limit.raised)",
      spent: "spent or '0'",
    },
  ],
  unknownKey: ["{ 'unknown_key', ", { timeMs: "integer(now_ms)" }],
  monthChanged: ["{ 'month_changed', ", { timeMs: "integer(now_ms)" }],
  opened: ["{ 'opened', ", { tagRow: "tag_row", sessionUncapped: "session_uncapped" }],
  currencyChanged: ["{ 'currency_changed', ", { currency: "billed_in" }],
  concurrencyLimited: ["{ 'concurrency_limited', ", { limit: "max_concurrent_text" }],
  capReached: [
    "{ named.scope .. '_cap_reached', ",
    {
      spent: "named.spent",
      held: "named.held",
      capCents: "integer(named.cents)",
      period: "named.period",
      raisedCents: "integer(named.raised)",
      ownerName: "name",
      amountsHidden: "amounts_hidden",
      alertsFired: "fired",
    },
  ],
  charged: ["write_list({ 'applied', ", { alertsFired: "fired", fell: "fell" }],
  chargedSingle: ["write_list({ 'applied', ", { alertsFired: ALERTS_FIRED }],
  closed: ["{ 'closed', ", { alertsFired: ALERTS_FIRED }],
  dayChanged: ["{ 'day_changed', ", { timeMs: "integer(now_ms)" }],
  corrected: [
    "{ outcome, ",
    {
      month: "month",
      organizationSpent: "organization_spent",
      keySpent: "key_spent",
      alertsFired: "fired",
      stored: "stored",
    },
  ],
  raised: ["{ 'raised', ", { addedMicrocents: "integer(added)" }],
  keyChanged: [
    "{ 'changed', ",
    { before: "before", after: RECORD_AFTER("record"), alertsFired: `reply[4] = ${ALERTS_FIRED}` },
  ],
  keyConflict: ["{ 'version_conflict', ", { record: RECORD_AFTER("record") }],
  ownerMissing: ["{ 'owner_missing', ", { place: "integer(missing)" }],
  keyDeleted: ["{ 'changed', ", { before: "before", after: RECORD_AFTER("key_record") }],
  identityKnown: ["{ 'exists', ", { id: "known" }],
  ownerChanged: [
    "{ 'changed', ",
    { before: "before", after: RECORD_AFTER("record"), alertsFired: `reply[4] = ${ALERTS_FIRED}` },
  ],
  ownerConflict: ["{ 'version_conflict', ", { record: RECORD_AFTER("record") }],
  organizationChanged: [
    "{ 'changed', ",
    { before: "before", after: RECORD_AFTER("record"), alertsFired: `reply[4] = ${ALERTS_FIRED}` },
  ],
  organizationConflict: ["{ 'version_conflict', ", { record: RECORD_AFTER("record") }],
  organizationDeleted: ["{ 'changed', ", { before: "before", after: RECORD_AFTER("record") }],
  nameClaimed: ["{ 'claimed', ", { timeUs: "now_us" }],
  nameTaken: ["{ 'taken', ", { timeUs: "now_us", entry: "entry" }],
  bucket: [
    "{ 'bucket', ",
    {
      remaining: "integer(math.floor(units / UNITS_PER_TOKEN))",
      capacity: "integer(capacity)",
      tokens: "levels",
      lastUsedMs: "last_used",
    },
  ],
  deliveryLater: ["{ 'waiting', ", { waitMs: "integer(wait_ms)" }],
  deliveryClaimed: [
    "{ 'claimed', ",
    {
      entryId: "entry[1]",
      nowMs: "integer(now_ms)",
      failedAttempts: "state[5] or '0'",
      progress: "state[6] or ''",
      alert: "entry[2]",
    },
  ],
  deliveryPending: ["{ 'pending', ", { entryId: "entry[1]", waitMs: "integer(wait_ms)" }],
};

/** One line, so that it does not matter where the script breaks its own. */
function load(file: string): string {
  return readScript(file).replaceAll(/\n\s*/g, " ");
}

describe("the replies of scripts", () => {
  it.each(Object.keys(WRITTEN) as (keyof Layouts)[])("have what is read as %s where it is read", (name) => {
    const { file, fields } = REPLY_LAYOUTS[name];
    const [before, written] = WRITTEN[name] as readonly [string, Readonly<Record<string, string>>];
    const lua = load(file);
    const isLater = (field: string) => written[field]?.startsWith("reply[") === true;
    const together = fields.filter((field) => !isLater(field)).map((field) => written[field]);
    expect(lua).toContain(before + together.join(", "));
    const later: string[] = [];
    for (const [index, field] of fields.entries()) {
      expect(AT[name]).toHaveProperty(field, index + 1);
      if (isLater(field)) later.push(`reply[${index + 2}] = ${ALERTS_FIRED}`);
    }
    expect(later.filter((line) => !lua.includes(line))).toEqual([]);
  });

  it.each(Object.entries(REPLY_LAYOUTS).map(([name, layout]) => ({ name, ...layout })))(
    "are in the header of $file as they are read as $name",
    ({ file, fields }) => {
      const header = (/^(?:--.*\n)+/.exec(readScript(file, { resolve: false }))?.[0] ?? "").replaceAll(
        /\n-- */g,
        " ",
      );
      const replies = [...header.matchAll(/\{([^}]*)\}/g)].map((match) => (match[1] ?? "").split(/, */));
      const inWords = fields.map((field) =>
        field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
      );
      expect(replies.map(([, ...behindOutcome]) => behindOutcome)).toContainEqual(inWords);
    },
  );
});

describe("the settings that an admission tells", () => {
  const lua = load("admit.lua");

  it("are the key's, then the organization's, then its owners'", () => {
    expect(lua).toMatch(/local key_texts = redis\.call\('HMGET', key_record, 'display', '/);
    expect(lua).toContain(
      "local texts = key_texts for position = 1, #organization_texts do texts[#texts + 1] =",
    );
    expect(lua).toContain("ipairs({ user_id, user_name or '', group_id, group_name or '' })");
    expect(ADMITTED_SETTINGS.slice(ADMITTED_AT.user)).toEqual(["userId", "userName", "groupId", "groupName"]);
    expect(ADMITTED_AT.group).toBe(ADMITTED_AT.user + 2);
    expect(ADMITTED_SETTINGS[ADMITTED_AT.display]).toBe("keyDisplay");
    expect(ADMITTED_SETTINGS[ADMITTED_AT.key]).toMatch(/^key/);
    expect(ADMITTED_SETTINGS[ADMITTED_AT.organization]).toBe("organizationName");
  });
});

describe("the lists that scripts write into entries", () => {
  it("keep the order that entries in Redis have", () => {
    expect(RECENT_TEXTS.join(" ")).toBe("key route model tags status error");
    expect(REFUSED_FIELDS.join(" ")).toBe(
      "key route decision bucket rpm max_concurrent expires_at spent currency organization_spent remaining capacity " +
        "retry_after concurrent owners token_limit caps reached",
    );
  });

  it("have every field of a refusal by its name", () => {
    const given = /add_refused\(refused, request_id, (\{.*?\}) *\)/.exec(load("admit.lua"))?.[1] ?? "";
    const names = [...given.matchAll(/(?:[{,] )(\w+) = /g)].map(([, name = ""]) => name);
    expect(names.toSorted()).toEqual([...REFUSED_FIELDS].toSorted());
  });

  it("begin with the texts that entries of recent requests begin with", () => {
    expect(load("close.lua")).toContain(
      `local RECENT_TEXTS = { ${RECENT_TEXTS.map((name) => `'${name}'`).join(", ")} }`,
    );
    expect(load("close.lua")).toContain("write_members(subject), checks, trace, write_members(figures)");
  });
});
