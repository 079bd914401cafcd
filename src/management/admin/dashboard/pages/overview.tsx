/** *Overview*: items that need attention, then the month's spend against budget and cap, by key and by model. */
import type { Child } from "hono/jsx";
import { monthAt } from "../../../../shared/time/calendar.ts";
import { addDays } from "../../../../shared/time/day-range.ts";
import { AdminError } from "../../admin-error.ts";
import { keysWithReachedLimits, listAttention } from "../attention.ts";
import type { Attention, LimitAttentionInput } from "../limit-attention.ts";
import { formatLimit, formatMoney, formatTickMoney, monthName } from "../../format.ts";
import {
  columnsOf,
  gatherCost,
  GROUP_BY_MODEL,
  groupByKey,
  type Grouping,
  listDays,
  measureProgress,
} from "../usage-columns.ts";
import { MAX_KEY_PAGES, readList } from "../read-lists.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { AlertList } from "../parts/alert-list.tsx";
import { SpendBar } from "../parts/charts.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { MonthChart } from "../parts/month-chart.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import { UsageByKey, UsageByModel } from "../parts/usage-table.tsx";
import { MONTH_NAMES } from "../../../../shared/settings/limits.ts";
import { spendingOf } from "../limit-words.ts";
import { readUsage } from "../usage-range.ts";
import type { GroupView, KeyView, LimitFiguresView, UsageRowView } from "../views.ts";
import { readLimits } from "../parts/limits.tsx";
import { nameStopped, scanRecent } from "../recent-requests.ts";

const SHOWN_ALERTS = 5;

async function showOverview(page: OrganizationPageCall): Promise<PageAnswer> {
  const { currency } = page.organization;
  const [[byModel, byKey], { items: keys }, requests, limited, alerts] = await Promise.all([
    readMonth(page),
    readList<KeyView>(page.api, "GET /api/organizations/{organization}/keys", MAX_KEY_PAGES),
    page.api("GET /api/organizations/{organization}/requests", { query: { limit: "1" } }),
    readLimitAttention(page),
    readAlerts(page),
  ]);
  const spending = spendingOf(page.organization);
  const progress = measureProgress(page.organization.month, spending.spentMicrocents, page.nowMs);
  const attention = listAttention({
    ...limited,
    organization: page.organization,
    forecastMicrocents: progress.forecastMicrocents,
    keys,
    keyLimits: await readKeyLimits(page, keysWithReachedLimits(keys)),
    alerts: alerts ?? [],
    canChange: page.canChange,
  });
  const isUnused = byModel.length === 0 && requests.body.data.length === 0;
  return showPage(
    <Layout page={page} title="Overview" section="overview">
      <AttentionList entries={attention} />
      {isUnused ? (
        <FirstSteps page={page} hasKey={keys.length > 0} />
      ) : (
        <>
          <Spend page={page} dayRows={byModel} progress={progress} />
          {byKey === null ? (
            <Days page={page} rows={byModel} by="model" grouping={GROUP_BY_MODEL} />
          ) : (
            <Days page={page} rows={byKey} by="key" grouping={groupByKey(byKey)} />
          )}
          {byKey === null ? null : <UsageByKey rows={byKey} currency={currency} />}
          <UsageByModel rows={byModel} currency={currency} />
        </>
      )}
      {alerts === null || isUnused ? null : <RecentAlerts page={page} alerts={alerts} />}
    </Layout>,
  );
}

function AttentionList({ entries }: { entries: readonly Attention[] }) {
  if (entries.length === 0) return null;
  return (
    <Section id="attention" title="Needs attention">
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
    </Section>
  );
}

/**
 * Reads this month's rows by day and model, and by day and key: together in one call, unless those are too
 * many for one report. Null: even those by day and key are too many.
 */
async function readMonth(
  page: OrganizationPageCall,
): Promise<[readonly UsageRowView[], readonly UsageRowView[] | null]> {
  const rows = await readRows(page, "day,key,model");
  if (rows !== null) return [rows, rows];
  return [(await readUsage(page, "day,model")).data, await readRows(page, "day,key")];
}

/** Null: too many rows for one report. */
async function readRows(
  page: OrganizationPageCall,
  groupBy: string,
): Promise<readonly UsageRowView[] | null> {
  try {
    return (await readUsage(page, groupBy)).data;
  } catch (error) {
    if (error instanceof AdminError && error.code === "invalid_parameter") return null;
    throw error;
  }
}

