import { z } from "zod";
import { explainCurrency } from "../../config/currencies.ts";
import { amountOrNull, flag, month, name, named, record, text, timestamp, whole } from "./fields.ts";
import { pageFields, pageOf } from "./page.ts";

/** Requests per minute: what a bucket can be set to. */
export const MAX_REQUESTS_PER_MINUTE = 1_000_000;
const MAX_EMAILS = 20;
const MAX_EMAIL_CHARACTERS = 254;
const MAX_URL_CHARACTERS = 2048;

const currency = z
  .string({ error: "expected an ISO 4217 currency code such as USD" })
  .max(100, { error: "expected an ISO 4217 currency code such as USD" })
  .superRefine((code, context) => {
    const message = explainCurrency(code);
    if (message !== null) context.addIssue({ code: "custom", message });
  })
  .meta({ description: "ISO 4217, with a two-digit minor unit.", examples: ["USD"] });

const EMAIL_EXPECTATION = "expected a mail address";
const email = z
  .string({ error: EMAIL_EXPECTATION })
  .max(MAX_EMAIL_CHARACTERS, { error: EMAIL_EXPECTATION })
  .pipe(z.email({ error: EMAIL_EXPECTATION }));

const emailsError = `expected a list of at most ${MAX_EMAILS} mail addresses, none twice`;
const emails = z
  .array(email, { error: emailsError })
  .max(MAX_EMAILS, { error: emailsError })
  .refine((given) => new Set(given).size === given.length, { error: emailsError })
  .meta({ description: "Alerts are mailed there. Only where the operator has configured a mail server." });

const webhookUrl = z
  .string({ error: "expected a URL such as https://example.com/hook" })
  .superRefine((value, context) => {
    const message = explainWebhookUrl(value);
    if (message !== null) context.addIssue({ code: "custom", message });
  })
  .meta({ description: "`https`; `http` only where the operator allows private networks." });

function explainWebhookUrl(value: string): string | null {
  // What was found is not shown: a URL may carry a credential.
  if (value.length > MAX_URL_CHARACTERS) return `must be a URL of at most ${MAX_URL_CHARACTERS} characters`;
  if (!URL.canParse(value)) return "must be a URL such as https://example.com/hook";
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must be a URL without user name and password";
  if (url.hash !== "") return "must be a URL without `#`";
  return null;
}

const notificationFields = {
  dashboard: flag("Alerts are shown on the dashboard."),
  emails,
  webhook: record({ url: webhookUrl })
    .nullable()
    .meta({ description: "Alerts are posted there; null: nowhere." }),
};

const keyDefaultFields = {
  requests_per_minute: whole(1, MAX_REQUESTS_PER_MINUTE).nullable(),
  hard_cap_cents: amountOrNull("Whole cents; null: no cap."),
  budget_cents: amountOrNull("Whole cents; null: no budget."),
};

const settings = {
  hard_cap_cents: amountOrNull("Monthly hard cap over all keys, whole cents; null: none."),
  budget_cents: amountOrNull("Monthly budget over all keys, whole cents; it never refuses anything."),
  strict_caps: flag("Requests in flight count at their worst case, so that a cap is never overrun."),
  suspended: flag("Every key of the organization is refused. Only the operator may change it."),
  notifications: record({
    dashboard: notificationFields.dashboard.optional(),
    emails: notificationFields.emails.optional(),
    webhook: notificationFields.webhook.optional(),
  }).meta({ description: "What is left out stays as it is." }),
  key_defaults: record({
    requests_per_minute: keyDefaultFields.requests_per_minute.optional(),
    hard_cap_cents: keyDefaultFields.hard_cap_cents.optional(),
    budget_cents: keyDefaultFields.budget_cents.optional(),
  }).meta({ description: "What a new key gets where its creator says nothing. What is left out stays." }),
};

const optionalSettings = {
  hard_cap_cents: settings.hard_cap_cents.optional(),
  budget_cents: settings.budget_cents.optional(),
  strict_caps: settings.strict_caps.optional(),
  suspended: settings.suspended.optional(),
  notifications: settings.notifications.optional(),
  key_defaults: settings.key_defaults.optional(),
};

export const organizationCreation = named(
  "OrganizationCreation",
  record({ name: name(), currency, ...optionalSettings }),
);
export type OrganizationCreation = z.output<typeof organizationCreation>;

export const organizationChange = named(
  "OrganizationChange",
  record({ name: name().optional(), currency: currency.optional(), ...optionalSettings }),
);
export type OrganizationChange = z.output<typeof organizationChange>;

export const organization = named(
  "Organization",
  z.strictObject({
    id: z.string().meta({ examples: ["org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
    name: z.string(),
    currency: z.string(),
    hard_cap_cents: z.int().nullable(),
    budget_cents: z.int().nullable(),
    strict_caps: z.boolean(),
    suspended: z.boolean(),
    notifications: z.strictObject({
      dashboard: z.boolean(),
      emails: z.array(z.string()),
      webhook: z
        .strictObject({
          url: z.string(),
          disabled_at: timestamp().nullable().meta({
            description:
              "Not null: the endpoint answered 410 Gone, and nothing is sent until the URL is set again, the same or another.",
          }),
          secret: z
            .string()
            .optional()
            .meta({ description: "Only in the answer that sets the URL: it is never shown again." }),
        })
        .nullable(),
    }),
    key_defaults: z.strictObject({
      requests_per_minute: z.int().nullable(),
      hard_cap_cents: z.int().nullable(),
      budget_cents: z.int().nullable(),
    }),
    created_at: timestamp(),
    month: month(),
    spent_cents: z.int().meta({ description: "Spent in `month`, whole cents, rounded down." }),
    spent_microcents: z.int().meta({ description: "The same in millionths of a cent." }),
  }),
);

export const organizationQuery = record({
  ...pageFields(/^org_[0-9a-f-]{36}$/),
  search: text(100).optional().meta({
    description:
      "Only those whose name contains this, in capitals or not, or whose id it is. A page with a `next` may then hold fewer than `limit`.",
  }),
});

export const organizationPage = pageOf("OrganizationPage", organization);
