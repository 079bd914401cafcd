/** *Overview*: what needs attention, the month's spend against budget and cap, and the ten keys that spend most. */
import type { Child } from "hono/jsx";
import { dayAt, monthAt } from "../../../../shared/time/calendar.ts";
import { addDays } from "../../../../shared/time/day-range.ts";
import { keysWithReachedLimits, listAttention } from "../attention.ts";
import { measureProgress } from "../../../../shared/usage/forecast.ts";
import type { Attention, LimitAttentionInput } from "../limit-attention.ts";
import { formatLimit, formatMoney, monthName } from "../../format.ts";
import { listDays } from "../usage-columns.ts";
import { readList } from "../read-lists.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { figureColumns } from "../parts/arranged-list.tsx";
import { SpendBar } from "../parts/charts.tsx";
import { OwnerLink } from "../parts/inline.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { MonthChart } from "../parts/month-chart.tsx";
import { RowTable } from "../parts/table.tsx";
import { spendingOf } from "../limit-words.ts";
import { readUsage } from "../usage-range.ts";
import type { GroupView, KeyPageView, KeyView, LimitView, UsageRowView } from "../views.ts";
import { readLimits } from "../parts/limits.tsx";
import { readAlerts } from "../../api/alerts.ts";
import { readFindings } from "../../api/recent-requests.ts";

const SHOWN_ALERTS = 5;
const NO_ALERTS = { items: [] };
const SHOWN_ATTENTION = 3;
const LARGEST = "10";
/** Days before today that the forecast looks at. */
const FORECAST_DAYS = 7;

async function showOverview(page: OrganizationPageCall): Promise<PageAnswer> {
  const { organization, nowMs } = page;
  const [dayRows, largest, capped, overBudget, requests, limited, alerts] = await Promise.all([
    readDays(page),
    readKeys(page, { sort: "-spend", limit: LARGEST }),
    readKeys(page, { sort: "-limit", state: "cap_reached", limit: "1" }),
    readKeys(page, { sort: "-limit", state: "over_budget", limit: "1" }),
    page.api("GET /api/organizations/{organization}/requests", { query: { limit: "1" } }),
    readLimitAttention(page),
    organization.notifications.dashboard ? page.read(readAlerts, { limit: SHOWN_ALERTS }) : NO_ALERTS,
  ]);
  const spending = spendingOf(organization);
  const costs = new Map(dayRows.map(({ day = "", cost_microcents: cost }) => [day, Number(cost)]));
  const progress = measureProgress(organization.month, spending.spentMicrocents, costs, nowMs);
  const keys = [...capped.data, ...overBudget.data];
  const attention = listAttention({
    ...limited,
    organization,
    forecastMicrocents: progress.forecastMicrocents,
    keys,
    keyCounts: { cap: capped.total_count ?? 0, budget: overBudget.total_count ?? 0 },
    keyLimits: await readKeyLimits(page, keysWithReachedLimits(keys)),
    alerts: alerts.items,
    canChange: page.canChange,
  });
  const isUnused = dayRows.length === 0 && requests.body.data.length === 0;
  return showPage(
    <Layout page={page} title="Overview" section="overview">
      <AttentionList entries={attention} />
      {isUnused ? (
        <FirstSteps page={page} hasKey={largest.data.length > 0} />
      ) : (
        <Spend page={page} dayRows={dayRows} progress={progress} largest={largest} />
      )}
    </Layout>,
  );
}

function AttentionList({ entries }: { entries: readonly Attention[] }) {
  if (entries.length === 0) return null;
  const more = entries.slice(SHOWN_ATTENTION);
  return (
    <Section id="attention" title="Needs attention">
      <Entries entries={entries.slice(0, SHOWN_ATTENTION)} />
      {more.length === 0 ? null : (
        <details>
          <summary>{more.length} more</summary>
          <Entries entries={more} />
        </details>
      )}
    </Section>
  );
}

function Entries({ entries }: { entries: readonly Attention[] }) {
  return (
    <ul class="attention">
      {entries.map(({ level, text, label, path }) => (
        <li class={`notice ${level}`}>
          {text}{" "}
          <strong>
            <a href={path}>{label}</a>
          </strong>
        </li>
      ))}
    </ul>
  );
}

/** Reads the cost of each day of this month, and of the week before today. */
async function readDays(page: OrganizationPageCall): Promise<readonly UsageRowView[]> {
  const to = dayAt(page.nowMs).name;
  const [weekAgo, first] = [addDays(to, -FORECAST_DAYS), `${monthAt(page.nowMs).name}-01`];
  return (await readUsage(page, "day", { from: weekAgo < first ? weekAgo : first, to })).data;
}

async function readKeys(
  page: OrganizationPageCall,
  query: Readonly<Record<string, string>>,
): Promise<KeyPageView> {
  return (await page.api("GET /api/organizations/{organization}/keys", { query })).body;
}

