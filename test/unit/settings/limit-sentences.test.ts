/** One sentence about a limit: of every owner, period and kind, through every place that writes one. */
import { describe, expect, it } from "vitest";
import { type AttentionInput, listAttention } from "../../../src/management/admin/dashboard/attention.ts";
import type { Markup, OrganizationPageCall } from "../../../src/management/admin/dashboard/page.ts";
import { AlertList } from "../../../src/management/admin/dashboard/parts/alert-list.tsx";
import { LimitBar } from "../../../src/management/admin/dashboard/parts/charts.tsx";
import type { LimitFiguresView } from "../../../src/management/admin/dashboard/views.ts";
import type { ExplainedRequest } from "../../../src/management/admin/explain/explained-request.ts";
import { explain } from "../../../src/management/admin/explain/explanation.ts";
import { formatAlertData } from "../../../src/management/alerts/alert-event.ts";
import { createAlertMail } from "../../../src/management/alerts/alert-mail.ts";
import { limitPathOf } from "../../../src/management/alerts/alert-names.ts";
import { formatAlerts } from "../../../src/operation/cli/management/alerts.ts";
import { openScreen } from "../../../src/operation/cli/terminal/screen.ts";
import { createCapError } from "../../../src/data-path/limits/errors/spend-cap.ts";
import { describeReached } from "../../../src/shared/settings/limit-words.ts";
import {
  type LimitKind,
  LIMIT_KINDS,
  type LimitPeriod,
  LIMIT_PERIODS,
} from "../../../src/shared/settings/limits.ts";
import type { AlertRecord, ListedAlert } from "../../../src/shared/stored/alerts.ts";
import { type LimitScope, LIMIT_SCOPES } from "../../../src/shared/stored/decision.ts";
import { formatWindowEnd, formatWindowStart } from "../../../src/shared/time/periods.ts";
import { NO_TOKENS, nameTokens } from "../../../src/shared/usage/token-usage.ts";
import { ALERT, messageOf } from "../alerts/alert-fixture.ts";

const DAY = "2026-11-25";
const PAGES = "https://dash.example.com";
const OWNERS = {
  key: 'API key "ci"',
  user: 'user "Zoë"',
  group: 'group "Search"',
  organization: "the organization",
};
const UNNAMED = {
  ...OWNERS,
  key: "this API key",
  user: "this API key's user",
  group: "this API key's group",
};
const NAMES = { key: "ci", user: "Zoë", group: "Search", organization: "Acme" };
const WORDS = { day: "daily", week: "weekly", month: "monthly", total: "total" };
const WINDOWS = {
  day: "on 2026-11-25",
  week: "in the week of 2026-11-23",
  month: "in November 2026",
  total: "in total",
};

interface Row {
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  readonly kind: LimitKind;
  /** The amount; 0 is a cap that nothing passes. */
  readonly cents: number;
}

const ROWS: readonly Row[] = LIMIT_SCOPES.flatMap((scope) =>
  LIMIT_PERIODS.flatMap((period) =>
    LIMIT_KINDS.flatMap((kind) => [0, 1000].map((cents) => ({ scope, period, kind, cents }))),
  ),
);
const CAPS = ROWS.filter(({ kind }) => kind === "cap");

const SPENT_CENTS = 1313;
const amountOf = ({ cents }: Row): string => (cents === 0 ? "0.00" : "10.00");
const nameOf = ({ period, kind }: Row): string => `${WORDS[period]} ${kind === "cap" ? "hard cap" : kind}`;
const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const sentenceOf = (row: Row, owner: string): string =>
  `${capitalize(nameOf(row))} of ${amountOf(row)} USD for ${owner} reached: 13.13 USD spent ${WINDOWS[row.period]}.`;
/** No text names a period, a window or an amount of another limit. */
const OTHERS = (row: Row): readonly string[] => [
  ...Object.entries(WORDS).flatMap(([period, word]) =>
    period === row.period ? [] : [`${word} cap`, `${word} hard cap`, `${word} budget`],
  ),
  ...(row.period === "month" ? [] : ["November"]),
  " none",
];
function expectNoOther(row: Row, text: string): void {
  expect(OTHERS(row).filter((other) => text.includes(other))).toEqual([]);
}

