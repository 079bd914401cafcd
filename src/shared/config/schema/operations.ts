import {
  described,
  flag,
  integer,
  list,
  orNull,
  path,
  secret,
  section,
  sectionOrNull,
  text,
} from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { publicUrl, smtpUrl } from "./urls.ts";

const KIBIBYTE = 1024;
const GIBIBYTE = 1024 ** 3;

/** `limits`: memory for request bodies. */
export function createLimitsSchema() {
  return section({
    max_body_bytes: integer(KIBIBYTE, GIBIBYTE, "bytes")
      .default(33_554_432)
      .describe("Largest request body; a larger one returns 413."),
    max_buffered_bytes: integer(KIBIBYTE, 64 * GIBIBYTE, "bytes")
      .default(268_435_456)
      .describe(
        "A worker's memory for bodies, at least `max_body_bytes`; a body takes four to six times its size, and an organization gets [half of the rest](request-limits.md#gateway-memory).",
      ),
  });
}

/** `settlement`: behavior while Redis is unreachable. */
export function createSettlementSchema(source: SecretSource) {
  return section({
    grace_seconds: integer(0, 3600, "seconds")
      .default(60)
      .describe("Grace period, in which known API keys work without Redis, except with strict caps."),
    spool: described(
      path(source).optional(),
      "Directory, on a lasting volume, for charges and requests that Redis hasn't recorded.",
      { default: "`spool` in `data_dir`" },
    ),
    spool_max_bytes: integer(1024 * KIBIBYTE, 1024 * GIBIBYTE, "bytes")
      .default(1_073_741_824)
      .describe("Maximum size of the spool."),
  });
}

/** `retention`: how long Redis keeps figures, and the disk the request log. */
export function createRetentionSchema() {
  return section({
    usage_months: integer(1, 120, "months").default(13).describe("Retention of usage and spend."),
    request_log_days: integer(1, 36_500, "days").default(400).describe("Retention of request log files."),
    request_log_max_bytes: described(
      orNull(integer(1024 * KIBIBYTE, 1024 ** 2 * GIBIBYTE, "bytes")),
      "Maximum size of a host's request log; the oldest files are deleted first, also of protected months.",
      { default: "half of the disk" },
    ),
    request_log_protected_months: integer(0, 120, "months")
      .default(2)
      .describe("Calendar months, with the current one, that are kept regardless of `request_log_days`."),
  });
}

const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;
const ADDRESS = /^(?:[^<>@\s]+@[^<>@\s]+|[^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>)$/;

/** `notifications`: email and webhooks. */
export function createNotificationsSchema(source: SecretSource) {
  return section({
    smtp: sectionOrNull({
      url: smtpUrl().describe("`smtp://host:port` (STARTTLS if offered) or `smtps://host:port`."),
      username: orNull(text("a user name")).describe("User; with `password`."),
      password: orNull(secret(source)).describe("Its password."),
      from: described(
        text("an email address such as `Gateway <gateway@example.com>`", ADDRESS),
        "Sender of emails.",
        { type: "email address" },
      ),
    }),
    emails: section({
      max_per_hour: integer(1, 10_000, "emails")
        .default(20)
        .describe("Emails to an organization in an hour; further alerts come together in one."),
      allowed_domains: described(
        orNull(list(text("a domain such as example.com", DOMAIN), "domains", 1)),
        "Domains of organizations' addresses, without subdomains.",
        { type: "list of domains", default: "all" },
      ),
    }),
    webhooks: section({
      allow_private_networks: flag()
        .default(false)
        .describe("Whether webhooks can use private networks and plain `http`."),
    }),
  });
}

/** `documentation_url`: address of the published documentation. */
export function createDocumentationUrlSchema() {
  return described(orNull(publicUrl()), "Base URL of the published documentation, for links.", {
    default: "the pages of the dashboard",
  });
}

/** `public_base_url`: address of the API for clients. */
export function createPublicBaseUrlSchema() {
  return described(orNull(publicUrl()), "Base URL of the API, for snippets.", {
    default: "the address in `listen`",
  });
}
