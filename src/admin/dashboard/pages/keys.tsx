/** @jsxImportSource hono/jsx */
/** *API keys*: the list. */
import { formatCount, formatLimit, formatMoney, formatTime } from "../format.ts";
import { readLastUses } from "../last-uses.ts";
import { MAX_KEY_PAGES } from "../name-keys.ts";
import type { OrganizationPageCall, PageAnswer } from "../page.ts";
import { SpendBar } from "../parts/charts.tsx";
import { Form } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { readList } from "../read-lists.ts";
import type { KeyView, RequestView } from "../views.ts";

/** Recent requests that are looked through for when a key was used. */
const REQUEST_PAGES = 5;

export async function showKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const { organization } = page;
  const path = `/organizations/${organization.id}/keys`;
  const params = { organization: organization.id };
  const [keys, requests] = await Promise.all([
    readList<KeyView>(page.api, "GET /api/organizations/{organization}/keys", params, MAX_KEY_PAGES),
    readList<RequestView>(page.api, "GET /api/organizations/{organization}/requests", params, REQUEST_PAGES),
  ]);
  const uses = readLastUses(requests.items);
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
        {keys.items.length === 0 ? (
          <p class="card empty">
            There is no key yet. A key is what programs send with each request; its limits and its spend are
            its own.
          </p>
        ) : (
          <KeyTable page={page} keys={keys.items} uses={uses} />
        )}
        {keys.hasMore ? (
          <p class="quiet">
            The first {keys.items.length} keys are shown; the API and the command line list all.
          </p>
        ) : null}
        {page.canChange && keys.items.length > 0 ? <AfterLeak page={page} /> : null}
      </Layout>
    ),
  };
}

interface KeyTableProps {
  readonly page: OrganizationPageCall;
  readonly keys: readonly KeyView[];
  /** Key id → when it was last used. */
  readonly uses: ReadonlyMap<string, string>;
}

function KeyTable({ page, keys, uses }: KeyTableProps) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="API keys">
      <table class="keys">
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">state</th>
            <th scope="col" class="wide">
              spent this month
            </th>
            <th scope="col">requests per minute</th>
            <th scope="col">last used</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow page={page} apiKey={key} lastUsedAt={uses.get(key.id)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface KeyRowProps {
  readonly page: OrganizationPageCall;
  readonly apiKey: KeyView;
  readonly lastUsedAt: string | undefined;
}

function KeyRow({ page, apiKey, lastUsedAt }: KeyRowProps) {
  const { currency, id } = page.organization;
  const { remaining, capacity } = apiKey.bucket;
  return (
    <tr>
      <th scope="row">
        <a href={`/organizations/${id}/keys/${apiKey.id}`}>{apiKey.name}</a>
        <span class="below code">{apiKey.display}</span>
      </th>
      <td>
        <KeyState apiKey={apiKey} nowMs={page.nowMs} />
      </td>
      <td class="wide">
        <SpendBar
          spentMicrocents={apiKey.spent_microcents}
          hardCapCents={apiKey.hard_cap_cents}
          budgetCents={apiKey.budget_cents}
          currency={currency}
        />
        <span class="below">
          {formatMoney(apiKey.spent_microcents, currency)}, cap {formatLimit(apiKey.hard_cap_cents, currency)}
          , budget {formatLimit(apiKey.budget_cents, currency)}
        </span>
      </td>
      <td>
        {formatCount(apiKey.requests_per_minute)}
        <span class="below">
          {formatCount(remaining)} of {formatCount(capacity)} left now
        </span>
      </td>
      <td>{lastUsedAt === undefined ? "not lately" : formatTime(lastUsedAt)}</td>
    </tr>
  );
}

/** Why requests of a key are refused, or that they are not. */
export function KeyState({ apiKey, nowMs }: { apiKey: KeyView; nowMs: number }) {
  const cap = apiKey.hard_cap_cents;
  if (apiKey.disabled) return <span class="state off">disabled</span>;
  if (apiKey.expires_at !== null && Date.parse(apiKey.expires_at) <= nowMs) {
    return <span class="state off">expired</span>;
  }
  if (cap !== null && apiKey.spent_microcents >= cap * 1_000_000) {
    return <span class="state bad">cap reached</span>;
  }
  return <span class="state good">active</span>;
}

function AfterLeak({ page }: { page: OrganizationPageCall }) {
  return (
    <section class="card" aria-labelledby="leak">
      <h2 id="leak">After a leak</h2>
      <p>Deletes every key of this organization for good. What they have spent stays in the usage.</p>
      <Form
        page={page}
        action={`/organizations/${page.organization.id}/keys/revoke-all`}
        confirm="Delete every API key of this organization? Every program that uses one is refused from the next request on."
      >
        <div class="field check">
          <label>
            <input type="checkbox" name="sure" value="yes" required />
            <span>Yes, delete all keys of {page.organization.name}</span>
          </label>
        </div>
        <button type="submit" class="danger">
          Delete all keys
        </button>
      </Form>
    </section>
  );
}
