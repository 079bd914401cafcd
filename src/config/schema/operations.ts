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
        "Memory of a worker for all bodies and their translations, at least `max_body_bytes`: four times a body of ASCII, up to six times others, until it is sent. An organization can use half of what others leave, an API key three quarters of that; beyond, 429 `buffer_limit_exceeded`. If everything is in use, 503 `gateway_overloaded`. Large bodies wait for each other.",
      ),
  });
}

/** `settlement`: what happens while Redis is unreachable. */
export function createSettlementSchema(source: SecretSource) {
  return section({
    grace_seconds: integer(0, 3600, "seconds")
      .default(60)
      .describe("Grace period: known API keys work without Redis, except with strict caps. 0: none."),
    spool: described(
      path(source).optional(),
      "Directory for charges and requests that Redis hasn't recorded; needs a lasting volume.",
      { default: "`spool` in `data_dir`" },
    ),
    spool_max_bytes: integer(1024 * KIBIBYTE, 1024 * GIBIBYTE, "bytes")
      .default(1_073_741_824)
      .describe("Maximum size of the spool."),
  });
}

/** `retention`: how long Redis keeps figures, and the disk the log of requests. */
export function createRetentionSchema() {
  return section({
    usage_months: integer(1, 120, "months").default(13).describe("Retention of usage and spend."),
    request_log_days: integer(1, 36_500, "days").default(400).describe("Retention of request log files."),
    request_log_max_bytes: described(
      orNull(integer(1024 * KIBIBYTE, 1024 ** 2 * GIBIBYTE, "bytes")),
      "Maximum size of a host's request log, which also leaves `settlement.spool_max_bytes` of the disk free. The oldest files are deleted first, also of protected months.",
      { default: "half of the disk" },
    ),
    request_log_protected_months: integer(0, 120, "months")
      .default(2)
      .describe(
        "Calendar months, the current one included, that are kept regardless of `request_log_days` for `usage verify` and `usage rebuild`.",
      ),
  });
}

const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;
const ADDRESS = /^(?:[^<>@\s]+@[^<>@\s]+|[^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>)$/;

/** `notifications`: mail and webhooks. */
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
        .describe(
          "Emails to an organization in an hour, each to at most 20 addresses. Further alerts come together in one email after it.",
        ),
      allowed_domains: described(
        orNull(list(text("a domain such as example.com", DOMAIN), "domains", 1)),
        "Domains of organizations' addresses, without subdomains.",
        { type: "list of domains", default: "all" },
      ),
    }),
    webhooks: section({
      allow_private_networks: flag()
        .default(false)
        .describe("Whether organizations' webhooks can use private networks and plain `http`."),
    }),
  });
}

/** `documentation_url`: where the pages of the documentation are published. */
export function createDocumentationUrlSchema() {
  return described(
    orNull(publicUrl()),
    "Base URL of the published documentation, for links in errors, `GET /` and the Helm chart's alert rules.",
    { default: "the pages of the dashboard" },
  );
}

/** `public_base_url`: where clients reach the API. */
export function createPublicBaseUrlSchema() {
  return described(orNull(publicUrl()), "Base URL of the API, for the snippets of *Try it*.", {
    default: "the address in `listen`",
  });
}
