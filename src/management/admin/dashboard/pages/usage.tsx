/** *Usage*: figures of a range of days by key, user, group, model, tag or session; CSV. */
import { AdminError } from "../../admin-error.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { describeProblems } from "../form.ts";
import { daysIn, rangeBefore } from "../../../../shared/time/day-range.ts";
import { formatCount, formatCountOf, formatExactTime, formatMoney, formatTickCount } from "../../format.ts";
import { describeWanted, resolveOwners } from "../owner-texts.ts";
import { nameKeys } from "../read-lists.ts";
import { FilterProblem } from "../parts/filter-fields.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { StackedColumns } from "../parts/stacked-columns.tsx";
import { UsageExport, UsageFilters } from "../parts/usage-filters.tsx";
import { UsageTable } from "../parts/usage-table.tsx";
import {
  addressOf,
  isOfListedRequests,
  LATENCY,
  readUsageChoice,
  tagOf,
  USAGE_GROUPS,
  USAGE_METRICS,
  type UsageChoice,
  type UsageFilter,
  type UsageMetric,
} from "../usage-choice.ts";
import { columnsOf, gatherBefore, gatherCost, gatherTokens, groupBy, keyNamesIn } from "../usage-columns.ts";
import { addUp, readUsage, type UsageFigure } from "../usage-range.ts";
import type { UsageRowView, UsageView } from "../views.ts";
import { Latency, requestsPath } from "./usage-latency.tsx";

const PATH = "/organizations/:organization/usage";
/** Groups with a color of their own. */
const LARGEST = "10";

interface Shown {
  readonly choice: UsageChoice;
  readonly rows: readonly UsageRowView[];
  /** By day. */
  readonly before: readonly UsageRowView[];
  readonly completeFrom: string | null;
  readonly tags: UsageView["tag_combinations"];
  /** Names of the key, user and group of the filters, by id. */
  readonly names: UsageView["filter_names"];
  /** With health, by the unit of time; null: the figure is a sum. */
  readonly latency: readonly UsageRowView[] | null;
}

/** Replaces names by ids in the filters. @throws AdminError 400 for an unknown name. */
async function resolveFilters(page: OrganizationPageCall, { filters }: UsageChoice) {
  const given = Object.entries(filters).filter(([, value]) => value !== "");
  return resolveOwners(page.api, Object.fromEntries(given));
}

async function readShown(page: OrganizationPageCall, choice: UsageChoice): Promise<Shown> {
  const { range, unit, by, metric } = choice;
  const filters = await resolveFilters(page, choice);
  if (metric === LATENCY) return readLatency(page, choice, filters);
  const largest = { top: LARGEST, order: metric };
  const usage = await readUsage(page, `${unit},${by}`, { ...range, ...filters, ...largest });
  const before = isOfListedRequests(choice)
    ? []
    : (await readUsage(page, "day", { ...rangeBefore(range), ...filters })).data;
  return { ...shownOf(choice, usage), before };
}

async function readLatency(
  page: OrganizationPageCall,
  choice: UsageChoice,
  filters: Readonly<Record<string, string>>,
): Promise<Shown> {
  const { range, unit, by } = choice;
  const query = { ...range, ...filters, health: "true" };
  const usage = await readUsage(page, by, { ...query, top: LARGEST, order: "requests" });
  const { data: latency } = await readUsage(page, unit, query);
  return { ...shownOf(choice, usage), latency };
}

function shownOf(choice: UsageChoice, usage: UsageView): Shown {
  const { data: rows, complete_from: completeFrom, tag_combinations: tags, filter_names: names } = usage;
  return { choice, rows, before: [], completeFrom, tags, names, latency: null };
}

/** Reads usage; problems of a filter are shown next to the fields. */
async function tryToRead(page: OrganizationPageCall): Promise<{ shown: Shown; problem: string | null }> {
  const choice = readUsageChoice(page);
  try {
    return { shown: await readShown(page, choice), problem: null };
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 400) throw error;
    const tags = { kept: 0, most: 0, has_other: false, names: [] };
    return {
      shown: { choice, rows: [], before: [], completeFrom: null, tags, names: {}, latency: null },
      problem: describeProblems(error),
    };
  }
}

/** The choice with users and groups by their names. */
function describeChoice({ names, choice }: Shown): UsageChoice {
  const describe = (field: "user_id" | "group_id") => describeWanted(choice.filters[field], names);
  return {
    ...choice,
    filters: { ...choice.filters, user_id: describe("user_id"), group_id: describe("group_id") },
  };
}

