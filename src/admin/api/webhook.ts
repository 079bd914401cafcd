/** `…/webhook`: whether the endpoint hears us, and a new secret for it. */
import { formatTestEvent } from "../../alerts/alert-event.ts";
import { createWebhookSecret } from "../../alerts/signature.ts";
import { sendWebhook, type WebhookSettings } from "../../alerts/webhook-channel.ts";
import { WebhookError } from "../../alerts/webhook-error.ts";
import { createId } from "../../store/ids.ts";
import type { OrganizationRecord } from "../../store/types/management.ts";
import { AdminError } from "../admin-error.ts";
import { rotatedSecret, secretRotation, webhookTest } from "../schemas/alert.ts";
import { changeCurrent } from "./change-current.ts";
import { describeChange } from "./record-change.ts";
import { defineOrganizationRoute } from "./route.ts";

const PATH = "/api/organizations/{organization}/webhook";
const TAG = "Alerts";

const test = defineOrganizationRoute(
  {
    method: "POST",
    path: `${PATH}/test`,
    operationId: "testWebhook",
    tag: TAG,
    summary: "Sends one signed event of the type `webhook.test`, now and once, and says what came of it.",
    access: "write",
    query: null,
    body: null,
    answers: { 200: webhookTest },
  },
  async ({ organization }, { allowPrivateWebhooks }) => {
    const webhook = requireWebhook(organization);
    const startMs = performance.now();
    const outcome = await trySending(organization.id, webhook, allowPrivateWebhooks);
    return { status: 200, body: { ...outcome, duration_ms: Math.round(performance.now() - startMs) } };
  },
);

const rotate = defineOrganizationRoute(
  {
    method: "POST",
    path: `${PATH}/rotate-secret`,
    operationId: "rotateWebhookSecret",
    tag: TAG,
    summary: "Makes a new secret, which this answer alone shows; for a while the former one signs too.",
    access: "write",
    query: null,
    body: secretRotation,
    isBodyOptional: true,
    answers: { 200: rotatedSecret },
  },
  (call, { store }) => {
    const secret = createWebhookSecret();
    return changeCurrent(call.organization, null, async (current, expectedVersion) => {
      const untilMs = (await store.timeMs()) + call.body.grace_seconds * 1000;
      const webhook = addSecret(requireWebhook(current), secret, untilMs);
      const changes = { notifications: { ...current.notifications, webhook } };
      const target = { type: "organization", id: current.id, name: current.name };
      const entry = describeChange({ action: "webhook.rotated", target, before: null, after: null }, call);
      const result = await store.changeOrganization(current.id, changes, expectedVersion, entry);
      if (result.outcome === "version_conflict") return result;
      if (result.outcome === "not_found") throw new AdminError("organization_not_found");
      const former = call.body.grace_seconds > 0 ? new Date(untilMs).toISOString() : null;
      return { status: 200, body: { secret, former_secret_until: former } };
    });
  },
);

function requireWebhook({ notifications }: OrganizationRecord): WebhookSettings {
  if (notifications.webhook === null) throw new AdminError("webhook_not_set");
  return notifications.webhook;
}

/** The newest first; of the former ones only the last signs on. */
function addSecret(webhook: WebhookSettings, secret: string, untilMs: number): WebhookSettings {
  const former = webhook.secrets.slice(0, 1).map((one) => ({ ...one, expiresAtMs: untilMs }));
  return { ...webhook, secrets: [{ secret, expiresAtMs: null }, ...former] };
}

async function trySending(organizationId: string, webhook: WebhookSettings, allowPrivateNetworks: boolean) {
  const nowMs = Date.now();
  const id = createId("alert", nowMs);
  const message = { id, body: formatTestEvent(id, organizationId, nowMs) };
  try {
    const { status } = await sendWebhook(webhook, message, nowMs, { allowPrivateNetworks });
    const delivered = status >= 200 && status < 300;
    return { delivered, status, error: delivered ? null : `the endpoint answered ${status}` };
  } catch (error) {
    if (error instanceof WebhookError) return { delivered: false, status: null, error: error.message };
    throw error;
  }
}

export const webhookRoutes = [test, rotate];
