/** *Your keys*: a person's limits, keys, usage and recent requests; all that a member sees. */
import type { KeyStatus } from "../../../../data-path/limits/reports/key-status.ts";
import { AdminError } from "../../admin-error.ts";
import { formatSumMoney } from "../../format.ts";
import type { KeyHolder } from "../../principal.ts";
import { FirstRequest, formatHideable, Headroom, StatusLimits, ContactAdvice } from "../parts/key-status.tsx";
import { OwnTable, pathOf, readUse, Use } from "./own-use.tsx";
import { KEY_SETTINGS } from "../../../../shared/settings/key.ts";
import { KeySnippets } from "./key-creation.tsx";
import { NO_PROBLEMS, type Problems, readBody } from "../form.ts";
import { type PageAnswer, type PageCall, type PageRoute, showForm, showPage, submit } from "../page.ts";
import { isProviderKey } from "../../../../shared/stored/management.ts";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { showConfirmation, CreationForm, isSure, Layout, Section } from "../parts/layout.tsx";
import { Form, ProblemSummary, ShownOnce } from "../parts/fields.tsx";
import { State } from "../parts/inline.tsx";
import type { RowTableColumns } from "../parts/table.tsx";
import { KEY_FORM, textsOfForm } from "../setting-form.ts";
import { SettingFields } from "../parts/setting-fields.tsx";
import { readList } from "../read-lists.ts";
import type { KeyView, KeyWithSecretView, OwnLimitView, OwnUserView } from "../views.ts";

const ME = "/api/organizations/{organization}/me";
const PATH = "/organizations/:organization/me";

const { name, limits, note } = KEY_SETTINGS;
const FORM = { [name.apiName]: "text", [limits.apiName]: "someLimits", [note.apiName]: "line" } as const;
const FORM_FIELDS = KEY_FORM.filter(({ path }) => path in FORM);

/** Number of keys with limits shown. */
const SHOWN_STATUSES = 10;

async function showOwn(page: PageCall, problems: Problems = NO_PROBLEMS): Promise<PageAnswer> {
  const { principal } = page;
  if (principal.type === "key") return showOfKey(page, principal);
  const [me, ownLimits, keys] = await Promise.all([
    page.api(`GET ${ME}`),
    page.api(`GET ${ME}/limits`),
    readList<KeyView>(page.api, `GET ${ME}/keys`, 1),
  ]);
  const user = me.body;
  const statuses = await readStatuses(page, keys.items.slice(0, SHOWN_STATUSES));
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
      <Headroom page={page} statuses={statuses} />
      <Keys page={page} user={user} keys={keys.items} problems={problems} />
      {statuses[0] === undefined ? null : <FirstRequest page={page} status={statuses[0]} />}
      {statuses.length > 0 ? (
        <StatusLimits statuses={statuses} />
      ) : (
        <OwnTable
          id="limits"
          title="Limits"
          label="Limits, table"
          rows={ownLimits.body.data}
          columns={limitColumns(user.organization.currency)}
          empty="You have no limits of your own. Limits of your group and organization apply."
        />
      )}
      <Use page={page} currency={user.organization.currency} {...await readUse(page)} />
    </Layout>,
    problems,
  );
}

/** Page of someone who signed in with an API key: only this key, and nothing to change. */
async function showOfKey(page: PageCall, { keyId, name: keyName }: KeyHolder): Promise<PageAnswer> {
  const [status] = await readStatuses(page, [{ id: keyId }]);
  if (status === undefined) throw new AdminError("key_not_found");
  return showPage(
    <Layout page={page} title={`API key "${keyName}"`}>
      <p>
        <span class="code">{status.display}</span> in <bdi>{status.organization.name}</bdi>
      </p>
      <Headroom page={page} statuses={[status]} />
      <FirstRequest page={page} status={status} />
      <StatusLimits statuses={[status]} />
      <Use page={page} currency={status.currency} {...await readUse(page)} />
      <Section id="rotate" title="Rotate">
        <p>
          This sign-in can't rotate the API key: otherwise, a thief of the key could lock you out.{" "}
          {status.user === null ? (
            <ContactAdvice page={page} change="a new secret" />
          ) : (
            <>
              <bdi>{status.user.name}</bdi> can rotate it after signing in with the company's account.
            </>
          )}
        </p>
      </Section>
    </Layout>,
  );
}

function readStatuses(page: PageCall, keys: readonly Pick<KeyView, "id">[]): Promise<KeyStatus[]> {
  return Promise.all(
    keys.map(async ({ id }) => (await page.api(`GET ${ME}/keys/{key}/status`, { params: { key: id } })).body),
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
        <OwnCreationForm
          page={page}
          currency={user.organization.currency}
          problems={problems}
          isFirst={keys.length === 0}
        />
      ) : (
        <p class="quiet">You can have at most {user.most_keys} API keys.</p>
      )}
    </>
  );
}

