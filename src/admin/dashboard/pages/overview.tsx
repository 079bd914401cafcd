/** @jsxImportSource hono/jsx */
/** *Overview*: what needs somebody, then the month's spend against budget and cap, by key and by model. */
import type { Child } from "hono/jsx";
import { monthAt } from "../../../time/calendar.ts";
import { readKeyNames } from "../../api/read-key-names.ts";
import { listAttention } from "../attention.ts";
import type { Attention } from "../attention-entry.ts";
import { readLimitAttention } from "../read-limit-attention.ts";
import { formatLimit, formatMoney, formatTickMoney, monthName } from "../../format.ts";
import { listDays, measureProgress } from "../month-figures.ts";
import { MAX_KEY_PAGES } from "../name-keys.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { AlertList } from "../parts/alert-list.tsx";
import { SpendBar } from "../parts/charts.tsx";
import { Layout } from "../parts/layout.tsx";
import { MonthChart } from "../parts/month-chart.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import { UsageByKey, UsageByModel } from "../parts/usage-table.tsx";
import { readList } from "../read-lists.ts";
import { readUsage } from "../read-usage.ts";
import { MONTH_NAMES } from "../../../settings/limits.ts";
import { spendingOf } from "../spending.ts";
import { columnsOf, gatherCost } from "../usage-columns.ts";
import { groupByKey } from "../usage-groups.ts";
import { addDays } from "../usage-range.ts";
import type { KeyView, UsageRowView } from "../views.ts";

const SHOWN_ALERTS = 5;

async function showOverview(page: OrganizationPageCall): Promise<PageAnswer> {
  const { id, currency } = page.organization;
  const { store } = page.options;
  const [usage, { items: keys }, requests, limited, alerts] = await Promise.all([
    readUsage(page, "day,key,model"),
    readList<KeyView>(page.api, "GET /api/organizations/{organization}/keys", MAX_KEY_PAGES),
    page.api("GET /api/organizations/{organization}/requests", { query: { limit: "1" } }),
    readLimitAttention(page),
    readAlerts(page),
  ]);
  const rows = usage.data;
  const names = await readKeyNames(
    store,
    id,
    rows.map((row) => row.key_id ?? null),
  );
  const spending = spendingOf(page.organization);
  const progress = measureProgress(page.organization.month, spending.spentMicrocents, page.nowMs);
  const attention = listAttention({
    ...limited,
    organization: page.organization,
    forecastMicrocents: progress.forecastMicrocents,
    keys,
    alerts: alerts ?? [],
  });
  const isUnused = rows.length === 0 && requests.body.data.length === 0;
  return showPage(
    <Layout page={page} title="Overview" section="overview">
      <AttentionList entries={attention} />
      {isUnused ? (
        <FirstSteps page={page} hasKey={keys.length > 0} />
      ) : (
        <>
          <Spend page={page} dayRows={rows} progress={progress} />
          <Days page={page} rows={rows} names={names} />
          <UsageByKey rows={rows} currency={currency} names={names} />
          <UsageByModel rows={rows} currency={currency} />
        </>
      )}
      {alerts === null || isUnused ? null : <RecentAlerts page={page} alerts={alerts} />}
    </Layout>,
  );
}

function AttentionList({ entries }: { entries: readonly Attention[] }) {
  if (entries.length === 0) return null;
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
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
    </section>
  );
}

interface DaysProps {
  readonly page: OrganizationPageCall;
  readonly rows: readonly UsageRowView[];
  readonly names: ReadonlyMap<string, string>;
}

function Days({ page, rows, names }: DaysProps) {
  const { currency } = page.organization;
  const month = monthAt(page.nowMs);
  const range = {
    from: `${month.name}-01`,
    to: addDays(new Date(month.endMs).toISOString().slice(0, 10), -1),
  };
  const columns = columnsOf(range);
  return (
    <section aria-labelledby="days">
      <h2 id="days">Day by day</h2>
      <StackedColumns
        label="Cost day by day, by key"
        columns={columns.titles}
        series={gatherCost(columns, rows, groupByKey(names))}
        unit={currency}
        format={(microcents) => formatMoney(microcents, currency)}
        formatTick={formatTickMoney}
      />
      <p>
        <a href={`${page.base}/usage`}>Usage of other days, of one key or model, as CSV</a>
      </p>
    </section>
  );
}

type Alerts = Awaited<ReturnType<OrganizationPageCall["options"]["store"]["listAlerts"]>>["items"];

/** Null where the organization has none shown here. */
async function readAlerts({ organization, options }: OrganizationPageCall): Promise<Alerts | null> {
  if (!organization.notifications.dashboard) return null;
  return (
    await options.store.listAlerts(organization.id, { limit: SHOWN_ALERTS, after: null, wholeMessages: true })
  ).items;
}

function RecentAlerts({ page, alerts }: { page: OrganizationPageCall; alerts: Alerts }) {
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Recent alerts</h2>
      {alerts.length === 0 ? (
        <p class="quiet">
          None. Alerts come at 80 % and 100 % of a budget, and at 90 % and 100 % of a hard cap.
        </p>
      ) : (
        <AlertList page={page} alerts={alerts} />
      )}
    </section>
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
  const label = `${spent} spent in ${monthName(month)}${forecast === null ? "" : `, heading for ${forecast}`}; hard cap ${hardCap}, budget ${budget}`;
  return (
    <section aria-labelledby="spend">
      <h2 id="spend">{monthName(month)}</h2>
      <dl class="figures">
        <Figure name="Spent" value={spent} />
        <Figure name="Hard cap" value={hardCap} />
        <Figure name="Budget" value={budget} />
        <Figure name="Forecast" value={forecast ?? "from the second day on"} />
        <Figure name="Days left" value={String(daysLeft)} />
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
      {spending.monthCapCents === null ? (
        <p class="quiet">
          There is no hard cap. Set one in{" "}
          <a href={`${page.base}/settings#${MONTH_NAMES.cap}`}>Inference settings</a>.
        </p>
      ) : null}
    </section>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** In place of empty charts. */
function FirstSteps({ page, hasKey }: { page: OrganizationPageCall; hasKey: boolean }) {
  const { base } = page;
  const { monthCapCents: cap, monthBudgetCents: budget } = spendingOf(page.organization);
  return (
    <section class="card empty" aria-labelledby="first">
      <h2 id="first">Three steps to the first answer</h2>
      <ol class="steps">
        <Step isDone={hasKey}>
          <a href={`${base}/keys/new`}>Create an API key</a>
        </Step>
        <Step isDone={false}>
          <a href={`${base}/try`}>Copy a snippet and send the first request</a>
        </Step>
        <Step isDone={cap !== null || budget !== null}>
          <a href={`${base}/settings`}>Set a cap and say who is told when it is near</a>
        </Step>
      </ol>
    </section>
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

export const overviewRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization", runInOrganization: showOverview },
];
