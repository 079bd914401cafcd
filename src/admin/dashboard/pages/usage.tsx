/** @jsxImportSource hono/jsx */
/** *Usage*: what a stretch of days cost, by key, model and day; CSV; the operator's corrections. */
import { randomBytes } from "node:crypto";
import { readKeyNames } from "../../api/read-key-names.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { formatCount, formatMoney, formatTickCount, formatTickMoney } from "../../format.ts";
import { formatUsageCsv } from "../format-usage-csv.ts";
import { nameKeys } from "../name-keys.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { CORRECTION_FIELDS, CorrectionForm, readCorrection } from "../parts/correction-form.tsx";
import { ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import { readUsageFilters, UsageFilters, type UsageFilterValues } from "../parts/usage-filters.tsx";
import { UsageExport } from "../parts/usage-export.tsx";
import { CORRECTIONS, UsageByKey, UsageByModel, UsageTable } from "../parts/usage-table.tsx";
import { submit } from "../submit.ts";
import { gatherColumns } from "../usage-columns.ts";
import { addUp, daysIn, rangeBefore, readUsageRange, type UsageSum } from "../usage-range.ts";
import type { CatalogView, UsageRowView } from "../views.ts";

const PATH = "/organizations/:organization/usage";

function showUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  return renderUsage(page, NO_PROBLEMS);
}

interface Shown {
  readonly filters: UsageFilterValues;
  readonly rows: readonly UsageRowView[];
  readonly before: readonly UsageRowView[];
  /** Key id → name, of deleted ones too. */
  readonly names: ReadonlyMap<string, string>;
}

async function readShown(page: OrganizationPageCall): Promise<Shown> {
  const filters = readUsageFilters(page);
  const isWanted = (row: UsageRowView): boolean =>
    (filters.key === "" || row.key_id === filters.key) &&
    (filters.model === "" || row.model === filters.model);
  const [rows, before] = await Promise.all([
    readUsageRange(page, filters.range, filters),
    readUsageRange(page, rangeBefore(filters.range), filters),
  ]);
  const wanted = rows.filter(isWanted);
  const ids = wanted.map((row) => row.key_id ?? null);
  const names = await readKeyNames(page.options.store, page.organization.id, ids);
  return { filters, rows: wanted, before: before.filter(isWanted), names };
}

async function renderUsage(page: OrganizationPageCall, problems: Problems): Promise<PageAnswer> {
  const [shown, keys, catalog] = await Promise.all([
    readShown(page),
    nameKeys(page),
    page.api("GET /api/catalog"),
  ]);
  const { currency } = page.organization;
  const { data } = catalog.body as CatalogView;
  const models = data.map((model) => model.id);
  const priced = data.filter((model) => model.prices[currency] !== undefined).map((model) => model.id);
  return {
    status: problems.size === 0 ? 200 : 400,
    markup: (
      <Layout page={page} title="Usage" section="usage">
        <ProblemSummary problems={problems} fields={CORRECTION_FIELDS} />
        <UsageFilters
          page={page}
          filters={shown.filters}
          keys={new Map([...keys, ...shown.names])}
          models={models}
        />
        <Totals shown={shown} currency={currency} />
        <Charts shown={shown} currency={currency} />
        <Tables shown={shown} currency={currency} />
        <UsageExport page={page} />
        {page.isOperator ? (
          <CorrectionForm
            page={page}
            problems={problems}
            keys={keys}
            models={priced}
            id={page.form.text("id") || randomBytes(12).toString("hex")}
          />
        ) : null}
      </Layout>
    ),
  };
}

interface TotalFigure {
  readonly name: string;
  readonly of: (sum: UsageSum) => number;
  readonly format: (value: number, currency: string) => string;
}

const TOTALS: readonly TotalFigure[] = [
  { name: "Cost", of: ({ microcents }) => microcents, format: formatMoney },
  { name: "Requests", of: ({ requests }) => requests, format: formatCount },
  { name: "Input tokens", of: ({ inputTokens }) => inputTokens, format: formatCount },
  { name: "Cached input tokens", of: ({ cachedInputTokens }) => cachedInputTokens, format: formatCount },
  { name: "Output tokens", of: ({ outputTokens }) => outputTokens, format: formatCount },
];

