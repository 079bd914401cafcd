/** @jsxImportSource hono/jsx */
/** *Tokens*: what people sign in with here and programs call the management API with. */
import { NO_PROBLEMS, type Problems, readBody } from "../form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Field, Form, ProblemSummary, Secret, Select } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { Cell, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { readList } from "../read-lists.ts";
import { submit } from "../submit.ts";
import type { TokenPageView, TokenWithSecretView } from "../views.ts";

const COLUMNS = ["name", "role", "made"];

const PATH = "/organizations/:organization/tokens";
const LIST = "/api/organizations/{organization}/tokens";
const MAX_PAGES = 10;

type TokenView = TokenPageView["data"][number];

function showTokens(page: OrganizationPageCall): Promise<PageAnswer> {
  return renderTokens(page, NO_PROBLEMS);
}

function createToken(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api(`POST ${LIST}`, {
        body: readBody(page.form, { name: "text", role: "text" }),
      });
      return showPage(<NewToken page={page} created={body} />, 201);
    },
    refused: (problems) => renderTokens(page, problems),
  });
}

async function deleteToken(page: OrganizationPageCall): Promise<PageAnswer> {
  const back = `${page.base}/tokens`;
  if (page.canChange && !isSure(page)) {
    const text = "Delete the token? Whoever uses it is signed out.";
    return askFirst(page, { title: "Delete a token", section: "tokens", text, answer: "Delete", back });
  }
  await page.api(`DELETE ${LIST}/{token}`);
  return { redirect: `${back}?done=token_deleted` };
}

async function renderTokens(page: OrganizationPageCall, problems: Problems): Promise<PageAnswer> {
  const { items } = await readList<TokenView>(page.api, `GET ${LIST}`, MAX_PAGES);
  return showPage(
    <Layout page={page} title="Tokens" section="tokens">
      <p>
        People sign in here with a token, and programs call the management API with one. An admin's reads and
        changes everything of this organization, a viewer's only reads.
      </p>
      <ProblemSummary problems={problems} fields={["name", "role"]} />
      {items.length === 0 ? (
        <p class="card empty">There is no token yet: only the operator can sign in.</p>
      ) : (
        <TokenTable page={page} tokens={items} />
      )}
      {page.canChange ? <CreationForm page={page} problems={problems} /> : null}
    </Layout>,
    problems.size === 0 ? 200 : 400,
  );
}

function TokenTable({ page, tokens }: { page: OrganizationPageCall; tokens: readonly TokenView[] }) {
  return (
    <Table label="Tokens" class="stack" columns={page.canChange ? [...COLUMNS, "end"] : COLUMNS}>
      {tokens.map((token) => (
        <tr>
          <th scope="row">
            <bdi>{token.name}</bdi>
            <span class="below code">{token.display}</span>
          </th>
          <Cell label="role">{token.role}</Cell>
          <Cell label="made">
            <Time at={token.created_at} />
          </Cell>
          {page.canChange ? (
            <Cell label="end">
              <Form
                page={page}
                action={`${page.base}/tokens/${token.id}/delete`}
                confirm={`Delete the token "${token.name}"? Whoever uses it is signed out.`}
              >
                <button type="submit" class="danger" aria-label={`Delete ${token.name}`}>
                  Delete
                </button>
              </Form>
            </Cell>
          ) : null}
        </tr>
      ))}
    </Table>
  );
}

/** The first one is chosen: whoever wants more says so. */
const ROLES = [
  { value: "viewer", label: "viewer: only reads" },
  { value: "admin", label: "admin: reads and changes" },
];

function CreationForm({ page, problems }: { page: OrganizationPageCall; problems: Problems }) {
  return (
    <section class="card" aria-labelledby="create">
      <h2 id="create">Create a token</h2>
      <Form page={page} action={`${page.base}/tokens`}>
        <Field name="name" label="Name" value={page.form.text("name")} problems={problems} required />
        <Select name="role" label="Role" value={page.form.text("role")} problems={problems} choices={ROLES} />
        <button type="submit">Create the token</button>
      </Form>
    </section>
  );
}

/** The only time that the token itself is in a page. */
function NewToken({ page, created }: { page: OrganizationPageCall; created: TokenWithSecretView }) {
  return (
    <Layout page={page} title="Your new token" section="tokens">
      <div class="card" role="status">
        <p>
          <strong>Copy it now: it is shown this once.</strong> Only its hash is kept.
        </p>
        <Secret id="secret" label={`Token "${created.name}" (${created.role})`} value={created.token} />
        <p>
          <a href={`${page.base}/tokens`}>To the list of tokens</a>
        </p>
      </div>
    </Layout>
  );
}

export const tokenPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showTokens },
  { method: "POST", path: PATH, runInOrganization: createToken },
  { method: "POST", path: `${PATH}/:token/delete`, runInOrganization: deleteToken },
];