function limitColumns(currency: string): RowTableColumns<OwnLimitView> {
  return [
    { label: "limit", cell: labelLimit },
    { label: "spent", cell: (limit) => formatHideable(limit.spent_cents, currency) },
    { label: "of", cell: (limit) => formatHideable(limit.cents, currency) },
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
    { label: "spent this month", cell: (key) => formatSumMoney(key.spent_microcents, currency) },
    { label: "change", cell: (key) => <Actions page={page} view={key} /> },
  ];
}

interface Action {
  readonly action: "rotate" | "disable" | "delete";
  readonly label: string;
  readonly question: string;
  readonly run: (page: PageCall) => Promise<PageAnswer>;
}

const ACTIONS: readonly Action[] = [
  {
    action: "rotate",
    label: "Rotate",
    question: "Rotate the API key? Requests with its current secret return 401 at once.",
    async run(page) {
      const { body: user } = await page.api(`GET ${ME}`);
      const { body } = await page.api(`POST ${ME}/keys/{key}/rotate`);
      return showPage(<NewKey page={page} created={body} user={user} />);
    },
  },
  {
    action: "disable",
    label: "Disable",
    question: "Disable the key? Only an admin can enable it again.",
    async run(page) {
      await page.api(`PATCH ${ME}/keys/{key}`, { body: { [KEY_SETTINGS.disabled.apiName]: true } });
      return { redirect: `${pathOf(page)}?done=own_disabled` };
    },
  },
  {
    action: "delete",
    label: "Delete",
    question: "Delete the key? This cannot be undone.",
    async run(page) {
      await page.api(`DELETE ${ME}/keys/{key}`);
      return { redirect: `${pathOf(page)}?done=deleted` };
    },
  },
];

/** Returns whether an action applies to a key. A key for an identity provider's tokens has no secret to rotate. */
function canDo(action: Action["action"], view: KeyView): boolean {
  if (action === "disable") return !view.disabled;
  return action !== "rotate" || !isProviderKey(view);
}

function Actions({ page, view }: { page: PageCall; view: KeyView }) {
  return (
    <div class="actions">
      {ACTIONS.filter(({ action }) => canDo(action, view)).map(({ action, label, question }) => (
        <Form page={page} action={`${pathOf(page)}/keys/${view.id}/${action}`} confirm={question}>
          <button type="submit" class="quiet" aria-label={`${label} ${view.name}`}>
            {label}
          </button>
        </Form>
      ))}
    </div>
  );
}

interface OwnCreationProps {
  readonly page: PageCall;
  readonly currency: string;
  readonly problems: Problems;
  readonly isFirst: boolean;
}

function OwnCreationForm({ page, currency, problems, isFirst }: OwnCreationProps) {
  return (
    <CreationForm
      page={page}
      noun="an API key"
      button="Create the key"
      isOpen={isFirst || problems.size > 0}
      action={`${pathOf(page)}/keys`}
      problems={<ProblemSummary problems={problems} fields={Object.keys(FORM)} />}
    >
      <SettingFields
        settings={FORM_FIELDS}
        texts={textsOfForm(FORM_FIELDS, page.form)}
        problems={problems}
        currency={currency}
        hints={{ [limits.apiName]: "Optional: a limit tighter than your own." }}
      />
    </CreationForm>
  );
}

function createKey(page: PageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body: user } = await page.api(`GET ${ME}`);
      const { body } = await page.api(`POST ${ME}/keys`, { body: readBody(page.form, FORM) });
      return showPage(<NewKey page={page} created={body} user={user} />, 201);
    },
    refused: (problems) => showOwn(page, problems),
  });
}

interface NewKeyProps {
  readonly page: PageCall;
  readonly created: KeyWithSecretView;
  readonly user: OwnUserView;
}

function NewKey({ page, created, user }: NewKeyProps) {
  return (
    <Layout page={page} title="Your new API key">
      <ShownOnce
        meaning="The gateway keeps only its hash."
        label={`API key "${created.name}"`}
        value={created.key}
        back={{ path: pathOf(page), text: "To your keys" }}
      />
      <KeySnippets page={page} created={created} currency={user.organization.currency} />
    </Layout>
  );
}

async function act(page: PageCall, { label, question, run }: Action): Promise<PageAnswer> {
  if (isSure(page)) return run(page);
  return showConfirmation(page, {
    title: `${label} a key`,
    section: "",
    text: question,
    answer: label,
    back: pathOf(page),
  });
}

export const ownPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, member: true, key: true, run: (page) => showOwn(page) },
  { method: "POST", path: `${PATH}/keys`, member: true, run: createKey },
  ...ACTIONS.map((one): PageRoute => {
    const path = `${PATH}/keys/:key/${one.action}`;
    return { method: "POST", path, member: true, run: (page) => act(page, one) };
  }),
];