interface SpendProps {
  readonly page: OrganizationPageCall;
  readonly dayRows: readonly UsageRowView[];
  readonly progress: ReturnType<typeof measureProgress>;
  readonly largest: KeyPageView;
}

function Spend({ page, dayRows, progress, largest }: SpendProps) {
  const { organization } = page;
  const { currency, month } = organization;
  const spending = spendingOf(organization);
  const { daysBegun, remainingDays, forecastMicrocents } = progress;
  const forecast = forecastMicrocents === null ? null : formatMoney(forecastMicrocents, currency);
  const figures = {
    Spent: formatMoney(spending.spentMicrocents, currency),
    Forecast: forecast ?? "after a whole day",
    "Monthly budget": formatLimit(spending.monthBudgetCents, currency),
    "Monthly cap": formatLimit(spending.monthCapCents, currency),
  };
  const heading = forecast === null ? "" : `, heading for ${forecast}`;
  const label = `${figures.Spent} spent in ${monthName(month)}${heading}; monthly cap ${figures["Monthly cap"]}, monthly budget ${figures["Monthly budget"]}`;
  const remainingText = remainingDays === 1 ? "1 day left" : `${remainingDays} days left`;
  return (
    <Section id="spend" title={`${monthName(month)}, ${remainingText}`}>
      <div class="card">
        <dl class="figures">
          {Object.entries(figures).map(([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <SpendBar spending={spending} currency={currency} />
      </div>
      <div class="columns halves">
        <div>
          <MonthChart
            days={listDays(month, dayRows)}
            {...{ daysBegun, forecastMicrocents, spending, currency, label }}
          />
          <ChartNote page={page} />
        </div>
        <Largest page={page} keys={largest} />
      </div>
    </Section>
  );
}

function ChartNote({ page: { base, organization } }: { page: OrganizationPageCall }) {
  return (
    <p class="quiet">
      The forecast repeats the last seven days by weekday.{" "}
      {organization.limits.some(({ kind }) => kind === "cap") ? null : (
        <>
          No hard cap is set for this organization. Set one in{" "}
          <a href={`${base}/settings#limits`}>Inference settings</a>.
        </>
      )}
    </p>
  );
}

/** The keys that spend most, with a link to all. */
function Largest({ page, keys }: { page: OrganizationPageCall; keys: KeyPageView }) {
  const { base } = page;
  const [spent, limit] = figureColumns<KeyPageView["data"][number]>("key", page);
  return (
    <div>
      <RowTable
        label="Largest API keys"
        class="list"
        columns={[
          { label: "largest API keys", cell: (key) => <OwnerLink base={base} kind="keys" owner={key} /> },
          spent,
          limit,
        ]}
        rows={keys.data}
        empty="No API keys yet."
      />
      <p>
        <a href={`${base}/keys`}>All {keys.total_count} API keys</a> ·{" "}
        <a href={`${base}/usage`}>Usage by day, key and model</a>
      </p>
    </div>
  );
}

/** Shown in place of empty charts. */
function FirstSteps({ page, hasKey }: { page: OrganizationPageCall; hasKey: boolean }) {
  const { base } = page;
  return (
    <Section class="card empty" id="first" title="Three steps to the first response">
      <ol class="steps">
        <Step isDone={hasKey}>
          <a href={`${base}/keys/new`}>Create an API key</a>
        </Step>
        <Step isDone={false}>
          <a href={`${base}/try`}>Copy a snippet and send the first request</a>
        </Step>
        <Step isDone={page.organization.limits.length > 0}>
          <a href={`${base}/settings`}>Set a cap and choose who is notified when it is near</a>
        </Step>
      </ol>
    </Section>
  );
}

function Step({ isDone, children }: { isDone: boolean; children?: Child }) {
  return (
    <li>
      {children}
      {isDone ? <span class="state good">done</span> : null}
    </li>
  );
}

const GROUPS = "GET /api/organizations/{organization}/groups";
/** Enough for the maximum number of groups. */
const MAX_GROUP_PAGES = 10;

/** Reads the current limits of these keys, by key id. */
async function readKeyLimits(
  page: OrganizationPageCall,
  keys: readonly KeyView[],
): Promise<ReadonlyMap<string, readonly LimitView[]>> {
  const call = "GET /api/organizations/{organization}/keys/{key}/limits";
  const entries = keys.map(async ({ id }) => {
    const { body } = await page.api(call, { params: { key: id } });
    return [id, body.data] as const;
  });
  return new Map(await Promise.all(entries));
}

/** Reads the current windows, and from recent requests which limits rejected requests. */
async function readLimitAttention(page: OrganizationPageCall): Promise<LimitAttentionInput> {
  const { organization, nowMs } = page;
  const [{ items: groups }, { data: limits }, findings] = await Promise.all([
    readList<GroupView>(page.api, GROUPS, MAX_GROUP_PAGES, { sort: "-limit" }),
    readLimits(page, "organization"),
    page.read(readFindings, nowMs),
  ]);
  return { organization, nowMs, groups, limits, ...findings };
}

export const overviewRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization", runInOrganization: showOverview },
];
