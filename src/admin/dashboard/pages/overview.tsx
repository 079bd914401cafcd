/** @jsxImportSource hono/jsx */
/** *Overview*: the month's spend against budget and cap, day by day, by key and by model. */
import { formatLimit, formatMoney, monthName } from "../../format.ts";
import { listDays, measureProgress } from "../month-figures.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { AlertList } from "../parts/alert-list.tsx";
import { DayChart, MonthChart, SpendBar } from "../parts/charts.tsx";
import { Layout } from "../parts/layout.tsx";
import { UsageByKey, UsageByModel } from "../parts/usage-table.tsx";
import { nameKeys } from "../name-keys.ts";
import { readUsage } from "../read-usage.ts";
import { isCapReached, isOverCap, spendingOf } from "../spending.ts";

const SHOWN_ALERTS = 5;

async function showOverview(page: OrganizationPageCall): Promise<PageAnswer> {
  const [days, keys, models, names, alerts] = await Promise.all([
    readUsage(page, "day"),
    readUsage(page, "key"),
    readUsage(page, "model"),
    nameKeys(page),
    readAlerts(page),
  ]);
  const isUnused = days.data.length === 0;
  return {
    markup: (
      <Layout page={page} title="Overview" section="overview">
        <Spend page={page} dayRows={days.data} />
        {isUnused ? <FirstSteps page={page} /> : null}
        <section aria-labelledby="days">
          <h2 id="days">Day by day</h2>
          <DayChart days={listDays(days.month, days.data)} currency={days.currency} />
        </section>
        <div class="columns">
          <UsageByKey usage={keys} names={names} />
          <UsageByModel usage={models} />
        </div>
        {alerts === null ? null : <RecentAlerts page={page} alerts={alerts} />}
      </Layout>
    ),
  };
}

type Alerts = Awaited<ReturnType<OrganizationPageCall["options"]["store"]["listAlerts"]>>["items"];

/** Null where the organization has none shown here. */
async function readAlerts({ organization, options }: OrganizationPageCall): Promise<Alerts | null> {
  if (!organization.notifications.dashboard) return null;
  return (await options.store.listAlerts(organization.id, { limit: SHOWN_ALERTS, after: null })).items;
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

type Rows = Awaited<ReturnType<typeof readUsage>>["data"];

function Spend({ page, dayRows }: { page: OrganizationPageCall; dayRows: Rows }) {
  const { organization } = page;
  const { currency, month } = organization;
  const spending = spendingOf(organization);
  const { daysBegun, daysLeft, forecastMicrocents } = measureProgress(
    month,
    spending.spentMicrocents,
    page.nowMs,
  );
  const spent = formatMoney(spending.spentMicrocents, currency);
  const hardCap = formatLimit(spending.hardCapCents, currency);
  const budget = formatLimit(spending.budgetCents, currency);
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
      <Verdict page={page} forecastMicrocents={forecastMicrocents} />
      <MonthChart
        days={listDays(month, dayRows)}
        daysBegun={daysBegun}
        forecastMicrocents={forecastMicrocents}
        spending={spending}
        currency={currency}
        label={label}
      />
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

/** One sentence that says whether anything must be done. */
function Verdict(props: { page: OrganizationPageCall; forecastMicrocents: number | null }) {
  const { organization } = props.page;
  const settings = <a href={`/organizations/${organization.id}/settings`}>Inference settings</a>;
  const spending = spendingOf(organization);
  if (organization.suspended) {
    return <p class="notice bad">This organization is suspended: every key is refused. Ask the operator.</p>;
  }
  if (isCapReached(spending)) {
    return (
      <p class="notice bad">
        The organization's hard cap is reached: requests that cost money are refused with 402. Raise it in{" "}
        {settings}, or wait for the next month.
      </p>
    );
  }
  if (isOverCap(spending, props.forecastMicrocents ?? 0)) {
    return (
      <p class="notice warn">
        At this pace the hard cap is reached before the month ends. Change it in {settings}.
      </p>
    );
  }
  if (spending.hardCapCents === null) {
    return <p class="quiet">There is no hard cap. Set one in {settings}.</p>;
  }
  return null;
}

function FirstSteps({ page }: { page: OrganizationPageCall }) {
  const base = `/organizations/${page.organization.id}`;
  return (
    <section class="card empty" aria-labelledby="first">
      <h2 id="first">Nothing was used this month yet</h2>
      <ol>
        <li>
          <a href={`${base}/keys/new`}>Create an API key</a>
        </li>
        <li>
          <a href={`${base}/try`}>Copy a snippet and send the first request</a>
        </li>
        <li>
          <a href={`${base}/settings`}>Set a cap and say who is told when it is near</a>
        </li>
      </ol>
    </section>
  );
}

export const overviewRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization", runInOrganization: showOverview },
];
