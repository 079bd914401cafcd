/** *Your keys*: a person's limits, keys, usage and recent requests; all that a member sees. */
import { formatCount, formatLimit, formatMoney, monthName } from "../../format.ts";
import { KEY_SETTINGS } from "../../../../shared/settings/key.ts";
import { NO_PROBLEMS, type Problems, readBody } from "../form.ts";
import { type PageAnswer, type PageCall, type PageRoute, showForm, showPage, submit } from "../page.ts";
import { isProviderKey } from "../../../../data-path/store/management/provider-keys.ts";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { askFirst, CreationForm, isSure, Layout, Section, type SectionProps } from "../parts/layout.tsx";
import { Field, Form, ProblemSummary, ShownOnce, typedIn } from "../parts/fields.tsx";
import { State, Time } from "../parts/inline.tsx";
import { RowTable, type RowTableColumns, type RowTableProps } from "../parts/table.tsx";
import { readList } from "../read-lists.ts";
import type {
  KeyView,
  KeyWithSecretView,
  LimitView,
  OwnUserView,
  RequestPageView,
  UsageRowView,
} from "../views.ts";

const ME = "/api/organizations/{organization}/me";
const PATH = "/organizations/:organization/me";
const SHOWN_REQUESTS = "20";

const { name, limits, note } = KEY_SETTINGS;
const FORM = { [name.apiName]: "text", [limits.apiName]: "someLimits", [note.apiName]: "line" } as const;

function pathOf({ params }: PageCall): string {
  return `/organizations/${params["organization"] ?? ""}/me`;
}

async function showOwn(page: PageCall, problems: Problems = NO_PROBLEMS): Promise<PageAnswer> {
  const [me, ownLimits, keys, usage, requests] = await Promise.all([
    page.api(`GET ${ME}`),
    page.api(`GET ${ME}/limits`),
    readList<KeyView>(page.api, `GET ${ME}/keys`, 1),
    page.api(`GET ${ME}/usage`, { query: { group_by: "model" } }),
    page.api(`GET ${ME}/requests`, { query: { limit: SHOWN_REQUESTS } }),
  ]);
  const user = me.body;
  const { currency } = user.organization;
  return showForm(
    <Layout page={page} title="Your keys">
      <p>
        <bdi>{user.name}</bdi> in <bdi>{user.organization.name}</bdi>
        {user.group === null ? null : (
          <>
            , group <bdi>{user.group.name}</bdi>
          </>
        )}
      </p>
      <OwnTable
        id="own-limits"
        title="Your limits"
        label="Limits"
        rows={ownLimits.body.data}
        columns={limitColumns(currency)}
        empty="You have no limits of your own. Limits of your group and organization apply."
      />
      <Keys page={page} user={user} keys={keys.items} problems={problems} />
      <OwnTable
        id="usage"
        title={`Your usage in ${monthName(usage.body.from.slice(0, 7))}`}
        label="Your usage"
        rows={usage.body.data}
        columns={usageColumns(usage.body.currency)}
        empty="No usage yet."
      />
      <OwnTable
        id="requests"
        title="Your last requests"
        label="Requests"
        rows={requests.body.data}
        columns={requestColumns(currency)}
        empty="No requests yet."
      />
    </Layout>,
    problems,
  );
}

interface KeysProps {
  readonly page: PageCall;
  readonly user: OwnUserView;
  readonly keys: readonly KeyView[];
  readonly problems: Problems;
}

function Keys({ page, user, keys, problems }: KeysProps) {
  const columns = keyColumns(page, user.organization.currency);
  return (
    <>
      {keys.length === 0 ? (
        <p class="card empty">You have no key yet. Create one below.</p>
      ) : (
        <OwnTable id="keys" title="Your API keys" label="API keys" rows={keys} columns={columns} />
      )}
      {user.key_count < user.most_keys ? (
        <OwnCreationForm page={page} problems={problems} />
      ) : (
        <p class="quiet">You may have {user.most_keys} keys here.</p>
      )}
    </>
  );
}

type OwnTableProps<Row> = Omit<RowTableProps<Row>, "class"> & Pick<SectionProps, "id" | "title">;

function OwnTable<Row>({ id, title, ...table }: OwnTableProps<Row>) {
  return (
    <Section id={id} title={title}>
      <RowTable class="stack" {...table} />
    </Section>
  );
}

function limitColumns(currency: string): RowTableColumns<LimitView> {
  return [
    { label: "limit", cell: labelLimit },
    { label: "spent", cell: (limit) => formatLimit(limit.spent_cents, currency) },
    { label: "of", cell: (limit) => formatLimit(limit.cents, currency) },
  ];
}

