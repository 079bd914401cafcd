/**
 * Kind of setting for a list of webhooks, each with a format and a choice of alerts. Values that allow
 * sending in the organization's name, such as the URLs of Slack and Teams and PagerDuty's routing keys, are
 * accepted but never returned completely.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { formatTimeOrNull } from "../time/calendar.ts";
import { record } from "./input-schemas.ts";
import { asJson } from "./kinds.ts";
import type { Kind } from "./setting.ts";
import { disabledAt, secretsSchema, webhookUrl } from "./webhook.ts";

export const WEBHOOK_FORMATS = ["standard", "slack", "teams", "pagerduty"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Thresholds of alerts. */
export const WEBHOOK_ALERTS = [
  "budget_near",
  "budget_reached",
  "hard_cap_near",
  "hard_cap_reached",
  "forecast",
  "sudden_spend",
] as const;
export type WebhookAlert = (typeof WEBHOOK_ALERTS)[number];

const MAX_WEBHOOKS = 10;
/** Events API v2, United States; the European one is `https://events.eu.pagerduty.com/v2/enqueue`. */
const PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue";
const SHOWN_CHARACTERS = 4;
/**
 * 128 bits: with fewer, an attacker who chooses URLs could find two with the same fingerprint, and swap them
 * unnoticed.
 */
const FINGERPRINT_CHARACTERS = 32;

/** Without the found value, which is a secret. */
const ROUTING_KEY_EXPECTATION = "must be the 32 letters and digits of an integration key";

const LIST_EXPECTATION = `expected a list of at most ${MAX_WEBHOOKS} webhooks`;

const input = z
  .array(
    record({
      id: z
        .string({ error: "expected a webhook's id" })
        .optional()
        .describe("Id of an existing webhook, whose omitted fields stay. Without an id, the webhook is new."),
      format: z
        .enum(WEBHOOK_FORMATS, { error: `expected one of ${WEBHOOK_FORMATS.join(", ")}` })
        .optional()
        .describe("Default: `standard`. The format of an existing webhook can't change."),
      url: webhookUrl()
        .optional()
        .describe(`Required except for \`pagerduty\`, which has the default ${PAGERDUTY_URL}.`),
      routing_key: z
        .string({ error: ROUTING_KEY_EXPECTATION })
        .regex(/^[0-9A-Za-z]{32}$/, { error: ROUTING_KEY_EXPECTATION })
        .optional()
        .describe("Integration key of a service, required for `pagerduty`, also with a new URL."),
      alerts: z
        .array(z.enum(WEBHOOK_ALERTS, { error: `expected one of ${WEBHOOK_ALERTS.join(", ")}` }), {
          error: "expected a list of alerts",
        })
        .min(1, { error: "expected at least one alert" })
        .refine((alerts) => new Set(alerts).size === alerts.length, { error: "expected different alerts" })
        .optional()
        .describe("Alerts that it receives; default: all."),
    }),
    { error: LIST_EXPECTATION },
  )
  .max(MAX_WEBHOOKS, { error: LIST_EXPECTATION });

const output = z.array(
  z.strictObject({
    id: z.string(),
    format: z.enum(WEBHOOK_FORMATS),
    url: z.string().describe("For `slack` and `teams`, the host and the last four characters."),
    routing_key: z.string().nullable().describe("The last four characters; `pagerduty` only."),
    alerts: z.array(z.enum(WEBHOOK_ALERTS)),
    disabled_at: disabledAt("its URL or routing key is set again"),
    secret: z
      .string()
      .exactOptional()
      .describe("For `standard`, only in the response that sets the URL; it is never shown again."),
  }),
);

const stored = z
  .array(
    z
      .object({
        /** `webhook_…`; "" until the caller that stores it creates an id. */
        id: z.string(),
        format: z.enum(WEBHOOK_FORMATS),
        url: z.string(),
        routingKey: z.string().nullable(),
        /** Secrets of format `standard`, as for the first webhook. */
        secrets: secretsSchema,
        alerts: z.array(z.enum(WEBHOOK_ALERTS)).readonly(),
        disabledAtMs: z.number().exactOptional(),
      })
      .readonly(),
  )
  .readonly();

export type FurtherWebhook = z.output<typeof stored>[number];
type WantedWebhook = z.output<typeof input>[number];

