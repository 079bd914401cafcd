/** The list of API keys, users, groups or organizations: filters, one line per row, sorted by a column, with pages and a choice of rows. */
import type { Child } from "hono/jsx";
import { LIMIT_STATES } from "../../schemas/arranged.ts";
import { describeState } from "../../../../shared/settings/state.ts";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { amountText, formatCount, formatSumMoney } from "../../format.ts";
import { fieldOfOwner, readWanted, resolveOwners } from "../owner-texts.ts";
import type { OwnerKind } from "../../../../shared/stored/owner-kinds.ts";
import type { OrganizationPageCall, PageCall } from "../page.ts";
import type { LimitFiguresView, ListTotalView } from "../views.ts";
import { LimitBar } from "./charts.tsx";
import { Form } from "./fields.tsx";
import { Choice, FilterProblem, OwnerField } from "./filter-fields.tsx";
import { Time } from "./inline.tsx";
import { PAGE_SIZE, RowTable, type RowTableColumns, searchOf } from "./table.tsx";
import { AdminError } from "../../admin-error.ts";
import { describeProblems } from "../form.ts";

/** Highest spend first. */
const USUAL_SORT = "-spend";

/** A list that can be arranged. */
export interface ArrangedKind {
  readonly kind: "key" | "user" | "group" | "organization";
  /** "API key", "user": without its plural's s. */
  readonly noun: string;
  readonly states: readonly string[];
  /** Owners by which it can be filtered. */
  readonly owners: readonly OwnerKind[];
}

interface Row {
  readonly id: string;
  readonly name: string;
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next: string | null;
  readonly total_count?: number | undefined;
  readonly totals?: readonly ListTotalView[] | undefined;
}

export interface ArrangedList<Item> extends Page<Item> {
  readonly problem: string | null;
  /** Texts of the owner fields. */
  readonly owners: Readonly<Partial<Record<OwnerKind, string>>>;
}

/** Reads the list that the URL requests. A filter with an unknown name is a problem of the form. */
export async function readArranged<Item>(
  page: PageCall,
  kind: ArrangedKind,
  read: (query: Readonly<Record<string, string>>) => Promise<{ readonly body: Page<Item> }>,
): Promise<ArrangedList<Item>> {
  const given = Object.fromEntries(
    ["state", "limit_state", "after", ...kind.owners.map(fieldOfOwner)].flatMap((name) => {
      const value = (page.query.get(name) ?? "").trim();
      return value === "" ? [] : [[name, value]];
    }),
  );
  const search = searchOf(page);
  const owners = Object.fromEntries(
    await Promise.all(
      kind.owners.map(async (owner) => [
        owner,
        await readWanted(page.api, owner, page.query.get(fieldOfOwner(owner)) ?? ""),
      ]),
    ),
  ) as ArrangedList<Item>["owners"];
  try {
    const query = await resolveOwners(page.api, {
      ...given,
      ...(search === "" ? {} : { search }),
      sort: sortOf(page),
      limit: String(PAGE_SIZE),
    });
    return { ...(await read(query)).body, problem: null, owners };
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 400) throw error;
    return { data: [], next: null, total_count: 0, problem: describeProblems(error), owners };
  }
}

function sortOf({ query }: PageCall): string {
  return query.get("sort") ?? USUAL_SORT;
}

interface ArrangedListProps<Item> {
  readonly page: PageCall;
  readonly kind: ArrangedKind;
  readonly list: ArrangedList<Item>;
  readonly columns: RowTableColumns<Item>;
  /** Shown in place of the list if there is nothing to list, even without filters. */
  readonly empty: Child;
}

