/** @jsxImportSource hono/jsx */
import { formatTime } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { OrganizationView } from "../views.ts";
import { Form } from "./fields.tsx";

const ORGANIZATION = "/api/organizations/{organization}";
export const TEST_WEBHOOK = `POST ${ORGANIZATION}/webhook/test` as const;
export const TEST_FURTHER_WEBHOOK = `POST ${ORGANIZATION}/webhooks/{webhook}/test` as const;
export const ROTATE_SECRET = `POST ${ORGANIZATION}/webhook/rotate-secret` as const;
export const ROTATE_FURTHER_SECRET = `POST ${ORGANIZATION}/webhooks/{webhook}/rotate-secret` as const;

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
  const path = `${page.base}/settings/webhook`;
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
        <SecretRotation page={page} path={path} id="webhook" />
      </div>
    </section>
  );
}

interface SecretRotationProps {
  readonly page: OrganizationPageCall;
  /** Of the webhook. */
  readonly path: string;
  readonly id: string;
}

/** A new secret, and how long the former one signs too. */
export function SecretRotation({ page, path, id }: SecretRotationProps) {
  const name = id === "webhook" ? "grace_seconds" : `grace_seconds-${id}`;
  return (
    <Form
      page={page}
      action={`${path}/rotate-secret`}
      class="inline"
      confirm="Make a new secret? It is shown once, and the receiver has to be given it."
    >
      <button type="submit" class="quiet">
        New secret
      </button>
      <label for={name}>the former one</label>
      <select id={name} name="grace_seconds">
        {SECRET_GRACES.map(({ seconds, label }) => (
          <option value={seconds} selected={seconds === DEFAULT_SECRET_GRACE}>
            {label}
          </option>
        ))}
      </select>
    </Form>
  );
}