/** Webhooks in addition to the first. A new one has neither id nor secret: the caller that stores it creates them. */
export function webhooks(): Kind<readonly FurtherWebhook[], z.output<typeof input>, z.output<typeof output>> {
  return {
    notation: "webhooks",
    values: `at most ${MAX_WEBHOOKS} of \`{"format": "slack", "url": "https://…", "alerts": ["hard_cap_reached"]}\``,
    input,
    output,
    stored,
    convert: (wanted, current) =>
      wanted.map((one) => convertOne(one, current.find(({ id }) => id === one.id) ?? null)),
    describe: (list) => list.map(describeOne),
    record: (list) => list.map(recordOne),
    ...asJson(stored),
  };
}

function convertOne(wanted: WantedWebhook, current: FurtherWebhook | null): FurtherWebhook {
  const format = current?.format ?? wanted.format ?? "standard";
  const url = wanted.url ?? current?.url ?? PAGERDUTY_URL;
  const isSet = wanted.url !== undefined || wanted.routing_key !== undefined;
  const { disabledAtMs } = current ?? {};
  const unchanged = url === current?.url ? current : null;
  return {
    id: current?.id ?? "",
    format,
    url,
    // Never use a secret for a format other than the one that it was set for.
    routingKey: format === "pagerduty" ? (wanted.routing_key ?? unchanged?.routingKey ?? null) : null,
    secrets: unchanged?.secrets ?? [],
    alerts: WEBHOOK_ALERTS.filter((alert) =>
      (wanted.alerts ?? current?.alerts ?? WEBHOOK_ALERTS).includes(alert),
    ),
    // A person says that the endpoint works again.
    ...(disabledAtMs === undefined || isSet ? {} : { disabledAtMs }),
  };
}

function describeOne(webhook: FurtherWebhook) {
  const { id, format, routingKey, alerts, disabledAtMs } = webhook;
  return {
    id,
    format,
    url: describeWebhookUrl(webhook),
    routing_key: routingKey === null ? null : `…${routingKey.slice(-SHOWN_CHARACTERS)}`,
    alerts: [...alerts],
    disabled_at: formatTimeOrNull(disabledAtMs),
  };
}

/** Adds a fingerprint of hidden parts, since two webhooks that look the same may have different targets. */
function recordOne(webhook: FurtherWebhook) {
  const shown = describeOne(webhook);
  const { format, url, routingKey } = webhook;
  if (format === "standard") return shown;
  const hash = createHash("sha256").update(`${url}\n${routingKey ?? ""}`);
  return { ...shown, fingerprint: hash.digest("hex").slice(0, FINGERPRINT_CHARACTERS) };
}

/** Shows the whole URL only if it does not allow sending. */
function describeWebhookUrl({ format, url }: Pick<FurtherWebhook, "format" | "url">): string {
  if (format === "standard" || format === "pagerduty") return url;
  return `${new URL(url).origin}/…${url.slice(-SHOWN_CHARACTERS)}`;
}

/** Returns why a list cannot be set, by the field within it; null if it can. @param current Current webhooks. */
export function explainWebhooks(
  wanted: readonly WantedWebhook[],
  current: readonly FurtherWebhook[],
): { readonly field: string; readonly message: string } | null {
  const seen = new Set<string>();
  for (const [index, one] of wanted.entries()) {
    const known = current.find(({ id }) => id === one.id);
    const found = explainOne(one, known) ?? (seen.has(one.id ?? "") ? ["id", "occurs twice"] : null);
    if (found !== null) return { field: `${index}.${found[0]}`, message: found[1] ?? "" };
    if (one.id !== undefined) seen.add(one.id);
  }
  return null;
}

function explainOne(one: WantedWebhook, known: FurtherWebhook | undefined): readonly string[] | null {
  if (one.id !== undefined && known === undefined) {
    return ["id", "the organization has no webhook with this id"];
  }
  const format = known?.format ?? one.format ?? "standard";
  if (one.format !== undefined && one.format !== format) {
    return ["format", "cannot be changed: remove the webhook and add another"];
  }
  if (format !== "pagerduty" && one.routing_key !== undefined) {
    return ["routing_key", "is only for `pagerduty`"];
  }
  if (known !== undefined) {
    const isElsewhere = one.url !== undefined && one.url !== known.url;
    if (format !== "pagerduty" || !isElsewhere || one.routing_key !== undefined) return null;
    return ["routing_key", "is required with another URL, because the stored one goes only to its own URL"];
  }
  if (format === "pagerduty") return one.routing_key === undefined ? ["routing_key", "is required"] : null;
  return one.url === undefined ? ["url", "is required"] : null;
}