export function ArrangedListView<Item extends Row>(props: ArrangedListProps<Item>) {
  const { page, kind, list, columns, empty } = props;
  const { path } = page;
  const isFiltered = FILTERS.some((name) => (page.query.get(name) ?? "") !== "");
  if (!isFiltered && list.total_count === 0) return <p class="card empty">{empty}</p>;
  const table = (
    <RowTable
      label={`${kind.noun}s`}
      class="list"
      columns={sortableColumns(page, columns)}
      rows={list.data}
      chosen={page.canChange ? "chosen" : undefined}
      empty={
        <>
          No {kind.noun} matches these filters. <a href={path}>Show all</a>
        </>
      }
    />
  );
  return (
    <>
      {isFiltered || (list.total_count ?? 0) >= FILTERED_FROM ? (
        <Filters page={page} kind={kind} owners={list.owners} isFiltered={isFiltered} />
      ) : null}
      {list.problem === null ? null : <FilterProblem text={list.problem} />}
      <Pages page={page} kind={kind} list={list} />
      {page.canChange && list.data.length > 0 ? (
        <Form page={page} action={`${path}/chosen`}>
          <input type="hidden" name="back" value={page.query.toString()} />
          {table}
          <ChosenActions kind={kind} />
        </Form>
      ) : (
        table
      )}
    </>
  );
}

/** Verbs that set a flag, and that clear it. */
export const SWITCHES = { disabled: ["Disable", "Enable"], suspended: ["Suspend", "Resume"] } as const;

function ChosenActions({ kind }: { kind: ArrangedKind }) {
  return (
    <p class="chosen">
      <span class="quiet">With the chosen {kind.noun}s:</span>
      <button type="submit" name="action" value="change" class="quiet">
        Change…
      </button>
      {kind.kind === "group"
        ? null
        : SWITCHES[kind.kind === "organization" ? "suspended" : "disabled"].map((verb) => (
            <button type="submit" name="action" value={verb.toLowerCase()} class="quiet">
              {verb}…
            </button>
          ))}
    </p>
  );
}

/** Shorter lists need no filters. */
const FILTERED_FROM = 15;
const FILTERS = ["search", "state", "limit_state", "user_id", "group_id", "after"];

const LIMIT_WORDS: Readonly<Record<(typeof LIMIT_STATES)[number], string>> = {
  reached: "reached",
  near: "nearly reached",
  below: "below",
  none: "no limit",
};

interface FiltersProps {
  readonly page: PageCall;
  readonly kind: ArrangedKind;
  readonly owners: ArrangedList<unknown>["owners"];
  readonly isFiltered: boolean;
}

function Filters({ page, kind, owners, isFiltered }: FiltersProps) {
  const { path } = page;
  const value = (name: string) => page.query.get(name) ?? "";
  return (
    <form method="get" action={path} class="filters line" role="search" aria-label={`Filter ${kind.noun}s`}>
      <input type="hidden" name="sort" value={sortOf(page)} />
      <div>
        <label for="search">Find</label>
        <input
          id="search"
          name="search"
          type="search"
          value={searchOf(page)}
          placeholder={kind.kind === "organization" ? "name or id" : "name or note"}
          autocomplete="off"
        />
      </div>
      <Choice
        name="state"
        label="State"
        value={value("state")}
        choices={new Map(kind.states.map((state) => [state, describeState(state).words]))}
      />
      <Choice
        name="limit_state"
        label="Tightest limit"
        value={value("limit_state")}
        choices={new Map(LIMIT_STATES.map((state) => [state, LIMIT_WORDS[state]]))}
      />
      {kind.owners.map((owner) => (
        <OwnerField
          kind={owner}
          label={owner === "user" ? "User" : "Group"}
          value={owners[owner] ?? ""}
          base={`/organizations/${page.organization?.id ?? ""}`}
        />
      ))}
      <div class="buttons">
        <button type="submit" class="quiet">
          Search
        </button>
        {isFiltered ? <a href={path}>Show all</a> : null}
      </div>
    </form>
  );
}