/** A deleted key that is chosen is in no list. */
function keysOf(names: Shown["names"]) {
  return Object.entries(names).filter(([id]) => id.startsWith("key_"));
}

async function showUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const [{ shown, problem }, keys, catalog] = await Promise.all([
    tryToRead(page),
    nameKeys(page),
    page.api("GET /api/catalog"),
  ]);
  const { currency } = page.organization;
  const models = catalog.body.data.map((model) => model.id);
  return showPage(
    <Layout page={page} title="Usage" section="usage">
      <UsageFilters
        page={page}
        choice={describeChoice(shown)}
        keys={new Map([...keys, ...keysOf(shown.names), ...keyNamesIn(shown.rows)])}
        models={[...models, ...shown.rows.map(({ model = null }) => model)]}
        tags={shown.tags.names}
      />
      {problem === null ? null : <FilterProblem text={problem} />}
      <OtherTags tags={shown.tags} />
      <Incomplete shown={shown} />
      <Totals shown={shown} currency={currency} />
      {shown.rows.length === 0 ? (
        <p class="card empty">No usage in these days.</p>
      ) : shown.latency !== null ? (
        <Latency page={page} choice={shown.choice} rows={shown.rows} overTime={shown.latency} />
      ) : (
        <>
          <Charts shown={shown} currency={currency} />
          <Tables page={page} shown={shown} currency={currency} />
        </>
      )}
      <UsageExport page={page} />
      {page.isOperator ? (
        <p>
          <a class="button quiet" href={`${page.base}/usage/corrections`}>
            Correct this month's spend
          </a>
        </p>
      ) : null}
    </Layout>,
    problem === null ? 200 : 400,
  );
}

/** Explains the rows `other`, which a tag's rows do not include. */
function OtherTags({ tags }: Pick<Shown, "tags">) {
  if (!tags.has_other) return null;
  return (
    <p class="notice warn">
      More than {formatCount(tags.most)} combinations of tags in a month: requests with further combinations
      count as <code>other</code>. Send fewer values: no request IDs, no end-user IDs.
    </p>
  );
}