function keyColumns(page: PageCall, currency: string): RowTableColumns<KeyView> {
  return [
    {
      label: "name",
      cell: (key) => (
        <>
          <bdi>{key.name}</bdi>
          <span class="below code">{key.display}</span>
        </>
      ),
    },
    { label: "state", cell: ({ state }) => <State state={state} /> },
    { label: "spent this month", cell: (key) => formatMoney(key.spent_microcents, currency) },
    { label: "change", cell: (key) => <Actions page={page} view={key} /> },
  ];
}

function usageColumns(currency: string): RowTableColumns<UsageRowView> {
  return [
    { label: "model", cell: ({ model }) => model },
    { label: "requests", cell: ({ requests }) => formatCount(requests) },
    { label: "cost", cell: (row) => formatMoney(row.cost_microcents, currency) },
  ];
}

function requestColumns(currency: string): RowTableColumns<RequestPageView["data"][number]> {
  return [
    { label: "when", cell: (request) => <Time at={request.created_at} /> },
    { label: "model", cell: ({ model }) => model ?? "none" },
    { label: "status", cell: ({ error_code: code, status }) => code ?? String(status ?? "") },
    { label: "cost", cell: ({ cost_microcents: cost }) => formatMoney(cost ?? 0, currency) },
  ];
}

interface Action {
  readonly action: "rotate" | "disable" | "delete";
  readonly label: string;
  readonly asks: string;
  readonly run: (page: PageCall) => Promise<PageAnswer>;
}

const ACTIONS: readonly Action[] = [
  {
    action: "rotate",
    label: "Rotate",
    asks: "Rotate the API key? Requests with its current secret return 401 at once.",
    async run(page) {
      const { body } = await page.api(`POST ${ME}/keys/{key}/rotate`);
      return showPage(<NewKey page={page} created={body} />);
    },
  },
  {
    action: "disable",
    label: "Disable",
    asks: "Disable the key? Only an administrator enables it again.",
    async run(page) {
      await page.api(`PATCH ${ME}/keys/{key}`, { body: { [KEY_SETTINGS.disabled.apiName]: true } });
      return { redirect: `${pathOf(page)}?done=own_disabled` };
    },
  },
  {
    action: "delete",
    label: "Delete",
    asks: "Delete the key? This cannot be undone.",
    async run(page) {
      await page.api(`DELETE ${ME}/keys/{key}`);
      return { redirect: `${pathOf(page)}?done=deleted` };
    },
  },
];

/** Keys for a provider's tokens have no secret to rotate. */
function canDo(action: Action["action"], view: KeyView): boolean {
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

function OwnCreationForm({ page, problems }: { page: PageCall; problems: Problems }) {
  const typed = typedIn(page, problems);
  const field = (row: { readonly apiName: string; readonly label: string; readonly hint?: string }) => (
    <Field {...typed(row.apiName)} label={row.label} hint={row.hint} required={row === name} />
  );
  return (
    <CreationForm
      page={page}
      what="an API key"
      button="Create the key"
      action={`${pathOf(page)}/keys`}
      problems={<ProblemSummary problems={problems} fields={Object.keys(FORM)} />}
    >
      {field(name)}
      {field({ ...limits, hint: "Tighter than your own, if you like: day cap 5.00, week cap 20.00" })}
      {field(note)}
    </CreationForm>
  );
}

function createKey(page: PageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api(`POST ${ME}/keys`, { body: readBody(page.form, FORM) });
      return showPage(<NewKey page={page} created={body} />, 201);
    },
    refused: (problems) => showOwn(page, problems),
  });
}

function NewKey({ page, created }: { page: PageCall; created: KeyWithSecretView }) {
  return (
    <Layout page={page} title="Your new API key">
      <ShownOnce
        meaning="Only its hash is kept."
        label={`API key "${created.name}"`}
        value={created.key}
        back={{ path: pathOf(page), text: "To your keys" }}
      >
        <p>
          Base URL: <code>{page.gatewayUrl}/v1</code>
        </p>
      </ShownOnce>
    </Layout>
  );
}

async function act(page: PageCall, { label, asks, run }: Action): Promise<PageAnswer> {
  if (isSure(page)) return run(page);
  return askFirst(page, {
    title: `${label} a key`,
    section: "",
    text: asks,
    answer: label,
    back: pathOf(page),
  });
}

export const ownPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, member: true, run: (page) => showOwn(page) },
  { method: "POST", path: `${PATH}/keys`, member: true, run: createKey },
  ...ACTIONS.map((one): PageRoute => {
    const path = `${PATH}/keys/:key/${one.action}`;
    return { method: "POST", path, member: true, run: (page) => act(page, one) };
  }),
];
