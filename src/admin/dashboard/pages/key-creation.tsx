/** @jsxImportSource hono/jsx */
/** *Create an API key*, and the page that shows a new key this once. */
import { AdminError } from "../../admin-error.ts";
import { NO_PROBLEMS, type Problems, readBody, splitProblems } from "../form.ts";
import { amountText } from "../format.ts";
import type { OrganizationPageCall, PageAnswer } from "../page.ts";
import { Form, ProblemSummary, Secret } from "../parts/fields.tsx";
import { KEY_FIELDS, KeyFields, type KeyTexts, textsOfForm } from "../parts/key-fields.tsx";
import { Layout } from "../parts/layout.tsx";
import type { CatalogView, KeyWithSecretView } from "../views.ts";

/** What is left empty in a new key's rate is the organization's default. */
const CREATION_FIELDS = { ...KEY_FIELDS, requests_per_minute: "default" } as const;
const DEFAULT_RATE = 600;

export async function showKeyCreation(page: OrganizationPageCall): Promise<PageAnswer> {
  const { key_defaults: defaults } = page.organization;
  const texts: KeyTexts = {
    name: "",
    requests_per_minute: String(defaults.requests_per_minute ?? DEFAULT_RATE),
    hard_cap_cents: amountText(defaults.hard_cap_cents),
    budget_cents: amountText(defaults.budget_cents),
    max_concurrent_requests: "",
    expires_at: "",
    allowedModels: null,
  };
  return renderForm(page, texts, NO_PROBLEMS);
}

export async function createKey(page: OrganizationPageCall): Promise<PageAnswer> {
  try {
    const { body } = await page.api("POST /api/organizations/{organization}/keys", {
      params: { organization: page.organization.id },
      body: readBody(page.form, CREATION_FIELDS),
    });
    return {
      status: 201,
      markup: <NewKey page={page} created={body as KeyWithSecretView} title="Your new API key" />,
    };
  } catch (thrown) {
    if (!(thrown instanceof AdminError) || thrown.status !== 400) throw thrown;
    return renderForm(page, textsOfForm(page.form), splitProblems(thrown));
  }
}

async function renderForm(
  page: OrganizationPageCall,
  texts: KeyTexts,
  problems: Problems,
): Promise<PageAnswer> {
  const { body } = await page.api("GET /api/catalog");
  const path = `/organizations/${page.organization.id}/keys`;
  return {
    status: problems.size === 0 ? 200 : 400,
    markup: (
      <Layout page={page} title="Create an API key" section="keys">
        <ProblemSummary problems={problems} fields={Object.keys(KEY_FIELDS)} />
        <Form page={page} action={path} class="card">
          <KeyFields
            texts={texts}
            problems={problems}
            currency={page.organization.currency}
            catalog={body as CatalogView}
            disabled={!page.canChange}
          />
          <p class="actions">
            <button type="submit" disabled={!page.canChange}>
              Create the key
            </button>
            <a href={path}>Cancel</a>
          </p>
        </Form>
      </Layout>
    ),
  };
}

interface NewKeyProps {
  readonly page: OrganizationPageCall;
  readonly created: KeyWithSecretView;
  readonly title: string;
}

/** The only time that the key itself is in a page. */
export function NewKey({ page, created, title }: NewKeyProps) {
  const base = `/organizations/${page.organization.id}`;
  return (
    <Layout page={page} title={title} section="keys">
      <div class="card" role="status">
        <p>
          <strong>Copy it now: it is shown this once.</strong> Only its hash is kept. Whoever has the key can
          spend up to its cap.
        </p>
        <Secret id="secret" label={`API key "${created.name}"`} value={created.key} />
        {created.former_key_until === null ? null : (
          <p>The former key works on until {created.former_key_until}.</p>
        )}
        <p class="actions">
          <a class="button" href={`${base}/try`}>
            Try it
          </a>
          <a href={`${base}/keys`}>To the list of keys</a>
        </p>
      </div>
    </Layout>
  );
}
