/** *API keys*: the list. */
import { formatLimitRows } from "../../../../shared/settings/limits.ts";
import { formatCount, formatMoney } from "../../format.ts";
import { MAX_KEY_PAGES, readList } from "../read-lists.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { SpendBar } from "../parts/charts.tsx";
import { isSure, Layout, Section } from "../parts/layout.tsx";
import { ConfirmedForm } from "../parts/fields.tsx";
import { List, pageQueryOf, type RowTableColumns, SearchForm, searchOf } from "../parts/table.tsx";
import { KeyName, OwnerLink, State, Time } from "../parts/inline.tsx";
import { spendingOf } from "../limit-words.ts";
import type { KeyView, RequestView } from "../views.ts";
import { createKey, showKeyCreation } from "./key-creation.tsx";

/** Pages of recent requests that are searched for a key's last use. */
const REQUEST_PAGES = 5;
const LIST = "GET /api/organizations/{organization}/keys";
const MAX_FOUND = 100;

async function showKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const path = `${page.base}/keys`;
  const search = searchOf(page);
  const [list, requests] = await Promise.all([
    search === "" ? readPage(page) : findKeys(page, search),
    readList<RequestView>(page.api, "GET /api/organizations/{organization}/requests", REQUEST_PAGES),
  ]);
  return showPage(
    <Layout page={page} title="API keys" section="keys">
      {page.canChange ? (
        <p>
          <a class="button" href={`${path}/new`}>
            Create an API key
          </a>
        </p>
      ) : null}
      <SearchForm page={page} list={list} path={path} />
      <List
        page={page}
        label="API keys"
        list={list}
        columns={columnsOf(page, readLastUses(requests.items))}
        empty={search === "" ? NO_KEY : `No key has “${search}” in its name.`}
      />
      {list.hasMore ? (
        <p class="quiet">More keys have that in their name, or were not looked at: write more of it.</p>
      ) : null}
      {page.canChange && list.data.length > 0 ? <AfterLeak page={page} /> : null}
    </Layout>,
  );
}

interface FoundKeys {
  readonly data: readonly KeyView[];
  readonly next: string | null;
  /** True if a search may have more results. */
  readonly hasMore: boolean;
}

async function readPage(page: OrganizationPageCall): Promise<FoundKeys> {
  const { body } = await page.api(LIST, { query: pageQueryOf(page) });
  return { data: body.data, next: body.next, hasMore: false };
}

/** Finds keys by name, or by the visible characters of the key. */
async function findKeys(page: OrganizationPageCall, search: string): Promise<FoundKeys> {
  const { items, hasMore } = await readList<KeyView>(page.api, LIST, MAX_KEY_PAGES);
  const wanted = search.toLowerCase();
  const found = items.filter(({ name, display }) => `${name} ${display}`.toLowerCase().includes(wanted));
  return {
    data: found.slice(0, MAX_FOUND),
    next: null,
    hasMore: hasMore || found.length > MAX_FOUND,
  };
}

const NO_KEY = "No API keys yet. Programs send one with each request; each key has its own limits and spend.";

/** @param uses Time of last use by key id. */
function columnsOf(
  { base, organization: { currency } }: OrganizationPageCall,
  uses: ReadonlyMap<string, string>,
): RowTableColumns<KeyView> {
  return [
    {
      label: "name",
      cell: (key) => (
        <>
          <KeyName base={base} apiKey={key} />
          {key.user === null ? null : (
            <span class="below">
              of <OwnerLink base={base} kind="users" owner={key.user} />
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
      cell: (key) => <Spent apiKey={key} currency={currency} />,
    },
    {
      label: "rate",
      cell: ({ requests_per_minute: perMinute, bucket }) => (
        <>
          <span class="whole">{formatCount(perMinute)} per minute</span>
          <span class="below whole">
            burst {formatCount(bucket.capacity)}, {formatCount(bucket.remaining)} left now
          </span>
        </>
      ),
    },
    {
      label: "last used",
      cell: ({ id }) => {
        const at = uses.get(id);
        return at === undefined ? "not lately" : <Time at={at} />;
      },
    },
  ];
}

/** Returns the time of last use by key id. @param requests In any order. Keys without requests have no entry. */
function readLastUses(requests: readonly RequestView[]): Map<string, string> {
  const uses = new Map<string, string>();
  for (const { key_id: keyId, created_at: createdAt } of requests) {
    const known = uses.get(keyId);
    if (known === undefined || known < createdAt) uses.set(keyId, createdAt);
  }
  return uses;
}

function Spent({ apiKey, currency }: { apiKey: KeyView; currency: string }) {
  const spending = spendingOf(apiKey);
  return (
    <>
      {formatMoney(spending.spentMicrocents, currency)}
      <SpendBar spending={spending} currency={currency} />
      {apiKey.limits.length === 0 ? null : (
        <span class="below">
          {formatLimitRows(apiKey.limits).map((row) => (
            <>
              <span class="whole">{row}</span>{" "}
            </>
          ))}
        </span>
      )}
    </>
  );
}

function AfterLeak({ page }: { page: OrganizationPageCall }) {
  return (
    <Section class="card" id="leak" title="After a leak">
      <p>Permanently deletes every API key of this organization. Their spend stays in the usage.</p>
      <ConfirmedForm
        page={page}
        action={`${page.base}/keys/revoke-all`}
        button="Delete all keys"
        confirm="Delete every API key of this organization? Requests with them return 401 at once."
      >
        <div class="field check">
          <label>
            <input type="checkbox" name="sure" value="yes" required />
            <span>
              Yes, delete all keys of <bdi>{page.organization.name}</bdi>
            </span>
          </label>
        </div>
      </ConfirmedForm>
    </Section>
  );
}

async function revokeAllKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const path = `${page.base}/keys`;
  if (!isSure(page)) return { redirect: path };
  await page.api("POST /api/organizations/{organization}/keys/revoke-all");
  return { redirect: `${path}?done=revoked` };
}

const PATH = "/organizations/:organization/keys";

export const keyListRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showKeys },
  { method: "POST", path: PATH, runInOrganization: createKey },
  { method: "GET", path: `${PATH}/new`, runInOrganization: showKeyCreation },
  { method: "POST", path: `${PATH}/revoke-all`, runInOrganization: revokeAllKeys },
];
