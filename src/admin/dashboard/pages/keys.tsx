/** @jsxImportSource hono/jsx */
/** *API keys*: the list. */
import { formatCount, formatLimit, formatMoney } from "../../format.ts";
import { readLastUses } from "../last-uses.ts";
import { MAX_KEY_PAGES } from "../name-keys.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { SpendBar } from "../parts/charts.tsx";
import { Form } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { OwnerLink } from "../parts/owners.tsx";
import { State } from "../parts/state.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { SEARCHED_FROM, SearchForm } from "../parts/search-form.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { readList } from "../read-lists.ts";
import { requestRateOf } from "../request-rate.ts";
import { type Spending, spendingOf } from "../spending.ts";
import type { KeyView, RequestView } from "../views.ts";

/** Recent requests that are looked through for when a key was used. */
const REQUEST_PAGES = 5;
const LIST = "GET /api/organizations/{organization}/keys";
const MAX_FOUND = 100;

export async function showKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const path = `${page.base}/keys`;
  const search = (page.query.get("search") ?? "").trim();
  const [{ keys, next, hasMore }, requests] = await Promise.all([
    search === "" ? readPage(page) : findKeys(page, search),
    readList<RequestView>(page.api, "GET /api/organizations/{organization}/requests", REQUEST_PAGES),
  ]);
  const isWhole = search === "" && next === null && !page.query.has("after");
  return showPage(
    <Layout page={page} title="API keys" section="keys">
      {page.canChange ? (
        <p>
          <a class="button" href={`${path}/new`}>
            Create an API key
          </a>
        </p>
      ) : null}
      {isWhole && keys.length < SEARCHED_FROM ? null : <SearchForm path={path} search={search} />}
      {keys.length === 0 ? (
        <Nothing search={search} />
      ) : (
        <RowTable
          label="API keys"
          class="keys stack"
          columns={columnsOf(page, readLastUses(requests.items))}
          rows={keys}
        />
      )}
      <Older page={page} next={next} />
      {hasMore ? (
        <p class="quiet">More keys have that in their name, or were not looked at: write more of it.</p>
      ) : null}
      {page.canChange && keys.length > 0 ? <AfterLeak page={page} /> : null}
    </Layout>,
  );
}

interface FoundKeys {
  readonly keys: readonly KeyView[];
  readonly next: string | null;
  /** Of a search: there may be more. */
  readonly hasMore: boolean;
}

async function readPage(page: OrganizationPageCall): Promise<FoundKeys> {
  const { body } = await page.api(LIST, { query: pageQueryOf(page) });
  const { data, next } = body;
  return { keys: data, next, hasMore: false };
}

/** By the name, or by what people see of the key itself. */
async function findKeys(page: OrganizationPageCall, search: string): Promise<FoundKeys> {
  const { items, hasMore } = await readList<KeyView>(page.api, LIST, MAX_KEY_PAGES);
  const wanted = search.toLowerCase();
  const found = items.filter(({ name, display }) => `${name} ${display}`.toLowerCase().includes(wanted));
  return {
    keys: found.slice(0, MAX_FOUND),
    next: null,
    hasMore: hasMore || found.length > MAX_FOUND,
  };
}

function Nothing({ search }: { search: string }) {
  return (
    <p class="card empty">
      {search === ""
        ? "There is no key yet. A key is what programs send with each request; its limits and its spend are its own."
        : `No key has “${search}” in its name.`}
    </p>
  );
}

/** @param uses Key id → when it was last used. */
function columnsOf(
  { base, organization: { currency } }: OrganizationPageCall,
  uses: ReadonlyMap<string, string>,
): RowTableColumns<KeyView> {
  return [
    {
      label: "name",
      cell: ({ id, name, display, user }) => (
        <>
          <a href={`${base}/keys/${id}`}>
            <bdi>{name}</bdi>
          </a>
          <span class="below code">{display}</span>
          {user === null ? null : (
            <span class="below">
              of <OwnerLink base={base} kind="users" owner={user} />
            </span>
          )}
        </>
      ),
    },
    { label: "state", cell: ({ state }) => <State state={state} /> },
    {
      label: "spent this month",
      short: "spent",
      kind: "wide",
      cell: (key) => <Spent spending={spendingOf(key)} currency={currency} />,
    },
    {
      label: "rate",
      cell: (key) => {
        const { perMinute, burst, left } = requestRateOf(key);
        return (
          <>
            <span class="whole">{formatCount(perMinute)} per minute</span>
            <span class="below whole">
              burst {formatCount(burst)}, {formatCount(left)} left now
            </span>
          </>
        );
      },
    },
    { label: "last used", cell: ({ id }) => <LastUse at={uses.get(id)} /> },
  ];
}

function Spent({ spending, currency }: { spending: Spending; currency: string }) {
  const { spentMicrocents, monthCapCents, monthBudgetCents } = spending;
  return (
    <>
      {formatMoney(spentMicrocents, currency)}
      <SpendBar spending={spending} currency={currency} />
      {monthCapCents === null && monthBudgetCents === null ? null : (
        <span class="below">
          <span class="whole">cap {formatLimit(monthCapCents, currency)},</span>{" "}
          <span class="whole">budget {formatLimit(monthBudgetCents, currency)}</span>
        </span>
      )}
    </>
  );
}

function LastUse({ at }: { at: string | undefined }) {
  return at === undefined ? <>not lately</> : <Time at={at} />;
}

function AfterLeak({ page }: { page: OrganizationPageCall }) {
  return (
    <section class="card" aria-labelledby="leak">
      <h2 id="leak">After a leak</h2>
      <p>Deletes every key of this organization for good. What they have spent stays in the usage.</p>
      <Form
        page={page}
        action={`${page.base}/keys/revoke-all`}
        confirm="Delete every API key of this organization? Every program that uses one is refused from the next request on."
      >
        <div class="field check">
          <label>
            <input type="checkbox" name="sure" value="yes" required />
            <span>
              Yes, delete all keys of <bdi>{page.organization.name}</bdi>
            </span>
          </label>
        </div>
        <button type="submit" class="danger">
          Delete all keys
        </button>
      </Form>
    </section>
  );
}