/** Hours and sessions are known only of requests that are still listed. */
function Incomplete({ shown: { choice, completeFrom } }: Pick<FiguresProps, "shown">) {
  if (!isOfListedRequests(choice)) return null;
  return (
    <p class={completeFrom === null ? "quiet" : "notice warn"}>
      Hours, upstreams, sessions and latency come from the list of requests, about the last 10,000.
      {completeFrom === null ? null : (
        <>
          {" "}
          Requests before {formatExactTime(completeFrom)} are missing here. Choose days and another figure or
          grouping for all.
        </>
      )}
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
  /** In addition, below the figure. */
  readonly note?: (rows: readonly UsageRowView[]) => string;
}

const TOTALS: readonly TotalFigure[] = [
  { name: "Cost", figure: "cost_microcents", format: formatMoney },
  { name: "Requests", figure: "requests", format: formatCount },
  {
    name: "Input tokens",
    figure: "input_tokens",
    format: formatCount,
    note: (rows) => `plus ${formatCount(addUp(rows, "cached_input_tokens"))} cached`,
  },
  { name: "Output tokens", figure: "output_tokens", format: formatCount },
];

function Totals({ shown, currency }: FiguresProps) {
  const { range } = shown.choice;
  const isCompared = !isOfListedRequests(shown.choice);
  const totals = TOTALS.map(({ name, figure, format, note }) => {
    const [now, before] = [addUp(shown.rows, figure), addUp(shown.before, figure)];
    const change = isCompared ? describeChange(now, before) : "";
    return {
      name,
      text: format(now, currency),
      below: [note?.(shown.rows) ?? "", change].filter((part) => part !== "").join(", "),
    };
  });
  const { from, to } = rangeBefore(range);
  return (
    <>
      <dl class="figures">
        {totals.map(({ name, text, below }) => (
          <div>
            <dt>{name}</dt>
            <dd>
              {text} <span class="below">{below}</span>
            </dd>
          </div>
        ))}
      </dl>
      {isCompared ? (
        <p class="quiet">
          Compared with {formatCountOf(daysIn(range).length, "day")} on the same days of the week (
          <span class="whole">{from}</span> to <span class="whole">{to}</span>).
        </p>
      ) : null}
    </>
  );
}

/** Formats "+12 %" compared with the previous period. */
function describeChange(now: number, before: number): string {
  if (before <= 0) return now <= 0 ? "as before" : "none before";
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${formatCount(Math.abs(percent))} %`;
}

/** Returns the figure of charts and shares. */
function sumOf({ metric }: UsageChoice): UsageMetric {
  return metric === LATENCY ? "requests" : metric;
}

/** "key", "tag team" */
function describeGroup({ by }: UsageChoice): string {
  const tag = tagOf(by);
  return tag === null ? by : `tag ${tag}`;
}

/** Tables with the charts' figures. */
function Tables({ page, shown, currency }: FiguresProps & { readonly page: OrganizationPageCall }) {
  const { choice, rows } = shown;
  const { by } = choice;
  const metric = sumOf(choice);
  const columns = columnsOf(choice.range, choice.unit);
  const tag = tagOf(by);
  return (
    <>
      <UsageTable
        id={tag === null ? `by-${by}` : "by-tag"}
        title={`By ${tag ?? by}`}
        rows={rows}
        currency={currency}
        grouping={groupBy(rows, by)}
        metric={metric}
        linkOf={(group) => narrowTo(page, choice, group)}
      />
      <UsageTable
        id="by-day"
        title={`By ${columns.unit}`}
        rows={rows}
        currency={currency}
        grouping={columns}
        metric={metric}
        inOrder
      />
    </>
  );
}

/** Filter that a group's link sets, and the grouping of the page it leads to. */
const NARROWED: Readonly<Record<string, { readonly filter: UsageFilter; readonly by: string }>> = {
  key: { filter: "key_id", by: "model" },
  user: { filter: "user_id", by: "key" },
  group: { filter: "group_id", by: "user" },
  model: { filter: "model", by: "key" },
  session: { filter: "session", by: "model" },
};

/** Returns the address of one group's usage; null for rows without one, which no filter finds. */
function narrowTo({ base }: OrganizationPageCall, choice: UsageChoice, group: string): string | null {
  const tag = tagOf(choice.by);
  const { filter, by } = NARROWED[choice.by] ?? { filter: "tag", by: USAGE_GROUPS[0] };
  if (choice.by === "upstream") return requestsPath({ base }, choice.by, group);
  if (group === "" || (tag !== null && group === "other")) return null;
  const filters = { ...choice.filters, [filter]: tag === null ? group : `${tag}=${group}` };
  return `${base}/usage?${addressOf({ ...choice, by, filters })}`;
}

function Charts({ shown, currency }: FiguresProps) {
  const { choice, rows, before } = shown;
  const { label, of, unitOf, format, formatTick } = USAGE_METRICS[sumOf(choice)];
  const title = `${label} by ${describeGroup(choice)}`;
  const columns = columnsOf(choice.range, choice.unit);
  return (
    <>
      <Section id="chart" title={title}>
        <StackedColumns
          label={title}
          columns={columns.titles}
          series={gatherCost(columns, rows, groupBy(rows, choice.by), of)}
          before={before.length === 0 ? null : gatherBefore(columns, choice.range, before, of)}
          unit={unitOf(currency)}
          format={(value) => format(value, currency)}
          formatTick={formatTick}
        />
      </Section>
      <Section id="tokens" title="Tokens by kind">
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

/** Downloads rows with all groups; a session and a tag if the page groups by them. */
async function downloadUsage(page: OrganizationPageCall): Promise<PageAnswer> {
  const choice = readUsageChoice(page);
  const groups = [
    ...new Set([
      choice.unit,
      "key",
      "user",
      "group",
      "model",
      ...(choice.by === "upstream" ? [] : [choice.by]),
    ]),
  ];
  const filters = await resolveFilters(page, choice);
  const given = Object.entries({ ...choice.range, ...filters }).filter(([, value]) => value !== "");
  const { body, headers } = await page.api("GET /api/organizations/{organization}/usage", {
    query: { group_by: groups.join(","), format: "csv", ...Object.fromEntries(given) },
  });
  return { text: body as unknown as string, headers: { ...headers } };
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

export const usagePageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showUsage },
  { method: "GET", path: `${PATH}.csv`, runInOrganization: downloadUsage },
  { method: "GET", path: `${PATH}/export`, runInOrganization: exportUsage },
];
