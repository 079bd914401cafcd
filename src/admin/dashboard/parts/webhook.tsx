/** @jsxImportSource hono/jsx */
import { hasCall } from "../call-api.ts";
import { formatTime } from "../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { OrganizationView } from "../views.ts";
import { Form } from "./fields.tsx";

export const TEST_WEBHOOK = "POST /api/organizations/{organization}/webhook/test";
export const ROTATE_SECRET = "POST /api/organizations/{organization}/webhook/rotate-secret";

type WebhookView = NonNullable<OrganizationView["notifications"]["webhook"]>;

/** What is done with a webhook that is set. */
export function Webhook({ page, webhook }: { page: OrganizationPageCall; webhook: WebhookView }) {
  const { url, disabled_at: disabledAt } = webhook;
  if (!page.canChange || !hasCall(TEST_WEBHOOK)) return null;
  const path = `/organizations/${page.organization.id}/settings/webhook`;
  return (
    <section class="card" aria-labelledby="webhook">
      <h2 id="webhook">Webhook</h2>
      <p>
        <code class="break">{url}</code>
      </p>
      {disabledAt === null ? null : (
        <p class="notice warn">
          Nothing is sent since {formatTime(disabledAt)}: the endpoint answered 410 Gone. Save these settings
          again to go on.
        </p>
      )}
      <div class="actions">
        <Form page={page} action={`${path}/test`}>
          <button type="submit">Send a test</button>
        </Form>
        <Form
          page={page}
          action={`${path}/rotate-secret`}
          confirm="Make a new secret? The former one signs too for a while, so that the receiver can be changed in time."
        >
          <button type="submit" class="quiet">
            New secret
          </button>
        </Form>
      </div>
    </section>
  );
}
