/** `…/webhook` and `…/webhooks/{webhook}`: test of an endpoint, and rotation of its secret. */
import { createWebhookSecret } from "../../alerts/signature.ts";
import { sendWebhook } from "../../alerts/webhook-channel.ts";
import { WebhookError } from "../../alerts/webhook-error.ts";
import { FORMATS } from "../../alerts/webhook-formats.ts";
import { changeWebhook, findWebhook, type Webhook } from "../../alerts/webhooks.ts";
import { createId } from "../../../data-path/store/ids.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import { AdminError } from "../admin-error.ts";
import { MinuteLimit } from "../minute-limit.ts";
import { rotatedSecret, secretRotation, webhookTest } from "../schemas/alert.ts";
import { changeCurrent } from "./answers.ts";
import { describeChange } from "./record-change.ts";
import { defineOrganizationRoute } from "./route.ts";

const ORGANIZATION = "/api/organizations/{organization}";

/** The first webhook has no id in its path. */
const PLACES = [
  { path: `${ORGANIZATION}/webhook`, suffix: "Webhook", which: "the first webhook" },
  {
    path: `${ORGANIZATION}/webhooks/{webhook}`,
    suffix: "FurtherWebhook",
    which: "a further webhook",
  },
] as const;
type Place = (typeof PLACES)[number];

/** By organization, in this process: each test sends a request to an address that a customer chose. */
const tests = new MinuteLimit(10);

function defineTest({ path, suffix, which }: Place) {
  return defineOrganizationRoute({
    method: "POST",
    path: `${path}/test`,
    operationId: `test${suffix}`,
    summary: `Send a test event to ${which}, and return the result.`,
    description:
      "At most ten per minute for an organization. The format `standard` sends a signed event of the type `webhook.test`, Slack and Teams a test message, and PagerDuty the end of an alert that doesn't exist, which opens no incident.",
    answers: { 200: webhookTest },
    handleInOrganization: async ({ organization, params }, { allowPrivateWebhooks }) => {
      const webhook = requireWebhook(organization, params["webhook"]);
      tests.take(organization.id, Date.now(), "too_many_webhook_tests");
      const startMs = performance.now();
      const outcome = await trySending(organization, webhook, allowPrivateWebhooks);
      return { status: 200, body: { ...outcome, duration_ms: Math.round(performance.now() - startMs) } };
    },
  });
}

function defineRotation({ path, suffix, which }: Place) {
  return defineOrganizationRoute({
    method: "POST",
    path: `${path}/rotate-secret`,
    operationId: `rotate${suffix}Secret`,
    summary: `Create a new secret of ${which}; the previous one signs for another day.`,
    body: secretRotation,
    isBodyOptional: true,
    answers: { 200: rotatedSecret },
    handleInOrganization: (call, { store }) => {
      const secret = createWebhookSecret();
      return changeCurrent(call.organization, null, async (current, expectedVersion) => {
        const untilMs = (await store.timeMs()) + call.body.grace_seconds * 1000;
        const webhook = requireSigned(requireWebhook(current, call.params["webhook"]));
        const secrets = addSecret(webhook, secret, untilMs);
        const changes = { notifications: changeWebhook(current.notifications, webhook.channel, { secrets }) };
        const target = { type: "organization", id: current.id, name: current.name };
        const entry = describeChange({ action: "webhook.rotated", target, before: null, after: null }, call);
        const result = await store.changeOrganization(current.id, changes, expectedVersion, entry);
        if (result.outcome === "version_conflict") return result;
        if (result.outcome === "not_found") throw new AdminError("organization_not_found");
        const former = call.body.grace_seconds > 0 ? new Date(untilMs).toISOString() : null;
        return { status: 200, body: { secret, former_secret_until: former } };
      });
    },
  });
}

function requireWebhook({ notifications }: OrganizationRecord, id: string | undefined): Webhook {
  const webhook = findWebhook(notifications, id ?? "webhook");
  if (webhook === null) throw new AdminError(id === undefined ? "webhook_not_set" : "webhook_not_found");
  return webhook;
}

function requireSigned(webhook: Webhook): Webhook {
  if (webhook.format === "standard") return webhook;
  const message = `A webhook in the format \`${webhook.format}\` has no secret, because its messages aren't signed.`;
  throw new AdminError("invalid_parameter", { message });
}

/** Adds a secret as the newest; only the last previous one keeps signing. */
function addSecret({ secrets }: Webhook, secret: string, untilMs: number): Webhook["secrets"] {
  const former = secrets.slice(0, 1).map((one) => ({ ...one, expiresAtMs: untilMs }));
  return [{ secret, expiresAtMs: null }, ...former];
}

async function trySending(
  { id: organizationId, name: organizationName }: OrganizationRecord,
  webhook: Webhook,
  allowPrivateNetworks: boolean,
) {
  const nowMs = Date.now();
  const id = createId("alert", nowMs);
  const body = FORMATS[webhook.format].formatTest({ id, organizationId, organizationName, nowMs }, webhook);
  try {
    const { status } = await sendWebhook(webhook, { id, body }, nowMs, { allowPrivateNetworks });
    const delivered = status >= 200 && status < 300;
    return { delivered, status, error: delivered ? null : `the endpoint returned ${status}` };
  } catch (error) {
    if (error instanceof WebhookError) return { delivered: false, status: null, error: error.message };
    throw error;
  }
}

export const webhookRoutes = PLACES.flatMap((place) => [defineTest(place), defineRotation(place)]);