const idOf = (scope: LimitScope): string => `${scope}_1`;
const alertOf = (row: Row): AlertRecord => ({
  ...ALERT,
  organizationId: "org_1",
  kind: row.kind === "cap" ? "hard_cap" : "budget",
  scope: row.scope,
  period: row.period,
  windowStart: formatWindowStart(row.period, DAY),
  keyId: row.scope === "key" ? idOf("key") : null,
  keyName: row.scope === "key" ? NAMES.key : null,
  ownerId: row.scope === "user" || row.scope === "group" ? idOf(row.scope) : null,
  ownerName: row.scope === "user" || row.scope === "group" ? NAMES[row.scope] : null,
  thresholdPercent: 100,
  amountCents: row.cents,
  spentMicrocents: BigInt(SPENT_CENTS) * 1_000_000n,
});
const limitOf = ({ scope, period, kind, cents }: Row): LimitFiguresView => ({
  scope,
  period,
  kind,
  cents,
  raised_cents: 0,
  spent_cents: SPENT_CENTS,
  remaining_cents: 0,
  resets_at: formatWindowEnd(period, DAY),
});

it.each(ROWS)("$scope, $period, $kind of $cents: the sentence", (row) => {
  const name = row.scope === "organization" ? null : NAMES[row.scope];
  const spend = { amount: `${amountOf(row)} USD`, spent: "13.13 USD", day: DAY };
  expect(describeReached({ ...row, name }, spend)).toBe(sentenceOf(row, OWNERS[row.scope]));
});

describe.each(CAPS)("$scope, $period cap of $cents", (row) => {
  const { scope, period, cents } = row;
  const resetsAt = formatWindowEnd(period, DAY);

  it("is the 402's, which advises to wait only if that helps", () => {
    const { message } = createCapError(
      {
        scope,
        period,
        organizationId: "org_1",
        keyId: idOf("key"),
        ownerId: idOf(scope),
        name: NAMES[scope],
        capCents: cents,
        raisedCents: 0,
        spentMicrocents: BigInt(SPENT_CENTS) * 1_000_000n,
        currency: "USD",
        areAmountsHidden: false,
        day: DAY,
      },
      { baseUrl: PAGES, contact: null },
    );
    const owner = scope === "organization" ? 'organization "Acme"' : OWNERS[scope];
    expect(
      message.startsWith(`${sentenceOf(row, owner)} Raise the cap on ${PAGES}/organizations/org_1/`),
    ).toBe(true);
    expect(message).toContain("#limits");
    expect(message.includes("wait")).toBe(cents > 0 && resetsAt !== null);
  });

  it("is the explanation's and its check's, and leads to the limit's own field", () => {
    const names = {
      key: "hard_cap",
      user: "user_hard_cap",
      group: "group_hard_cap",
      organization: "org_hard_cap",
    };
    const spent_microcents = String(SPENT_CENTS * 1_000_000);
    const figures = { spent_microcents, hard_cap_cents: cents, ...(period === "month" ? {} : { period }) };
    const request = {
      organization_id: "org_1",
      key_id: idOf("key"),
      user_id: idOf("user"),
      group_id: idOf("group"),
      created_at: `${DAY}T12:00:00.000Z`,
      status: 402,
      error_code: `${names[scope]}_reached`,
      ...nameTokens(NO_TOKENS),
      cost_microcents: 0,
      upstream: null,
      checks: [{ name: `${scope}_hard_cap`, passed: false, figures }],
    } as unknown as ExplainedRequest;
    const { sentence, checks, action } = explain(request, "USD", null);
    expect(sentence).toBe(`Blocked. ${sentenceOf(row, UNNAMED[scope])}`);
    expect(checks[0]?.text).toBe(`13.13 USD spent of the ${nameOf(row)} of ${amountOf(row)} USD`);
    expect(action?.path).toBe(limitPathOf(alertOf(row)));
  });

  it("is named by the requests that it stopped today", () => {
    const ownerId = scope === "organization" ? null : idOf(scope);
    const stop = { scope, ownerId, period, errorCode: "hard_cap_reached", count: 2, lastMs: Date.parse(DAY) };
    const [found] = attentionOf({ recent: { failing: [], stopped: [stop], isWhole: true } });
    expect(found?.text).toBe(
      `Today 2 requests were blocked by the ${nameOf(row)} of ${OWNERS[scope]}, the last at 00:00 UTC.`,
    );
  });
});

function attentionOf(input: object) {
  return listAttention({
    organization: { id: "org_1", currency: "USD", suspended: false, notifications: { webhooks: [] } },
    forecastMicrocents: null,
    keys: [],
    keyLimits: new Map(),
    alerts: [],
    limits: [],
    groups: [],
    names: new Map(LIMIT_SCOPES.map((scope) => [idOf(scope), NAMES[scope]])),
    recent: { failing: [], stopped: [], isWhole: true },
    nowMs: Date.parse(`${DAY}T12:00:00Z`),
    ...input,
  } as unknown as AttentionInput);
}

