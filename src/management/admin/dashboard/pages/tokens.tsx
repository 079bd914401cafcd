/** *Tokens*: tokens for signing in here, and for programs that call the management API. */
import { NO_PROBLEMS, type Problems, readBody } from "../form.ts";
import {
  type OrganizationPageCall,
  type PageAnswer,
  type PageRoute,
  showForm,
  showPage,
  submit,
} from "../page.ts";
import { showConfirmation, CreationForm, isSure, Layout } from "../parts/layout.tsx";
import { Field, ProblemSummary, Select, ShownOnce, typedIn } from "../parts/fields.tsx";
import { endColumn, RowTable, type RowTableColumns } from "../parts/table.tsx";
import { Time } from "../parts/inline.tsx";
import { readList } from "../read-lists.ts";
import type { TokenPageView, TokenWithSecretView } from "../views.ts";

const PATH = "/organizations/:organization/tokens";
const LIST = "/api/organizations/{organization}/tokens";
const MAX_PAGES = 10;

type TokenView = TokenPageView["data"][number];

function createToken(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api(`POST ${LIST}`, {
        body: readBody(page.form, { name: "text", role: "text" }),
      });
      return showPage(<NewToken page={page} created={body} />, 201);
    },
    refused: (problems) => showTokens(page, problems),
  });
}

async function deleteToken(page: OrganizationPageCall): Promise<PageAnswer> {
  const back = `${page.base}/tokens`;
  if (page.canChange && !isSure(page)) {
    const text = "Delete the token? Calls with it return 401 at once.";
    return showConfirmation(page, {
      title: "Delete a token",
      section: "tokens",
      text,
      answer: "Delete",
      back,
    });
  }
  await page.api(`DELETE ${LIST}/{token}`);
  return { redirect: `${back}?done=token_deleted` };
}

async function showTokens(page: OrganizationPageCall, problems: Problems = NO_PROBLEMS): Promise<PageAnswer> {
  const { items } = await readList<TokenView>(page.api, `GET ${LIST}`, MAX_PAGES);
  const typed = typedIn(page, problems);
  return showForm(
    <Layout
      page={page}
      title="Tokens"
      section="tokens"
      action={
        page.canChange ? (
          <CreationForm
            page={page}
            noun="a token"
            action={`${page.base}/tokens`}
            isOpen={problems.size > 0 || items.length === 0}
          >
            <ProblemSummary problems={problems} fields={["name", "role"]} />
            <Field {...typed("name")} label="Name" required />
            <Select {...typed("role")} label="Role" choices={ROLES} />
          </CreationForm>
        ) : null
      }
    >
      <p>
        People sign in here with a token, and programs call the management API with it. Tokens with the role
        admin can read and change everything in this organization; viewer tokens can only read.
      </p>
      <RowTable
        label="Tokens"
        class="stack"
        columns={columnsOf(page)}
        rows={items}
        empty="No tokens yet. A token gives people and programs access to this organization."
      />
    </Layout>,
    problems,
  );
}

function columnsOf(page: OrganizationPageCall): RowTableColumns<TokenView> {
  return [
    {
      label: "name",
      cell: (token) => (
        <>
          <bdi>{token.name}</bdi>
          <span class="below code">{token.display}</span>
        </>
      ),
    },
    { label: "role", cell: ({ role }) => role },
    { label: "made", cell: (token) => <Time at={token.created_at} /> },
    ...endColumn(page, (token: TokenView) => ({
      action: `${page.base}/tokens/${token.id}/delete`,
      confirm: `Delete the token "${token.name}"? People and programs that use it are signed out.`,
      button: "Delete",
      label: `Delete ${token.name}`,
    })),
  ];
}

/** The first role is the default: more rights must be chosen explicitly. */
const ROLES = [
  { value: "viewer", label: "viewer: only reads" },
  { value: "admin", label: "admin: reads and changes" },
];

function NewToken({ page, created }: { page: OrganizationPageCall; created: TokenWithSecretView }) {
  return (
    <Layout page={page} title="Your new token" section="tokens">
      <ShownOnce
        meaning="The gateway keeps only its hash."
        label={`Token "${created.name}" (${created.role})`}
        value={created.token}
        back={{ path: `${page.base}/tokens`, text: "To the list of tokens" }}
      />
    </Layout>
  );
}

export const tokenPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: (page) => showTokens(page) },
  { method: "POST", path: PATH, runInOrganization: createToken },
  { method: "POST", path: `${PATH}/:token/delete`, runInOrganization: deleteToken },
];
