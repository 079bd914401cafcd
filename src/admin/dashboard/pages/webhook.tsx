/** @jsxImportSource hono/jsx */
import type { OrganizationPageCall, PageAnswer } from "../page.ts";
import { Secret } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { ROTATE_SECRET, TEST_WEBHOOK } from "../parts/webhook.tsx";

export async function testWebhook(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api(TEST_WEBHOOK, { params: { organization: page.organization.id } });
  return {
    markup: (
      <Layout page={page} title="Test of the webhook" section="settings">
        <div class="card" role="status">
          <p>What came of it:</p>
          <dl class="pairs">
            {Object.entries(body as object).map(([name, value]) => (
              <div>
                <dt>{name.replaceAll("_", " ")}</dt>
                <dd>{value === null ? "none" : String(value)}</dd>
              </div>
            ))}
          </dl>
          <p>
            <a href={`/organizations/${page.organization.id}/settings`}>Back to the inference settings</a>
          </p>
        </div>
      </Layout>
    ),
  };
}

export async function rotateWebhookSecret(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api(ROTATE_SECRET, { params: { organization: page.organization.id } });
  return showWebhookSecret(page, (body as { secret: string }).secret);
}

/** The only time that the secret is in a page. */
export function showWebhookSecret(page: OrganizationPageCall, secret: string): PageAnswer {
  return {
    markup: (
      <Layout page={page} title="The webhook's secret" section="settings">
        <div class="card" role="status">
          <p>
            <strong>Saved. Copy the secret now: it is shown this once.</strong> The receiver checks signatures
            with it.
          </p>
          <Secret id="secret" label="Webhook secret" value={secret} />
          <p>
            <a href={`/organizations/${page.organization.id}/settings`}>Back to the inference settings</a>
          </p>
        </div>
      </Layout>
    ),
  };
}
