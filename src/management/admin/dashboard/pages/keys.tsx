/** *API keys*: the list. */
import { KEY_STATES } from "../../../../shared/settings/state.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { type ArrangedKind, ArrangedListView, figureColumns, readArranged } from "../parts/arranged-list.tsx";
import { isSure, Layout } from "../parts/layout.tsx";
import type { RowTableColumns } from "../parts/table.tsx";
import { OwnerLink, State } from "../parts/inline.tsx";
import { KEY_FORM } from "../setting-form.ts";
import type { KeyPageView } from "../views.ts";
import { createChosenRoute } from "./chosen.tsx";
import { createKey, showKeyCreation } from "./key-creation.tsx";

const KEYS: ArrangedKind = { kind: "key", noun: "API key", states: KEY_STATES, owners: ["user", "group"] };

async function showKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const list = await readArranged<ListedKey>(page, KEYS, (query) =>
    page.api("GET /api/organizations/{organization}/keys", { query }),
  );
  return showPage(
    <Layout
      page={page}
      title="API keys"
      section="keys"
      action={
        page.canChange ? (
          <a class="button" href={`${page.base}/keys/new`}>
            Create an API key
          </a>
        ) : null
      }
    >
      <ArrangedListView page={page} kind={KEYS} list={list} columns={columnsOf(page)} empty={NO_KEY} />
    </Layout>,
  );
}

type ListedKey = KeyPageView["data"][number];

const NO_KEY = "No API keys yet. Programs send one with each request; each key has its own limits and spend.";

function columnsOf(page: OrganizationPageCall): RowTableColumns<ListedKey> {
  const { base } = page;
  return [
    {
      label: "name",
      sort: "name",
      title: ({ name, display }) => `${name} (${display})`,
      cell: (key) => <OwnerLink base={base} kind="keys" owner={key} />,
    },
    {
      label: "owner",
      kind: "rest",
      cell: ({ user, group }) =>
        user !== null ? (
          <OwnerLink base={base} kind="users" owner={user} />
        ) : group === null ? null : (
          <OwnerLink base={base} kind="groups" owner={group} />
        ),
    },
    { label: "state", cell: ({ state }) => <State state={state} /> },
    ...figureColumns<ListedKey>("key", page),
  ];
}

async function revokeAllKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const path = `${page.base}/keys`;
  if (!isSure(page)) return { redirect: `${page.base}/settings#leak` };
  await page.api("POST /api/organizations/{organization}/keys/revoke-all");
  return { redirect: `${path}?done=revoked` };
}

const PATH = "/organizations/:organization/keys";

export const keyListRoutes: readonly PageRoute[] = [
  createChosenRoute({
    ...KEYS,
    settings: KEY_FORM,
    disabled: "Requests with disabled API keys return 403 until you enable them.",
  }),
  { method: "GET", path: PATH, runInOrganization: showKeys },
  { method: "POST", path: PATH, runInOrganization: createKey },
  { method: "GET", path: `${PATH}/new`, runInOrganization: showKeyCreation },
  { method: "POST", path: `${PATH}/revoke-all`, runInOrganization: revokeAllKeys },
];