interface DaysProps {
  readonly page: OrganizationPageCall;
  readonly rows: readonly UsageRowView[];
  /** Name of the grouping: "key". */
  readonly by: string;
  readonly grouping: Grouping;
}

function Days({ page, rows, by, grouping }: DaysProps) {
  const { currency } = page.organization;
  const month = monthAt(page.nowMs);
  const range = {
    from: `${month.name}-01`,
    to: addDays(new Date(month.endMs).toISOString().slice(0, 10), -1),
  };
  const columns = columnsOf(range);
  return (
    <Section id="days" title="Day by day">
      <StackedColumns
        label={`Cost day by day, by ${by}`}
        columns={columns.titles}
        series={gatherCost(columns, rows, grouping)}
        unit={currency}
        format={(microcents) => formatMoney(microcents, currency)}
        formatTick={formatTickMoney}
      />
      <p>
        <a href={`${page.base}/usage`}>Usage of other days, of one key or model, as CSV</a>
      </p>
    </Section>
  );
}

type Alerts = Awaited<ReturnType<OrganizationPageCall["options"]["store"]["listAlerts"]>>["items"];

/** Null if the organization disables alerts on the dashboard. */
async function readAlerts({ organization, options }: OrganizationPageCall): Promise<Alerts | null> {
  if (!organization.notifications.dashboard) return null;
  return (
    await options.store.listAlerts(organization.id, { limit: SHOWN_ALERTS, after: null, wholeMessages: true })
  ).items;
}

function RecentAlerts({ page, alerts }: { page: OrganizationPageCall; alerts: Alerts }) {
  return (
    <Section id="alerts" title="Recent alerts">
      {alerts.length === 0 ? (
        <p class="quiet">
          None. Alerts come at 80 % and 100 % of a budget, and at 90 % and 100 % of a hard cap.
        </p>
      ) : (
        <AlertList page={page} alerts={alerts} />
      )}
    </Section>
  );
}

interface SpendProps {
  readonly page: OrganizationPageCall;
  readonly dayRows: readonly UsageRowView[];
  readonly progress: ReturnType<typeof measureProgress>;
}

function Spend({ page, dayRows, progress }: SpendProps) {
  const { organization } = page;
  const { currency, month } = organization;
  const spending = spendingOf(organization);
  const { daysBegun, daysLeft, forecastMicrocents } = progress;
  const spent = formatMoney(spending.spentMicrocents, currency);
  const hardCap = formatLimit(spending.monthCapCents, currency);
  const budget = formatLimit(spending.monthBudgetCents, currency);
  const forecast = forecastMicrocents === null ? null : formatMoney(forecastMicrocents, currency);
  const figures = [
    ["Spent", spent],
    ["Monthly cap", hardCap],
    ["Monthly budget", budget],
    ["Forecast", forecast ?? "from the second day on"],
    ["Days left", String(daysLeft)],
  ] as const;
  const label = `${spent} spent in ${monthName(month)}${forecast === null ? "" : `, heading for ${forecast}`}; monthly cap ${hardCap}, monthly budget ${budget}`;
  return (
    <Section id="spend" title={monthName(month)}>
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <SpendBar spending={spending} currency={currency} />
      <MonthChart
        days={listDays(month, dayRows)}
        daysBegun={daysBegun}
        forecastMicrocents={forecastMicrocents}
        spending={spending}
        currency={currency}
        label={label}
      />
      {organization.limits.some(({ kind }) => kind === "cap") ? null : (
        <p class="quiet">
          No hard cap is set for this organization. Set one in{" "}
          <a href={`${page.base}/settings#${MONTH_NAMES.cap}`}>Inference settings</a>.
        </p>
      )}
    </Section>
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
): Promise<ReadonlyMap<string, readonly LimitFiguresView[]>> {
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
  const { store } = page.options;
  const [{ items: groups }, { data: limits }, recent] = await Promise.all([
    readList<GroupView>(page.api, GROUPS, MAX_GROUP_PAGES, { sort: "-limit" }),
    readLimits(page, "organization"),
    scanRecent(store, organization.id, nowMs),
  ]);
  const names = await nameStopped(store, organization.id, recent);
  return { organization, nowMs, groups, limits, recent, names };
}

export const overviewRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization", runInOrganization: showOverview },
];
