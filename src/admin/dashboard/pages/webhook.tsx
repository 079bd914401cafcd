/** @jsxImportSource hono/jsx */
import { readBody } from "../form.ts";
import { formatCount } from "../../format.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { Form, Secret } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import {
  ROTATE_FURTHER_SECRET,
  ROTATE_SECRET,
  TEST_FURTHER_WEBHOOK,
  TEST_WEBHOOK,
} from "../parts/webhook.tsx";

export async function testWebhook(page: OrganizationPageCall): Promise<PageAnswer> {
  const isFirst = page.params["webhook"] === undefined;
  const { body: result } = await page.api(isFirst ? TEST_WEBHOOK : TEST_FURTHER_WEBHOOK);
  const { url, format } = describeTested(page);
  return showPage(
    <Layout page={page} title="Test of the webhook" section="settings">
      {result.delivered ? (
        <p class="notice good" role="status">
          Delivered: the endpoint answered {result.status} after {formatCount(result.duration_ms)} ms.
        </p>
      ) : (
        <p class="notice bad" role="alert">
          Not delivered: {result.error} (after {formatCount(result.duration_ms)} ms). Put the endpoint or the
          URL right and test again.
        </p>
      )}
      <p>
        {format === "standard" ? (
          <>
            One signed event of the type <code>webhook.test</code>
          </>
        ) : (
          "One test"
        )}{" "}
        was sent to <code class="break">{url}</code>.
      </p>
      <div class="actions">
        <Form page={page} action={page.path}>
          <button type="submit">Test again</button>
        </Form>
        <a href={`${page.base}/settings`}>Back to the inference settings</a>
      </div>
    </Layout>,
  );
}

export async function rotateWebhookSecret(page: OrganizationPageCall): Promise<PageAnswer> {
  const isFirst = page.params["webhook"] === undefined;
  const { body } = await page.api(isFirst ? ROTATE_SECRET : ROTATE_FURTHER_SECRET, {
    body: readBody(page.form, { grace_seconds: "default" }),
  });
  return showWebhookSecret(page, body.secret);
}

function describeTested({ organization, params }: OrganizationPageCall) {
  const { webhook, webhooks } = organization.notifications;
  const further = webhooks.find(({ id }) => id === params["webhook"]);
  return {
    url: further?.url ?? webhook?.url ?? "the webhook",
    format: further?.format ?? "standard",
  };
}

/** The only time that the secret is in a page. */
export function showWebhookSecret(page: OrganizationPageCall, secret: string): PageAnswer {
  return showPage(
    <Layout page={page} title="The webhook's secret" section="settings">
      <div class="card" role="status">
        <p>
          <strong>Saved. Copy the secret now: it is shown this once.</strong> The receiver checks signatures
          with it.
        </p>
        <Secret id="secret" label="Webhook secret" value={secret} />
        <p>
          <a href={`${page.base}/settings`}>Back to the inference settings</a>
        </p>
      </div>
    </Layout>,
  );
}
