/** @jsxImportSource hono/jsx */
/** *API keys*: the list. */
import { formatCount, formatLimit, formatMoney } from "../../format.ts";
import { readLastUses } from "../last-uses.ts";
import { MAX_KEY_PAGES } from "../name-keys.ts";
import type { OrganizationPageCall, PageAnswer } from "../page.ts";
import { SpendBar } from "../parts/charts.tsx";
import { Form } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { State } from "../parts/state.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import { SEARCHED_FROM, SearchForm } from "../parts/search-form.tsx";
import { Cell, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { readList } from "../read-lists.ts";
import { spendingOf } from "../spending.ts";
import type { KeyPageView, KeyView, RequestView } from "../views.ts";

const COLUMNS = ["name", "state", { label: "spent this month", kind: "wide" }, "rate", "last used"] as const;

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
  return {
    markup: (
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
          <KeyTable page={page} keys={keys} uses={readLastUses(requests.items)} />
        )}
        <Older page={page} next={next} />
        {hasMore ? (
          <p class="quiet">More keys have that in their name, or were not looked at: write more of it.</p>
        ) : null}
        {page.canChange && keys.length > 0 ? <AfterLeak page={page} /> : null}
      </Layout>
    ),
  };
}

interface FoundKeys {
  readonly keys: readonly KeyView[];
  readonly next: string | null;
  /** Of a search: there may be more. */
  readonly hasMore: boolean;
}

async function readPage(page: OrganizationPageCall): Promise<FoundKeys> {
  const { body } = await page.api(LIST, { query: pageQueryOf(page) });
  const { data, next } = body as KeyPageView;
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

interface KeyTableProps {
  readonly page: OrganizationPageCall;
  readonly keys: readonly KeyView[];
  /** Key id → when it was last used. */
  readonly uses: ReadonlyMap<string, string>;
}

function KeyTable({ page, keys, uses }: KeyTableProps) {
  return (
    <Table label="API keys" class="keys stack" columns={COLUMNS}>
      {keys.map((key) => (
        <KeyRow page={page} apiKey={key} lastUsedAt={uses.get(key.id)} />
      ))}
    </Table>
  );
}

interface KeyRowProps {
  readonly page: OrganizationPageCall;
  readonly apiKey: KeyView;
  readonly lastUsedAt: string | undefined;
}

function KeyRow({ page, apiKey, lastUsedAt }: KeyRowProps) {
  const { currency } = page.organization;
  const { remaining, capacity } = apiKey.bucket;
  const spending = spendingOf(apiKey);
  return (
    <tr>
      <th scope="row">
        <a href={`${page.base}/keys/${apiKey.id}`}>
          <bdi>{apiKey.name}</bdi>
        </a>
        <span class="below code">{apiKey.display}</span>
      </th>
      <Cell label="state">
        <State state={apiKey.state} />
      </Cell>
      <Cell label="spent" kind="wide">
        {formatMoney(spending.spentMicrocents, currency)}
        <SpendBar spending={spending} currency={currency} />
        {spending.hardCapCents === null && spending.budgetCents === null ? null : (
          <span class="below">
            <span class="whole">cap {formatLimit(spending.hardCapCents, currency)},</span>{" "}
            <span class="whole">budget {formatLimit(spending.budgetCents, currency)}</span>
          </span>
        )}
      </Cell>
      <Cell label="rate">
        <span class="whole">{formatCount(apiKey.requests_per_minute)} per minute</span>
        <span class="below whole">
          burst {formatCount(capacity)}, {formatCount(remaining)} left now
        </span>
      </Cell>
      <Cell label="last used">{lastUsedAt === undefined ? "not lately" : <Time at={lastUsedAt} />}</Cell>
    </tr>
  );
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