function Totals({ shown, currency }: { shown: Shown; currency: string }) {
  const now = addUp(shown.rows);
  const before = addUp(shown.before);
  const { from, to } = rangeBefore(shown.filters.range);
  return (
    <>
      <dl class="figures">
        {TOTALS.map(({ name, of, format }) => (
          <div>
            <dt>{name}</dt>
            <dd>
              {format(of(now), currency)} <span class="below">{describeChange(of(now), of(before))}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        Compared with the {daysIn(shown.filters.range).length} days before ({from} to {to}).
      </p>
    </>
  );
}

/** "+12 %" against the period before. */
function describeChange(now: number, before: number): string {
  if (before <= 0) return now <= 0 ? "as before" : "nothing before";
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${formatCount(Math.abs(percent))} %`;
}

function Tables({ shown, currency }: { shown: Shown; currency: string }) {
  return (
    <>
      <UsageByKey rows={shown.rows} currency={currency} names={shown.names} />
      <UsageByModel rows={shown.rows} currency={currency} />
      {shown.filters.byTag === "" ? null : (
        <UsageTable
          id="by-tag"
          title={`By ${shown.filters.byTag}`}
          rows={shown.rows}
          currency={currency}
          groupOf={(row) => nameOfGroup(row, shown.filters, shown.names)}
        />
      )}
      <UsageTable
        id="by-day"
        title="By day"
        rows={shown.rows}
        currency={currency}
        groupOf={(row) => row.day ?? ""}
        inOrder
      />
    </>
  );
}

/** What a row is stacked under. */
function nameOfGroup(
  row: UsageRowView,
  { by, byTag }: UsageFilterValues,
  names: ReadonlyMap<string, string>,
): string {
  if (byTag !== "") return row.tags?.[byTag] ?? `without ${byTag}`;
  if (by === "model") return row.model ?? CORRECTIONS;
  return row.key_id ? (names.get(row.key_id) ?? row.key_id) : CORRECTIONS;
}

function Charts({ shown, currency }: { shown: Shown; currency: string }) {
  const { filters, rows, before, names } = shown;
  const groupOf = (row: UsageRowView): string => nameOfGroup(row, filters, names);
  const what = filters.byTag === "" ? filters.by : `tag ${filters.byTag}`;
  const cost = gatherColumns(filters.range, rows, groupOf, (row) => row.cost_microcents);
  const costBefore = gatherColumns(
    rangeBefore(filters.range),
    before,
    () => "",
    (row) => row.cost_microcents,
  );
  const tokens = gatherColumns(filters.range, rows, null, null);
  return (
    <>
      <section aria-labelledby="cost">
        <h2 id="cost">Cost by {what}</h2>
        <StackedColumns
          label={`Cost by ${what}`}
          columns={cost.columns}
          series={cost.series}
          before={before.length === 0 ? null : (costBefore.series[0]?.values ?? null)}
          format={(microcents) => formatMoney(microcents, currency)}
          formatTick={formatTickMoney}
        />
      </section>
      <section aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        <StackedColumns
          label="Tokens: input, cached input, output"
          columns={tokens.columns}
          series={tokens.series}
          format={formatCount}
          formatTick={formatTickCount}
        />
      </section>
    </>
  );
}

async function downloadUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const { filters, rows, names } = await readShown(page);
  const { from, to } = filters.range;
  return {
    text: formatUsageCsv(rows, names, page.organization.currency),
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="usage-${page.organization.id}-${from}-${to}.csv"`,
    },
  };
}

/** The API's own answer, as it streams. */
async function exportUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const given = ["month", "format"].flatMap((name) => {
    const value = page.query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const { body, headers } = await page.api("GET /api/organizations/{organization}/usage/export", {
    params: { organization: page.organization.id },
    query: Object.fromEntries(given),
  });
  return { text: body instanceof ReadableStream ? body : "", headers: headers ?? {} };
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
    refused: (problems) => renderUsage(page, problems),
  });
}

export const usagePageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showUsage },
  { method: "GET", path: `${PATH}.csv`, runInOrganization: downloadUsage },
  { method: "GET", path: `${PATH}/export`, runInOrganization: exportUsage },
  { method: "POST", path: `${PATH}/corrections`, access: "operator", runInOrganization: correctSpend },
];