describe.each(ROWS)("$scope, $period, $kind of $cents", (row) => {
  const { scope, period, kind } = row;
  const percent = kind === "cap" ? 90 : 80;

  it("is the overview's", () => {
    const limit = { ...limitOf(row), owner: { id: idOf(scope), name: NAMES[scope] } };
    const state = kind === "cap" ? "cap_reached" : "over_budget";
    const key = {
      keys: [{ id: idOf("key"), name: NAMES.key, state }],
      keyLimits: new Map([[idOf("key"), [limit]]]),
    };
    const inputs = {
      key,
      user: key,
      group: { groups: [{ id: idOf("group"), name: NAMES.group, tightest_limit: limit }] },
      organization: { limits: [limit] },
    };
    const [found, ...others] = attentionOf(inputs[scope]);
    expect(others).toEqual([]);
    if (found === undefined) throw new Error("nothing needs attention");
    expect(found.text.startsWith(sentenceOf(row, OWNERS[scope]))).toBe(true);
    expect(found.text.includes("return 402")).toBe(kind === "cap");
    expect(found.text.includes("until")).toBe(kind === "cap" && row.cents > 0 && period !== "total");
    expect(found.path).toBe(limitPathOf(alertOf(row)));
    expectNoOther(row, found.text);
  });

  it("is an email's", async () => {
    const message = messageOf(alertOf(row));
    const { subject, text } = await createAlertMail({ message, organizationName: "Acme", pagesUrl: PAGES });
    const owner = scope === "organization" ? "The organization Acme" : `${capitalize(OWNERS[scope])} of Acme`;
    expect(text.split("\n")[0]).toBe(
      `${owner} has spent $13.13 ${WINDOWS[period]}: 100% of its ${nameOf(row)} of $${amountOf(row)} is reached.`,
    );
    expect(subject).toContain(OWNERS[scope]);
    expect(text.includes("until the cap resets")).toBe(kind === "cap" && row.cents > 0 && period !== "total");
    expectNoOther(row, subject + text);
  });

  it("is the dashboard's list of alerts'", async () => {
    const off = { state: "off", attempts: 0, lastError: null, nextAttemptAtMs: null };
    const first = { ...alertOf(row), thresholdPercent: percent };
    const listed = [alertOf(row), first].map((alert) => ({
      ...alert,
      deliveries: { email: off, webhook: off, webhooks: new Map() },
    })) as unknown as ListedAlert[];
    const page = {
      organization: { notifications: { emails: [], webhook: null, webhooks: [] } },
      canChange: false,
      nowMs: Date.parse(DAY),
    } as unknown;
    const raised = { ...row, cents: row.cents + 500, raisedCents: 0, spentMicrocents: 0n };
    const markup: Markup = AlertList({
      page: page as OrganizationPageCall,
      alerts: listed,
      limitNow: () => raised,
    });
    const text = String(await markup)
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll("&quot;", '"');
    expect(text).toContain(
      `${percent} % and 100 % of the ${nameOf(row)} of ${OWNERS[scope]}: 13.13 USD of ${amountOf(row)} USD ${WINDOWS[period]}`,
    );
    expect(text).toContain(`, raised since to ${row.cents === 0 ? "5.00" : "15.00"} USD`);
    expect(text.includes(", resets in ")).toBe(period !== "total");
    expectNoOther(row, text);
  });

  it("is the command line's list of alerts'", () => {
    const off = { state: "off", last_error: null };
    const path = limitPathOf(alertOf(row));
    const listed = [row, { ...row, period: period === "day" ? "week" : "day" } as const].map((one) => ({
      ...formatAlertData(alertOf(one)),
      type: kind === "cap" ? "hard_cap.threshold_reached" : "budget.threshold_reached",
      message_id: "alert_1",
      created_at: ALERT.firedAtMs,
      deliveries: { email: off, webhook: off, webhooks: {} },
      path,
      url: null,
    }));
    const [, line = "", ...rest] = formatAlerts(openScreen({}, { env: {} }), listed, PAGES).split("\n");
    expect(line).toContain(`  ${OWNERS[scope]}  100% of the ${nameOf(row)}, ${amountOf(row)} USD  `);
    // A second limit of the same owner is another line.
    expect(rest[0]).toContain(`${amountOf(row)} USD`);
    expect(rest).toContain(`Change the ${nameOf(row)} of ${OWNERS[scope]}: ${PAGES}${path}`);
  });

  it("is a bar's label", async () => {
    const markup: Markup = LimitBar({ limit: limitOf(row), currency: "USD" });
    const bar = String(await markup);
    expect(bar).toContain(`13.13 USD of a ${WORDS[period]} ${kind} of ${amountOf(row)} USD`);
    expectNoOther(row, bar.replaceAll(/<[^>]*>/g, ""));
  });
});