/** "51–100 of 300 API keys, 87.20 USD spent this month", with links to the pages around. */
function Pages({ page, kind, list }: Pick<ArrangedListProps<unknown>, "page" | "kind" | "list">) {
  const start = Number(page.query.get("after") ?? 0);
  const total = list.total_count ?? list.data.length;
  const noun = total === 1 ? kind.noun : `${kind.noun}s`;
  const range = total <= PAGE_SIZE ? "" : `${start + 1}–${start + list.data.length} of `;
  return (
    <p class="pages">
      {range}
      {formatCount(total)} {noun}
      {describeTotals(list.totals ?? [])}
      {start === 0 ? null : (
        <a href={addressWith(page, { after: start <= PAGE_SIZE ? null : String(start - PAGE_SIZE) })}>
          Previous
        </a>
      )}
      {list.next === null ? null : <a href={addressWith(page, { after: list.next })}>Next</a>}
    </p>
  );
}

function describeTotals(totals: readonly ListTotalView[]): string {
  const spent = totals.map(({ currency, spent_microcents: amount }) => formatSumMoney(amount, currency));
  return spent.length === 0 ? "" : `, ${spent.join(", ")} spent this month`;
}

function addressWith({ path, query }: PageCall, changes: Readonly<Record<string, string | null>>): string {
  const changed = new URLSearchParams(query);
  changed.delete("done");
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  return changed.size === 0 ? path : `${path}?${changed.toString()}`;
}

/** Links in the head of those columns that the list can be sorted by; a second click reverses it. */
function sortableColumns<Item>(page: PageCall, columns: RowTableColumns<Item>): RowTableColumns<Item> {
  const current = sortOf(page);
  const [first, ...rest] = columns.map((column) => {
    if (column.sort === undefined) return column;
    const natural = column.sort === "name" ? "name" : `-${column.sort}`;
    const reverse = natural.startsWith("-") ? column.sort : `-${natural}`;
    const sort = current === natural ? reverse : natural;
    const isCurrent = current === natural || current === reverse;
    const sorted = current.startsWith("-") ? ("descending" as const) : ("ascending" as const);
    return {
      ...column,
      href: addressWith(page, { sort, after: null }),
      ...(isCurrent ? { sorted } : {}),
    };
  });
  return [first ?? columns[0], ...rest];
}

interface Figured {
  readonly spent_microcents?: number | bigint | undefined;
  readonly last_used_at?: string | null | undefined;
  readonly tightest_limit?: LimitFiguresView | null | undefined;
}

/** Spend of this month and tightest limit, in each list. */
export function spendColumns<Item extends Figured>(
  kind: ArrangedKind["kind"],
  currencyOf: (item: Item) => string,
) {
  return [
    {
      label: "spent",
      kind: "number",
      sort: "spend",
      cell: (item: Item) => formatSumMoney(item.spent_microcents ?? 0, currencyOf(item)),
    },
    {
      label: "tightest limit",
      kind: "wide",
      sort: "limit",
      cell: (item: Item) =>
        item.tightest_limit ? (
          <Limit limit={item.tightest_limit} kind={kind} currency={currencyOf(item)} />
        ) : null,
    },
  ] as const;
}

/** The same and the last use: the last columns of lists in an organization. */
export function figureColumns<Item extends Figured>(
  kind: ArrangedKind["kind"],
  { organization: { currency } }: OrganizationPageCall,
) {
  return [
    ...spendColumns<Item>(kind, () => currency),
    {
      label: "last used",
      sort: "last_used",
      cell: ({ last_used_at: at }: Item) => (at ? <Time at={at} /> : <span class="quiet">never</span>),
    },
  ] as const;
}

interface LimitProps {
  readonly limit: LimitFiguresView;
  readonly kind: ArrangedKind["kind"];
  readonly currency: string;
}

/** A bar, "5.67 of 80.00 USD", and which limit this is, with its owner if that is another. */
function Limit({ limit, kind, currency }: LimitProps) {
  const scopeText = limit.scope === kind ? "" : `${limit.scope}'s `;
  return (
    <span class="limit">
      <LimitBar limit={limit} currency={currency} />
      <span>
        <span class="whole">
          {amountText(limit.spent_cents)} of {amountText(limit.cents)}
        </span>{" "}
        <span class="quiet">
          {scopeText}
          {labelLimit(limit)}
        </span>
      </span>
    </span>
  );
}
