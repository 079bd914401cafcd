/** *Usage*: cost of a range of days, by key, model and day; CSV; the operator's corrections. */
import { randomBytes } from "node:crypto";
import { AdminError } from "../../admin-error.ts";
import { readKeyNames } from "../../api/names.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage, submit } from "../page.ts";
import { formatCount, formatMoney, formatTickCount, formatTickMoney } from "../../format.ts";
import { formatUsageCsv } from "../format-usage-csv.ts";
import { nameKeys } from "../read-lists.ts";
import { CORRECTION_FIELDS, CorrectionForm, readCorrection } from "../parts/correction-form.tsx";
import { ProblemSummary } from "../parts/fields.tsx";
import { FilterProblem } from "../parts/filter-fields.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import {
  readUsageFilters,
  UsageExport,
  UsageFilters,
  type UsageFilterValues,
} from "../parts/usage-filters.tsx";
import { UsageByKey, UsageByModel, UsageTable } from "../parts/usage-table.tsx";
import {
  columnsOf,
  gatherCost,
  gatherCostBefore,
  gatherTokens,
  GROUP_BY_MODEL,
  groupByKey,
  groupByTag,
  type Grouping,
  keyNamesIn,
} from "../usage-columns.ts";
import {
  addUp,
  daysIn,
  rangeBefore,
  type RangeUsage,
  readUsageRange,
  type UsageFigure,
} from "../usage-range.ts";
import type { UsageRowView } from "../views.ts";

const PATH = "/organizations/:organization/usage";

interface Shown {
  readonly filters: UsageFilterValues;
  readonly rows: readonly UsageRowView[];
  readonly before: readonly UsageRowView[];
  readonly tags: Pick<RangeUsage, "monthsWithOther" | "mostCombinations">;
}

async function readShown(page: OrganizationPageCall): Promise<Shown> {
  const filters = readUsageFilters(page);
  const { rows, ...tags } = await readUsageRange(page, filters.range, filters);
  const before = await readUsageRange(page, rangeBefore(filters.range), filters);
  return { filters, rows, before: before.rows, tags };
}

/** Reads usage; problems of a filter are shown next to the fields. */
async function tryToRead(page: OrganizationPageCall): Promise<{ shown: Shown; problem: string | null }> {
  try {
    return { shown: await readShown(page), problem: null };
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 400) throw error;
    const shown = {
      filters: readUsageFilters(page),
      rows: [],
      before: [],
      tags: NO_OTHER_TAGS,
    };
    return { shown, problem: error.message };
  }
}

async function showUsage(page: OrganizationPageCall, problems: Problems = NO_PROBLEMS): Promise<PageAnswer> {
  const [{ shown, problem }, keys, chosen, catalog] = await Promise.all([
    tryToRead(page),
    nameKeys(page),
    readKeyNames(page.options.store, page.organization.id, [readUsageFilters(page).key || null]),
    page.api("GET /api/catalog"),
  ]);
  const { currency } = page.organization;
  const { data } = catalog.body;
  const models = data.map((model) => model.id);
  const priced = data.filter((model) => model.prices[currency] !== undefined).map((model) => model.id);
  return showPage(
    <Layout page={page} title="Usage" section="usage">
      <ProblemSummary problems={problems} fields={CORRECTION_FIELDS} />
      <UsageFilters
        page={page}
        filters={shown.filters}
        keys={new Map([...keys, ...chosen, ...keyNamesIn(shown.rows)])}
        models={[...models, ...shown.rows.map(({ model = null }) => model)]}
      />
      {problem === null ? null : <FilterProblem text={problem} />}
      <OtherTags shown={shown} />
      <Totals shown={shown} currency={currency} />
      {shown.rows.length === 0 ? (
        <p class="card empty">Nothing was used in these days.</p>
      ) : (
        <>
          <Charts shown={shown} currency={currency} />
          <Tables shown={shown} currency={currency} />
        </>
      )}
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
    </Layout>,
    problems.size === 0 && problem === null ? 200 : 400,
  );
}

const NO_OTHER_TAGS: Shown["tags"] = { monthsWithOther: [], mostCombinations: 0 };

/** Explains the rows `other`, which a tag's rows do not include. */
function OtherTags({ shown: { tags } }: { shown: Shown }) {
  const { monthsWithOther: months, mostCombinations } = tags;
  if (months.length === 0) return null;
  return (
    <p class="notice warn">
      More than {formatCount(mostCombinations)} combinations of tags in {months.join(", ")}: requests with
      further ones count as <code>other</code>. Send fewer different values, none by request or by end user.
    </p>
  );
}

interface FiguresProps {
  readonly shown: Shown;
  readonly currency: string;
}

interface TotalFigure {
  readonly name: string;
  readonly figure: UsageFigure;
  readonly format: (value: number, currency: string) => string;
}

