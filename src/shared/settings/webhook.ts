/** Kind of setting for a webhook: people set its URL, the gateway creates its secrets. */
import * as z from "zod";
import { formatTimeOrNull } from "../time/calendar.ts";
import { record } from "./input-schemas.ts";
import { asJson } from "./kinds.ts";
import type { Kind } from "./setting.ts";

const MAX_URL_CHARACTERS = 2048;

/** URL to which alerts are posted. */
export function webhookUrl() {
  return z
    .string({ error: "expected a URL such as https://example.com/hook" })
    .superRefine((value, context) => {
      const message = explainWebhookUrl(value);
      if (message !== null) context.addIssue({ code: "custom", message });
    });
}

/** Time since which nothing is sent. @param ending What ends this state. */
export function disabledAt(ending: string) {
  return z.iso
    .datetime()
    .nullable()
    .meta({
      description: `Not null: the endpoint returned 410 Gone, and nothing is sent until ${ending}.`,
      examples: ["2026-12-01T00:00:00.000Z"],
    });
}

const input = record({
  url: webhookUrl().describe("`https`; `http` only if the operator allows private networks."),
}).nullable();

const output = z
  .strictObject({
    url: z.string(),
    disabled_at: disabledAt("the URL is set again, the same or another"),
    secret: z
      .string()
      .exactOptional()
      .describe("Only in the response that sets the URL; it is never shown again."),
  })
  .nullable();

/** `whsec_…`, newest first; a previous secret also signs until it expires. */
export const secretsSchema = z
  .array(z.object({ secret: z.string(), expiresAtMs: z.number().nullable() }).readonly())
  .readonly();

const stored = z
  .object({
    url: z.string(),
    secrets: secretsSchema,
    /** Time since which nothing is sent because the endpoint returned 410; setting the URL again ends this state. */
    disabledAtMs: z.number().exactOptional(),
  })
  .readonly()
  .nullable();

export type WebhookSetting = z.output<typeof stored>;

/** Webhook, or null. A new URL has no secret yet: the caller that stores it creates one. */
export function webhookOrNull(): Kind<WebhookSetting, z.output<typeof input>, z.output<typeof output>> {
  return {
    notation: "webhook",
    values: '`{"url": "https://…"}` or null',
    input,
    output,
    stored,
    convert: (wanted, current) => {
      if (wanted === null) return null;
      // Drops `disabledAtMs`: a person says that the endpoint works again.
      return { url: wanted.url, secrets: wanted.url === current?.url ? current.secrets : [] };
    },
    describe: (webhook) =>
      webhook === null ? null : { url: webhook.url, disabled_at: formatTimeOrNull(webhook.disabledAtMs) },
    ...asJson(stored),
  };
}

/**
 * Returns why a text is not a webhook URL, or null if it is one. Never shows the found value: it may contain
 * a credential.
 */
function explainWebhookUrl(value: string): string | null {
  if (value.length > MAX_URL_CHARACTERS) return `must be a URL of at most ${MAX_URL_CHARACTERS} characters`;
  if (!URL.canParse(value)) return "must be a URL such as https://example.com/hook";
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must be a URL without user name and password";
  if (url.hash !== "") return "must be a URL without `#`";
  return null;
}
