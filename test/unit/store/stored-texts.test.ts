/** Texts whose parts stand by position, which TypeScript writes and scripts take apart, or the other way round. */
import { describe, expect, it } from "vitest";
import { KEY_SETTINGS } from "../../../src/shared/settings/key.ts";
import { parseTokenBuckets, parseTokenLimit } from "../../../src/data-path/store/admission/token-buckets.ts";
import { formatEntry } from "../../../src/data-path/store/requests/recent-entry.ts";
import { formatTokenCounts } from "../../../src/data-path/store/requests/token-buckets.ts";
import { UNKNOWN_TRACE } from "../../../src/shared/stored/reporting.ts";
import type { TakenTokens } from "../../../src/shared/stored/token-rate.ts";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import { formatKeySettings } from "../../../src/data-path/store/management/records.ts";
import { defaultsOf } from "../../../src/shared/settings/table.ts";

function load(file: string): string {
  return readScript(`include/${file}`, { resolve: false });
}

/** A pattern of Lua as one of JavaScript, for the classes that the scripts use. */
function convertPattern(pattern: string): RegExp {
  return new RegExp(pattern.replaceAll("%a", "[A-Za-z]").replaceAll("%d", "\\d"));
}

/** What a script would have in its locals: `NAMES in string.gmatch(…, 'PATTERN')` or `NAMES = string.match(…, 'PATTERN')`. */
function takeApart(lua: string, names: string, pattern: string, text: string): Record<string, string> {
  expect(lua).toMatch(new RegExp(`${names} (?:in string\\.gmatch|= string\\.match)\\(`));
  expect(lua).toContain(`'${pattern}'`);
  const [, ...parts] = convertPattern(pattern).exec(text) ?? [];
  return Object.fromEntries(names.split(", ").map((name, index) => [name, parts[index] ?? ""]));
}

describe("texts in records", () => {
  it("have a limit's period, kind and cents where scripts read them", () => {
    const limit = { period: "week", kind: "cap", cents: 700, alerts: [50, 75] } as const;
    const text = KEY_SETTINGS.limits.kind.format([limit]);
    const row = { period: "week", kind: "cap", text: "700" };
    const all = "(%a+) (%a+) (%d+)";
    const withAlerts = takeApart(
      load("limits.lua"),
      "period, kind, text, own, alerts",
      `${all}(@?)([%d/]*)`,
      text,
    );
    expect(withAlerts).toEqual({ ...row, own: "@", alerts: "50/75" });
    const { kind, text: cents, period } = row;
    const first = takeApart(load("reached.lua"), "period, kind, cents, own, first", `${all}(@?)(%d*)`, text);
    expect(first).toEqual({ period, kind, cents, own: "@", first: "50" });
    expect(takeApart(load("caps.lua"), "period, kind, text", all, text)).toEqual(row);
    const members = takeApart(load("inherited-limits.lua"), "row, kind", "((%a+ %a+ )%d+[@%d/]*)", text);
    expect(members).toEqual({ row: text, kind: "week cap " });
  });

  it("have a raise's period, cents and end where scripts read them", () => {
    const createdBy = { type: "operator", id: "operator", name: "Operator" } as const;
    const raise = {
      id: "raise_1",
      period: "month",
      cents: 900,
      expiresAtMs: 5_000,
      reason: "",
      createdBy,
    } as const;
    const text = KEY_SETTINGS.raises.kind.format([raise]);
    const names = "of_period, added, until_ms";
    const read = takeApart(load("raises.lua"), names, "(%a+) (%d+) (%d+)", text);
    expect(read).toEqual({ of_period: "month", added: "900", until_ms: "5000" });
  });

  it("have the limits of tokens in the order in which scripts read and rewrite them", () => {
    const settings = { ...defaultsOf(KEY_SETTINGS), name: "k", requestsPerMinute: 1 };
    const limited = { tokensPerMinute: 1, inputTokensPerMinute: 2, outputTokensPerMinute: 3 };
    const fields = formatKeySettings({ ...settings, ...limited });
    const text = fields[fields.indexOf("token_limits") + 1] ?? "";
    const pattern = "^(%d*),(%d*),(%d*)$";
    const read = takeApart(load("token-buckets.lua"), "total, input, output", pattern, text);
    expect(read).toEqual({ total: "1", input: "2", output: "3" });
    const { tokensPerMinute, inputTokensPerMinute, outputTokensPerMinute } = KEY_SETTINGS;
    const rows = [tokensPerMinute, inputTokensPerMinute, outputTokensPerMinute];
    expect(load("records.lua")).toContain(
      `redis.call('HMGET', record, ${rows.map(({ field }) => `'${field}'`).join(", ")})`,
    );
  });
});

describe("texts in replies", () => {
  it("have a bucket's type, limit and level where they are read", () => {
    expect(load("format-token-buckets.lua").replaceAll(/\n\s*/g, " ")).toContain(
      "'%s%s %d %d' or '%s,%s %d %d', levels, bucket[BUCKET_TYPE], bucket[BUCKET_LIMIT], bucket[BUCKET_LEVEL])",
    );
    expect(parseTokenBuckets("input 7 180000")).toMatchObject([{ type: "input", limit: 7, remaining: 3 }]);
  });

  it("have the scope and types of the buckets that were met where charges read them", () => {
    const admit = readScript("admit.lua");
    const [, comma = ""] = /bucket_names \.\. '(.)' \.\. bucket\[BUCKET_TYPE\]/.exec(admit) ?? [];
    const [, space = "", equals = ""] =
      /\(before and '(.)' or ''\) \.\. bucket\[BUCKET_SCOPE\] \.\. '(.)' \.\. bucket\[BUCKET_TYPE\]/.exec(
        admit,
      ) ?? [];
    const buckets = `key${equals}total${space}organization${equals}input${comma}output`;
    const request = { organizationId: "org_1", keyId: "key_1" };
    const counts = formatTokenCounts(request, { buckets, reserved: 5 } as TakenTokens);
    expect(counts.filter((text) => text.endsWith(":used"))).toEqual([
      "total:used",
      "input:used",
      "output:used",
    ]);
  });

  it("have owners and session behind the figures, as entries of requests that were charged", () => {
    const added = [...load("reaped.lua").matchAll(/figures\[#figures \+ 1\] = record\.(\w+)/g)];
    const own = { owners: "user_1", session: "session_1" };
    const entry = {
      keyId: "key_1",
      route: "POST /v1/chat/completions",
      model: "acme/text",
      tags: "",
      status: 200,
      errorCode: null,
      checks: [],
      trace: UNKNOWN_TRACE,
      ...own,
    } as const;
    const list = JSON.parse(formatEntry(entry)) as unknown[];
    expect(list.slice(-2)).toEqual(added.map(([, name]) => own[name as keyof typeof own]));
  });

  it("have the scope, type and limit of what refuses where they are read", () => {
    expect(readScript("admit.lua")).toContain(
      "string.format('%s %s %d', empty[BUCKET_SCOPE], empty[BUCKET_TYPE], empty[BUCKET_LIMIT])",
    );
    expect(parseTokenLimit("user output 9")).toEqual({ scope: "user", type: "output", limit: 9 });
  });

  it("have the items of a bucket under the names that scripts read them by", () => {
    expect(load("token-units.lua")).toContain(
      "BUCKET_SCOPE, BUCKET_HASH, BUCKET_TYPE, BUCKET_LIMIT, BUCKET_LEVEL",
    );
    expect(load("token-buckets.lua")).toMatch(
      /\{ scope, hash, position == 1 .*, limit, level, used, at_ms \}/,
    );
  });
});