const TOTALS: readonly TotalFigure[] = [
  { name: "Cost", figure: "cost_microcents", format: formatMoney },
  { name: "Requests", figure: "requests", format: formatCount },
  { name: "Input tokens", figure: "input_tokens", format: formatCount },
  { name: "Cached input tokens", figure: "cached_input_tokens", format: formatCount },
  { name: "Output tokens", figure: "output_tokens", format: formatCount },
];

function Totals({ shown, currency }: FiguresProps) {
  const totals = TOTALS.map(({ name, figure, format }) => {
    const [now, before] = [addUp(shown.rows, figure), addUp(shown.before, figure)];
    return { name, text: format(now, currency), change: describeChange(now, before) };
  });
  const { from, to } = rangeBefore(shown.filters.range);
  return (
    <>
      <dl class="figures">
        {totals.map(({ name, text, change }) => (
          <div>
            <dt>{name}</dt>
            <dd>
              {text} <span class="below">{change}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        Compared with the {daysIn(shown.filters.range).length} days before (<span class="whole">{from}</span>{" "}
        to <span class="whole">{to}</span>).
      </p>
    </>
  );
}

/** Formats "+12 %" compared with the previous period. */
function describeChange(now: number, before: number): string {
  if (before <= 0) return now <= 0 ? "as before" : "nothing before";
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${formatCount(Math.abs(percent))} %`;
}

/** Tables with the charts' figures. */
function Tables({ shown, currency }: FiguresProps) {
  const { filters, rows } = shown;
  const columns = columnsOf(filters.range);
  return (
    <>
      <UsageByKey rows={rows} currency={currency} />
      <UsageByModel rows={rows} currency={currency} />
      {filters.byTag === "" ? null : (
        <UsageTable
          id="by-tag"
          title={`By ${filters.byTag}`}
          rows={rows}
          currency={currency}
          grouping={groupByTag(filters.byTag)}
        />
      )}
      <UsageTable
        id="by-day"
        title={`By ${columns.unit}`}
        rows={rows}
        currency={currency}
        grouping={columns}
        inOrder
      />
    </>
  );
}

/** Returns the grouping of the columns' parts. */
function groupingOf({ filters: { by, byTag }, rows }: Shown): Grouping {
  if (byTag !== "") return groupByTag(byTag);
  return by === "model" ? GROUP_BY_MODEL : groupByKey(rows);
}

function Charts({ shown, currency }: FiguresProps) {
  const { filters, rows, before } = shown;
  const what = filters.byTag === "" ? filters.by : `tag ${filters.byTag}`;
  const columns = columnsOf(filters.range);
  return (
    <>
      <Section id="cost" title={`Cost by ${what}`}>
        <StackedColumns
          label={`Cost by ${what}`}
          columns={columns.titles}
          series={gatherCost(columns, rows, groupingOf(shown))}
          before={before.length === 0 ? null : gatherCostBefore(columns, filters.range, before)}
          unit={currency}
          format={(microcents) => formatMoney(microcents, currency)}
          formatTick={formatTickMoney}
        />
      </Section>
      <Section id="tokens" title="Tokens">
        <StackedColumns
          label="Tokens: input, cached input, output"
          columns={columns.titles}
          series={gatherTokens(columns, rows)}
          unit="tokens"
          format={formatCount}
          formatTick={formatTickCount}
        />
      </Section>
    </>
  );
}

async function downloadUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const { filters, rows } = await readShown(page);
  const { from, to } = filters.range;
  return {
    text: formatUsageCsv(rows, page.organization),
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="usage-${page.organization.id}-${from}-${to}.csv"`,
    },
  };
}

/** Streams the API's own response. */
async function exportUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const given = ["month", "format"].flatMap((name) => {
    const value = page.query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const { body, headers } = await page.api("GET /api/organizations/{organization}/usage/export", {
    query: Object.fromEntries(given),
  });
  return { text: body instanceof ReadableStream ? body : "", headers: headers ?? {} };
}

function correctSpend(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const idempotencyKey = page.form.text("id");
      await page
        .api("POST /api/organizations/{organization}/spend-corrections", {
          body: readCorrection(page.form),
          idempotencyKey,
        })
        .catch(tellOfFirst);
      return { redirect: `${page.base}/usage?done=corrected` };
    },
    refused: (problems) => showUsage(page, problems),
  });
}

/** Explains the conflict if a form was sent, then changed after going back, and sent again. */
function tellOfFirst(thrown: unknown): never {
  if (!(thrown instanceof AdminError) || thrown.code !== "idempotency_key_reused") throw thrown;
  const message =
    "This form was already sent with other values, which were counted. Open the page again for another correction.";
  throw new AdminError("invalid_parameter", { message });
}

export const usagePageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: (page) => showUsage(page) },
  { method: "GET", path: `${PATH}.csv`, runInOrganization: downloadUsage },
  { method: "GET", path: `${PATH}/export`, runInOrganization: exportUsage },
  { method: "POST", path: `${PATH}/corrections`, access: "operator", runInOrganization: correctSpend },
];
