/** @jsxImportSource hono/jsx */
/** *Usage*: a month by day, key and model; CSV; the operator's corrections. */
import { randomBytes } from "node:crypto";
import { monthAt, monthsBackFrom, parseMonth } from "../../../calendar.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { formatMoney, monthName } from "../../format.ts";
import { listDays } from "../month-figures.ts";
import { nameKeys } from "../name-keys.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { DayChart } from "../parts/charts.tsx";
import { CorrectionForm, readCorrection } from "../parts/correction-form.tsx";
import { ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { UsageByKey, UsageByModel, UsageTable } from "../parts/usage-table.tsx";
import { readUsage } from "../read-usage.ts";
import { submit } from "../submit.ts";
import type { UsageView } from "../views.ts";

const PATH = "/organizations/:organization/usage";
/** As many as the longest retention that is offered by default. */
const MONTHS_BACK = 12;

function showUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  return renderUsage(page, page.query.get("month") ?? monthAt(page.nowMs).name, NO_PROBLEMS);
}

async function renderUsage(
  page: OrganizationPageCall,
  month: string,
  problems: Problems,
): Promise<PageAnswer> {
  const [days, keys, models, names] = await Promise.all([
    readUsage(page, "day", month),
    readUsage(page, "key", month),
    readUsage(page, "model", month),
    nameKeys(page),
  ]);
  const total = days.data.reduce((sum, row) => sum + row.cost_microcents, 0);
  return {
    status: problems.size === 0 ? 200 : 400,
    markup: (
      <Layout page={page} title="Usage" section="usage">
        <ProblemSummary problems={problems} fields={["amount", "key_id", "reason"]} />
        <MonthPicker page={page} month={month} />
        <section aria-labelledby="days">
          <h2 id="days">
            {monthName(month)}: {formatMoney(total, days.currency)}
          </h2>
          <DayChart days={listDays(month, days.data)} currency={days.currency} />
        </section>
        <Tables days={days} keys={keys} models={models} names={names} />
        {page.isOperator ? (
          <CorrectionForm
            page={page}
            problems={problems}
            keys={names}
            id={page.form.text("id") || randomBytes(12).toString("hex")}
          />
        ) : null}
      </Layout>
    ),
  };
}

interface TablesProps {
  readonly days: UsageView;
  readonly keys: UsageView;
  readonly models: UsageView;
  readonly names: ReadonlyMap<string, string>;
}

function Tables({ days, keys, models, names }: TablesProps) {
  return (
    <>
      <UsageByKey usage={keys} names={names} />
      <UsageByModel usage={models} />
      <UsageTable
        id="by-day"
        title="By day"
        rows={days.data}
        currency={days.currency}
        nameOf={(row) => row.day ?? ""}
        inOrder
      />
    </>
  );
}

function MonthPicker({ page, month }: { page: OrganizationPageCall; month: string }) {
  const base = `/organizations/${page.organization.id}/usage`;
  const months = monthsBackFrom(monthAt(page.nowMs), MONTHS_BACK).map((period) => period.name);
  const shown = months.includes(month) || parseMonth(month) === null ? months : [month, ...months];
  return (
    <div class="actions">
      <form method="get" action={base} class="inline">
        <label for="month">Month</label>
        <select id="month" name="month">
          {shown.map((name) => (
            <option value={name} selected={name === month}>
              {monthName(name)}
            </option>
          ))}
        </select>
        <button type="submit" class="quiet">
          Show
        </button>
      </form>
      <a href={`${base}.csv?month=${encodeURIComponent(month)}`}>Download CSV</a>
    </div>
  );
}

async function downloadUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const month = page.query.get("month");
  const { body, headers } = await page.api("GET /api/organizations/{organization}/usage", {
    params: { organization: page.organization.id },
    query: { group_by: "day,key,model", format: "csv", ...(month === null ? {} : { month }) },
  });
  return { text: typeof body === "string" ? body : "", headers: headers ?? {} };
}

function correctSpend(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      await page.api("POST /api/organizations/{organization}/spend-corrections", {
        params: { organization: page.organization.id },
        body: readCorrection(page.form),
        idempotencyKey: page.form.text("id"),
      });
      return { redirect: `/organizations/${page.organization.id}/usage?done=corrected` };
    },
    refused: (problems) => renderUsage(page, monthAt(page.nowMs).name, problems),
  });
}

export const usagePageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showUsage },
  { method: "GET", path: `${PATH}.csv`, runInOrganization: downloadUsage },
  { method: "POST", path: `${PATH}/corrections`, access: "operator", runInOrganization: correctSpend },
];
