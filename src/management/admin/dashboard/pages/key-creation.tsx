/** *Create an API key*, and the page that shows a new key once. */
import { KEY_SETTINGS } from "../../../../shared/settings/key.ts";
import { defaultsOf, describeSettings } from "../../../../shared/settings/table.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import {
  type OrganizationPageCall,
  type PageAnswer,
  type PageCall,
  showForm,
  showPage,
  submit,
} from "../page.ts";
import { readWantedOwners, resolveOwners } from "../owner-texts.ts";
import { chooseEndpoint } from "../parts/key-status.tsx";
import { Form, ProblemSummary, ShownOnce } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { FoldedFields, SettingFields } from "../parts/setting-fields.tsx";
import { Time } from "../parts/inline.tsx";
import {
  KEY_FORM,
  listProblemFields,
  readSettings,
  type SettingTexts,
  textsOf,
  textsOfForm,
} from "../setting-form.ts";
import { createSnippets } from "../snippets.ts";
import { Snippets } from "../parts/snippet-box.tsx";
import type { KeyWithSecretView } from "../views.ts";

export async function showKeyCreation(page: OrganizationPageCall): Promise<PageAnswer> {
  const ofOrganization = Object.entries(page.organization.key_defaults).filter(([, value]) => value !== null);
  const published = describeSettings(KEY_SETTINGS, { ...defaultsOf(KEY_SETTINGS), name: "" });
  const texts = textsOf(KEY_FORM, { ...published, ...Object.fromEntries(ofOrganization) });
  const owners = await readWantedOwners(page.api, page.query);
  return renderForm(page, { ...texts, ...owners }, NO_PROBLEMS);
}

export function createKey(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const { body } = await page.api("POST /api/organizations/{organization}/keys", {
        body: await resolveOwners(page.api, readSettings(KEY_FORM, page.form, null)),
      });
      return showPage(<NewKey page={page} created={body} title="Your new API key" />, 201);
    },
    refused: (problems) => renderForm(page, textsOfForm(KEY_FORM, page.form), problems),
  });
}

const { name, userId, groupId, limits, requestsPerMinute } = KEY_SETTINGS;
/** Settings that most new keys need, in this order. */
const USUAL = [name, userId, groupId, limits, requestsPerMinute].flatMap((row) =>
  KEY_FORM.filter(({ path }) => path === row.apiName),
);

async function renderForm(
  page: OrganizationPageCall,
  texts: SettingTexts,
  problems: Problems,
): Promise<PageAnswer> {
  const { body } = await page.api("GET /api/catalog");
  const path = `${page.base}/keys`;
  const fields = {
    texts,
    problems,
    currency: page.organization.currency,
    catalog: body,
    base: page.base,
    disabled: !page.canChange,
  };
  return showForm(
    <Layout page={page} title="Create an API key" section="keys">
      <ProblemSummary problems={problems} fields={listProblemFields(KEY_FORM)} />
      <Form page={page} action={path} class="card">
        <SettingFields settings={USUAL} {...fields} />
        <FoldedFields
          title="More settings"
          about="tokens per minute, sessions, models, parallel requests, expiry, note, tags"
          settings={KEY_FORM.filter((setting) => !USUAL.includes(setting))}
          {...fields}
        />
        <p class="actions">
          <button type="submit" class="primary" disabled={!page.canChange}>
            Create the key
          </button>
          <a href={path}>Cancel</a>
        </p>
      </Form>
    </Layout>,
    problems,
  );
}

interface NewKeyProps {
  readonly page: OrganizationPageCall;
  readonly created: KeyWithSecretView;
  readonly title: string;
}

interface KeySnippetsProps {
  readonly page: PageCall;
  readonly created: KeyWithSecretView;
  readonly currency: string;
}

/** Snippets with the first model that the key may use. Calls no API: once the secret exists, nothing may prevent its page. */
export function KeySnippets({ page, created, currency }: KeySnippetsProps) {
  const { allowed_models: models, key } = created;
  const [model] = page.options.listModels({ currency, models });
  const endpoint = model === undefined ? "chat" : chooseEndpoint([...model.capabilities]);
  return (
    <>
      <h2>Try it</h2>
      <p>
        The snippets contain this key. OpenAI clients use the base URL{" "}
        <code class="break">{page.gatewayUrl}/v1</code>, Anthropic clients{" "}
        <code class="break">{page.gatewayUrl}</code>.
      </p>
      <Snippets snippets={createSnippets(endpoint, page.gatewayUrl, model?.id ?? "vendor/model", key)} />
    </>
  );
}

export function NewKey({ page, created, title }: NewKeyProps) {
  return (
    <Layout page={page} title={title} section="keys">
      <ShownOnce
        meaning="The gateway keeps only its hash. Anyone who has the key can use it within its limits."
        label={`API key "${created.name}"`}
        value={created.key}
        back={{ path: `${page.base}/keys`, text: "To the list of keys" }}
      >
        {created.former_key_until === null ? null : (
          <p>
            The previous secret works until <Time at={created.former_key_until} />.
          </p>
        )}
      </ShownOnce>
      <KeySnippets page={page} created={created} currency={page.organization.currency} />
    </Layout>
  );
}
