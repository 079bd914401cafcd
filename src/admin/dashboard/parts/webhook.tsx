/** @jsxImportSource hono/jsx */
import { formatTime } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { OrganizationView } from "../views.ts";
import { Form } from "./fields.tsx";

export const TEST_WEBHOOK = "POST /api/organizations/{organization}/webhook/test";
export const ROTATE_SECRET = "POST /api/organizations/{organization}/webhook/rotate-secret";

const DEFAULT_SECRET_GRACE = "86400";
const SECRET_GRACES = [
  { seconds: "0", label: "ends at once" },
  { seconds: "3600", label: "signs too for an hour" },
  { seconds: DEFAULT_SECRET_GRACE, label: "signs too for a day" },
  { seconds: "604800", label: "signs too for a week" },
];

type WebhookView = NonNullable<OrganizationView["notifications"]["webhook"]>;

/** What is done with a webhook that is set. */
export function Webhook({ page, webhook }: { page: OrganizationPageCall; webhook: WebhookView }) {
  const { url, disabled_at: disabledAt } = webhook;
  if (!page.canChange) return null;
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
          class="inline"
          confirm="Make a new secret? It is shown once, and the receiver has to be given it."
        >
          <button type="submit" class="quiet">
            New secret
          </button>
          <label for="grace_seconds">the former one</label>
          <select id="grace_seconds" name="grace_seconds">
            {SECRET_GRACES.map(({ seconds, label }) => (
              <option value={seconds} selected={seconds === DEFAULT_SECRET_GRACE}>
                {label}
              </option>
            ))}
          </select>
        </Form>
      </div>
    </section>
  );
}
