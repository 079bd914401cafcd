/** @jsxImportSource hono/jsx */
/** *Your keys*: what is somebody's own, their limits, keys, usage and last requests; all that a member sees. */
import { formatCount, formatLimit, formatMoney } from "../../format.ts";
import { KEY_SETTINGS } from "../../../settings/key.ts";
import { NO_PROBLEMS, type Problems, readBody } from "../form.ts";
import { isProviderKey } from "../../../store/management/provider-keys.ts";
import { nameLimit } from "../limit-words.ts";
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Field, Form, ProblemSummary, Secret } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { State } from "../parts/state.tsx";
import { Cell, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { readList } from "../read-lists.ts";
import { submit } from "../submit.ts";
import type { KeyView, KeyWithSecretView, LimitListView, RequestPageView, UsageView } from "../views.ts";

const ME = "/api/organizations/{organization}/me";
const PATH = "/organizations/:organization/me";
const SHOWN_REQUESTS = "20";

const { name, limits, note } = KEY_SETTINGS;
const FORM = { [name.apiName]: "text", [limits.apiName]: "someLimits", [note.apiName]: "line" } as const;

function pathOf({ params }: PageCall): string {
  return `/organizations/${params["organization"] ?? ""}/me`;
}

function showOwn(page: PageCall): Promise<PageAnswer> {
  return renderOwn(page, NO_PROBLEMS);
}

async function renderOwn(page: PageCall, problems: Problems): Promise<PageAnswer> {
  const [me, ownLimits, keys, usage, requests] = await Promise.all([
    page.api(`GET ${ME}`),
    page.api(`GET ${ME}/limits`),
    readList<KeyView>(page.api, `GET ${ME}/keys`, 1),
    page.api(`GET ${ME}/usage`, { query: { group_by: "model" } }),
    page.api(`GET ${ME}/requests`, { query: { limit: SHOWN_REQUESTS } }),
  ]);
  const user = me.body;
  const { currency } = user.organization;
  return showPage(
    <Layout page={page} title="Your keys">
      <p>
        <bdi>{user.name}</bdi> in <bdi>{user.organization.name}</bdi>
        {user.group === null ? null : (
          <>
            , group <bdi>{user.group.name}</bdi>
          </>
        )}
      </p>
      <Limits limits={ownLimits.body} currency={currency} />
      <Keys page={page} keys={keys.items} currency={currency} />
      {user.key_count < user.most_keys ? (
        <CreationForm page={page} problems={problems} />
      ) : (
        <p class="quiet">You may have {user.most_keys} keys here.</p>
      )}
      <Usage usage={usage.body} />
      <Requests requests={requests.body.data} currency={currency} />
    </Layout>,
    problems.size === 0 ? 200 : 400,
  );
}

function Limits({ limits: { data }, currency }: { limits: LimitListView; currency: string }) {
  return (
    <section aria-labelledby="own-limits">
      <h2 id="own-limits">Your limits</h2>
      {data.length === 0 ? (
        <p class="card empty">You have no limit of your own. Those above you hold all the same.</p>
      ) : (
        <Table label="Limits" class="stack" columns={["limit", "spent", "of"]}>
          {data.map((limit) => (
            <tr>
              <th scope="row">{nameLimit(limit)}</th>
              <Cell label="spent">{formatLimit(limit.spent_cents, currency)}</Cell>
              <Cell label="of">{formatLimit(limit.cents, currency)}</Cell>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function Keys({ page, keys, currency }: { page: PageCall; keys: readonly KeyView[]; currency: string }) {
  if (keys.length === 0) return <p class="card empty">You have no key yet. Create one below.</p>;
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Your API keys</h2>
      <Table label="API keys" class="stack" columns={["name", "state", "spent this month", "change"]}>
        {keys.map((key) => (
          <tr>
            <th scope="row">
              <bdi>{key.name}</bdi>
              <span class="below code">{key.display}</span>
            </th>
            <Cell label="state">
              <State state={key.state} />
            </Cell>
            <Cell label="spent this month">{formatMoney(key.spent_microcents, currency)}</Cell>
            <Cell label="change">
              <Actions page={page} view={key} />
            </Cell>
          </tr>
        ))}
      </Table>
    </section>
  );
}

const ACTIONS = [
  {
    action: "rotate",
    label: "Rotate",
    asks: "Rotate the key? The secret it has now is refused from the next request on.",
  },
  { action: "disable", label: "Disable", asks: "Disable the key? Only an administrator enables it again." },
  { action: "delete", label: "Delete", asks: "Delete the key? This cannot be undone." },
] as const;

/** What tokens of a provider go by has no secret to be given anew. */
function canDo(action: (typeof ACTIONS)[number]["action"], view: KeyView): boolean {
  if (action === "disable") return !view.disabled;
  return action !== "rotate" || !isProviderKey(view);
}

function Actions({ page, view }: { page: PageCall; view: KeyView }) {
  return (
    <div class="actions">
      {ACTIONS.filter(({ action }) => canDo(action, view)).map(({ action, label, asks }) => (
        <Form page={page} action={`${pathOf(page)}/keys/${view.id}/${action}`} confirm={asks}>
          <button type="submit" class="quiet" aria-label={`${label} ${view.name}`}>
            {label}
          </button>
        </Form>
      ))}
    </div>
  );
}

function CreationForm({ page, problems }: { page: PageCall; problems: Problems }) {
  const field = (row: { readonly apiName: string; readonly label: string; readonly hint?: string }) => (
    <Field
      name={row.apiName}
      label={row.label}
      value={page.form.text(row.apiName)}
      problems={problems}
      hint={row.hint}
      required={row === name}
    />
  );
  return (
    <section class="card" aria-labelledby="create">
      <h2 id="create">Create an API key</h2>
      <ProblemSummary problems={problems} fields={Object.keys(FORM)} />
      <Form page={page} action={`${pathOf(page)}/keys`}>
        {field(name)}
        {field({ ...limits, hint: "Tighter than your own, if you like: day cap 5.00, week cap 20.00" })}
        {field(note)}
        <button type="submit">Create the key</button>
      </Form>
    </section>
  );
}

function Usage({ usage: { data, currency, month } }: { usage: UsageView }) {
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Your usage in {month}</h2>
      {data.length === 0 ? (
        <p class="card empty">Nothing was used yet.</p>
      ) : (
        <Table label="Your usage" class="stack" columns={["model", "requests", "cost"]}>
          {data.map((row) => (
            <tr>
              <th scope="row">{row.model}</th>
              <Cell label="requests">{formatCount(row.requests)}</Cell>
              <Cell label="cost">{formatMoney(row.cost_microcents, currency)}</Cell>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function Requests({ requests, currency }: { requests: RequestPageView["data"]; currency: string }) {
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">Your last requests</h2>
      {requests.length === 0 ? (
        <p class="card empty">There was none yet.</p>
      ) : (
        <Table label="Requests" class="stack" columns={["when", "model", "status", "cost"]}>
          {requests.map((request) => (
            <tr>
              <th scope="row">
                <Time at={request.created_at} />
              </th>
              <Cell label="model">{request.model ?? "none"}</Cell>
              <Cell label="status">{request.error_code ?? String(request.status ?? "")}</Cell>
              <Cell label="cost">{formatMoney(request.cost_microcents ?? 0, currency)}</Cell>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function createKey(page: PageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api(`POST ${ME}/keys`, { body: readBody(page.form, FORM) });
      return showPage(<NewKey page={page} created={body} />, 201);
    },
    refused: (problems) => renderOwn(page, problems),
  });
}

/** The only time that the key itself is in a page. */
function NewKey({ page, created }: { page: PageCall; created: KeyWithSecretView }) {
  return (
    <Layout page={page} title="Your new API key">
      <div class="card" role="status">
        <p>
          <strong>Copy it now: it is shown this once.</strong> Only its hash is kept.
        </p>
        <Secret id="secret" label={`API key "${created.name}"`} value={created.key} />
        <p>
          Base URL: <code>{page.gatewayUrl}/v1</code>
        </p>
        <p>
          <a href={pathOf(page)}>To your keys</a>
        </p>
      </div>
    </Layout>
  );
}

async function rotateKey(page: PageCall): Promise<PageAnswer> {
  if (!isSure(page)) return ask(page, "rotate");
  const { body } = await page.api(`POST ${ME}/keys/{key}/rotate`);
  return showPage(<NewKey page={page} created={body} />);
}

async function disableKey(page: PageCall): Promise<PageAnswer> {
  if (!isSure(page)) return ask(page, "disable");
  await page.api(`PATCH ${ME}/keys/{key}`, { body: { [KEY_SETTINGS.disabled.apiName]: true } });
  return { redirect: `${pathOf(page)}?done=own_disabled` };
}

async function deleteKey(page: PageCall): Promise<PageAnswer> {
  if (!isSure(page)) return ask(page, "delete");
  await page.api(`DELETE ${ME}/keys/{key}`);
  return { redirect: `${pathOf(page)}?done=deleted` };
}

function ask(page: PageCall, wanted: (typeof ACTIONS)[number]["action"]): PageAnswer {
  const { label, asks } = ACTIONS.find(({ action }) => action === wanted) ?? ACTIONS[0];
  return askFirst(page, {
    title: `${label} a key`,
    section: "",
    text: asks,
    answer: label,
    back: pathOf(page),
  });
}

export const ownPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, member: true, run: showOwn },
  { method: "POST", path: `${PATH}/keys`, member: true, run: createKey },
  { method: "POST", path: `${PATH}/keys/:key/rotate`, member: true, run: rotateKey },
  { method: "POST", path: `${PATH}/keys/:key/disable`, member: true, run: disableKey },
  { method: "POST", path: `${PATH}/keys/:key/delete`, member: true, run: deleteKey },
];
