/** Settings of an organization. CONTRIBUTING.md describes how to add a row. */
import { group } from "./group.ts";
import { CHOICES_ON_CAP, DEFAULT_REQUESTS_PER_MINUTE, ON_CAP, RATE_BOUNDS } from "./key.ts";
import {
  choice,
  amountOrNull,
  currency,
  emails,
  flag,
  name,
  rateOrNull,
  wholeNumber,
  wholeNumberOrNull,
} from "./kinds.ts";
import { limits, LIMITS_ROW, memberLimitsRow } from "./limit-settings.ts";
import { MONTH_NAMES_TOO } from "./limits.ts";
import { MODEL_NAMES } from "./model-names.ts";
import { monthRow, monthRows } from "./month-limits.ts";
import { RAISES_ROW } from "./raises.ts";
import { defineSettings, type RecordOf } from "./setting.ts";
import { defaultsOf } from "./table.ts";
import { TOKEN_LIMIT_ROWS } from "./token-limits.ts";
import { webhookOrNull } from "./webhook.ts";
import { webhooks } from "./webhooks.ts";

/** Recipients of alerts. */
const NOTIFICATIONS = defineSettings({
  dashboard: {
    apiName: "dashboard",
    kind: flag(),
    default: true,
    description: "Whether the dashboard lists and counts alerts.",
    label: "This dashboard",
    cli: {
      option: {
        flags: "--dashboard-alerts",
        help: "show alerts on the dashboard",
        offHelp: "hide alerts on the dashboard",
      },
      label: "dashboard",
    },
  },
  emails: {
    apiName: "emails",
    kind: emails(),
    default: [],
    description: "Addresses for alerts; needs `notifications.smtp`.",
    label: "Email addresses, one per line",
    hint: "At most 20.",
    cli: {
      option: {
        flags: "--email <addresses>",
        help: "comma-separated email addresses that receive alerts, or none",
      },
      label: "email",
    },
  },
  forecast: {
    apiName: "forecast",
    kind: flag(),
    default: false,
    description:
      "Whether a month's forecast above a monthly limit alerts: of the organization, its keys, users and groups.",
    label: "Alert on the forecast",
    hint: "When the month is heading above a monthly limit.",
    cli: {
      option: {
        flags: "--forecast-alerts",
        help: "alert when the month's forecast exceeds a monthly limit",
        offHelp: "don't alert on the forecast",
      },
      label: "forecast",
    },
  },
  suddenSpendPercent: {
    apiName: "sudden_spend_percent",
    kind: wholeNumberOrNull({ minimum: 110, maximum: 10_000 }),
    default: null,
    description:
      "Percentage of the usual spend of a day at which a day alerts; null: never. Usual is the mean of the last seven days.",
    label: "Alert on sudden spend, percent of a usual day",
    hint: "300: three times a usual day. Empty: never.",
    cli: {
      option: {
        flags: "--sudden-spend <percent>",
        help: "alert when a day's spend is this percentage of a usual day, such as 300, or none",
      },
      label: "sudden spend, percent",
    },
  },
  summary: {
    apiName: "summary",
    kind: choice(["off", "week", "month"]),
    default: "off",
    description: "Period whose spend one email summarizes after its end.",
    label: "Summary by email",
    choices: { off: "none", week: "every week", month: "every month" },
    hint: "Sent on Monday or on the first of the month, at 06:00 UTC.",
    cli: {
      option: { flags: "--summary <period>", help: "email a summary of each week or month, or off" },
      label: "summary",
    },
  },
  webhook: {
    apiName: "webhook",
    kind: webhookOrNull(),
    default: null,
    description: "URL for all alerts in the standard format; null: none.",
    label: "Webhook URL",
    hint: "A new URL gets a new secret, which is shown once. Empty: no webhook.",
    cli: {
      option: { flags: "--webhook <url>", help: "URL that receives alerts, or none" },
      label: "webhook",
    },
  },
  webhooks: {
    apiName: "webhooks",
    kind: webhooks(),
    default: [],
    ownControls: "`webhook …` and their pages",
    description: "Additional webhooks, each with a format and a choice of alerts. Replaces the whole list.",
    label: "Further webhooks",
  },
});

/** Defaults of new keys: settings of a key, under the same names. */
const KEY_DEFAULTS = defineSettings({
  requestsPerMinute: {
    apiName: "requests_per_minute",
    kind: rateOrNull(RATE_BOUNDS),
    default: null,
    description: `Rate limit; null: ${DEFAULT_REQUESTS_PER_MINUTE}.`,
    label: "Requests per minute",
    hint: `Empty: ${DEFAULT_REQUESTS_PER_MINUTE}.`,
    cli: {
      option: {
        flags: "--key-rpm <n>",
        help: `requests per minute of new keys, or none for ${DEFAULT_REQUESTS_PER_MINUTE}`,
      },
      label: "rpm",
      none: String(DEFAULT_REQUESTS_PER_MINUTE),
    },
  },
  hardCapCents: {
    ...monthRow("cap"),
    description: "Monthly hard cap, in whole cents; null: none.",
    label: "Monthly hard cap of a key",
    cli: {
      option: { flags: "--key-hard-cap <amount>", help: "monthly hard cap of new keys, or none" },
      label: "hard cap",
    },
  },
  budgetCents: {
    ...monthRow("budget"),
    description: "Monthly budget, in whole cents; null: none.",
    label: "Monthly budget of a key",
    cli: {
      option: { flags: "--key-budget <amount>", help: "monthly budget of new keys, or none" },
      label: "budget",
    },
  },
  limits: {
    apiName: "limits",
    kind: limits(),
    default: [],
    description: `All its limits; ${MONTH_NAMES_TOO} Replaces the whole list.`,
    label: "Limits of a key",
    hint: "A hard cap blocks requests that cost money (402), a budget only alerts. No amount: no limit.",
    cli: {
      option: { flags: "--key-limits <list>", help: 'all limits of new keys: "day cap 5.00", or none' },
      label: "limits",
      none: "none",
    },
  },
});

export const ORGANIZATION_SETTINGS = defineSettings({
  name: {
    apiName: "name",
    field: "name",
    inAdmission: true,
    kind: name(),
    description: "Name of the organization.",
    label: "Name",
    cli: { option: { flags: "--name <name>", help: "1 to 100 characters", changeHelp: "new name" } },
  },
  currency: {
    apiName: "currency",
    field: "currency",
    inAdmission: true,
    kind: currency(),
    changedBy: "operator",
    description: "Billing currency, fixed once there is spend or a request in flight.",
    label: "Currency",
    hint: "ISO 4217. Fixed after the first request that costs money.",
    cli: {
      option: {
        flags: "--currency <code>",
        help: "billing currency, ISO 4217: USD",
        changeHelp: "new currency, if nothing was spent; for the operator",
      },
      label: "currency",
    },
  },
  ...monthRows({ subject: " of all API keys together", examples: { cap: "1000.00", budget: "800" } }),
  limits: LIMITS_ROW,
  raises: RAISES_ROW,
  memberLimits: memberLimitsRow({ member: "user without a group", help: "user without a group" }),
  sessionCapCents: {
    apiName: "session_cap_cents",
    field: "session_cap_cents",
    kind: amountOrNull(),
    default: null,
    description: "Cap of each session of a key, in whole cents, in addition to the key's own. Null: none.",
    label: "Cap of a session",
    hint: "Blocks requests of one session of a key (402). Empty: only the key's cap.",
    cli: {
      option: { flags: "--session-cap <amount>", help: "cap of each session of a key: 5.00, or none" },
      label: "session cap",
    },
  },
  ...TOKEN_LIMIT_ROWS,
  countCachedTokens: {
    apiName: "count_cached_tokens",
    field: "count_cached",
    inAdmission: true,
    kind: flag(),
    default: false,
    description: "Whether limits of tokens per minute count cached tokens; a key can override this.",
    label: "Cached tokens count in limits of tokens",
    hint: "Model providers exclude them from their own limits.",
    cli: {
      option: {
        flags: "--count-cached",
        help: "count cached tokens in limits of tokens per minute",
        offHelp: "exclude cached tokens from limits of tokens per minute",
      },
      label: "cached tokens count",
    },
  },
  strictCaps: {
    apiName: "strict_caps",
    field: "strict_caps",
    inAdmission: true,
    kind: flag(),
    default: false,
    description: "Whether requests in flight count at their maximum cost, so that no cap is exceeded.",
    label: "Strict caps",
    hint: "Counts requests in flight at their maximum cost, so that no cap is exceeded. Blocks some requests near the cap.",
    cli: {
      option: {
        flags: "--strict-caps",
        help: "count requests in flight at their worst case",
        offHelp: "count only what requests in flight have used so far",
      },
      label: "strict caps",
    },
  },
  onCap: {
    apiName: "on_cap",
    field: "on_cap",
    inAdmission: true,
    kind: choice(ON_CAP),
    default: "refuse",
    description:
      "With strict caps, if the longest response doesn't fit: reject the request or shrink its output limit.",
    label: "Response that may not fit",
    hint: "With strict caps.",
    choices: CHOICES_ON_CAP,
    cli: {
      option: {
        flags: "--on-cap <what>",
        help: "if a response may be too long for strict caps: refuse the request, or shrink its limit",
      },
      label: "at a cap",
    },
  },
  endUserTag: {
    apiName: "end_user_tag",
    field: "end_user_tag",
    inAdmission: true,
    kind: flag(),
    default: false,
    description: "Whether the end user that a request names becomes its tag `user`.",
    label: "Record end users as a tag",
    hint: "Records the end user of a request as the tag user.",
    cli: {
      option: {
        flags: "--end-user-tag",
        help: "record the end user of a request as its tag `user`",
        offHelp: "don't record the end user",
      },
      label: "end user as a tag",
    },
  },
  hideAmounts: {
    apiName: "hide_amounts",
    field: "hide_amounts",
    inAdmission: true,
    kind: flag(),
    default: false,
    description: "Whether clients see amounts only of their key's limits.",
    label: "Hide amounts from clients",
    hint: "Clients see that limits of user, group and organization are reached, without amounts.",
    cli: {
      option: {
        flags: "--hide-amounts",
        help: "hide the amounts of limits above the API key from clients",
        offHelp: "show the amounts of limits above the API key to clients",
      },
      label: "hides amounts",
    },
  },
  maxOwnKeys: {
    apiName: "max_own_keys",
    field: "max_own_keys",
    kind: wholeNumber({ minimum: 0, maximum: 100 }),
    default: 5,
    description: "API keys that a `member` can have, not counting the key of their tokens (`jwt:…`).",
    label: "Keys of each member",
    hint: "API keys that a member can create. 0: none.",
    cli: {
      option: { flags: "--max-own-keys <n>", help: "maximum number of API keys of a member" },
      label: "keys of a member",
    },
  },
  budgetHeaders: {
    apiName: "budget_headers",
    field: "budget_headers",
    inAdmission: true,
    kind: choice(["near_cap", "always"]),
    default: "near_cap",
    description: "When `X-Budget-…` headers show the amount left: from 90 % of any cap, or always.",
    label: "Show clients what is left",
    hint: "In `X-Budget-…` headers. Near a cap: from 90 %.",
    choices: { near_cap: "only near a cap", always: "with every response" },
    cli: {
      option: {
        flags: "--budget-headers <when>",
        help: "when responses show what the tightest cap has left: near_cap (from 90 %) or always",
      },
      label: "budget headers",
    },
  },
  dayAlerts: {
    apiName: "day_alerts",
    field: "day_alerts",
    kind: choice(["last", "all"]),
    default: "last",
    description: "Alerts of daily limits: `last` (only at 100 %) or `all`.",
    label: "Daily limits alert",
    choices: { last: "only at 100 %", all: "at every threshold" },
    cli: {
      option: { flags: "--day-alerts <which>", help: "alerts of daily limits: last (only at 100 %) or all" },
      label: "alerts of a day",
    },
  },
  suspended: {
    apiName: "suspended",
    field: "suspended",
    kind: flag(),
    default: false,
    changedBy: "operator",
    description: "Requests with its API keys return 403.",
    label: "Suspended",
    hint: "Requests with its API keys return 403.",
  },
  notifications: {
    apiName: "notifications",
    field: "notifications",
    kind: group(NOTIFICATIONS),
    default: defaultsOf(NOTIFICATIONS),
    description: "Who receives alerts. Omitted fields stay.",
    label: "Alerts go to",
    cli: { label: "alerts" },
  },
  modelNames: {
    apiName: "model_names",
    field: "model_names",
    inAdmission: true,
    kind: group(MODEL_NAMES),
    default: defaultsOf(MODEL_NAMES),
    description: "Names for models. Omitted fields stay.",
    label: "Model names",
    cli: { label: "names" },
  },
  keyDefaults: {
    apiName: "key_defaults",
    field: "key_defaults",
    kind: group(KEY_DEFAULTS),
    default: defaultsOf(KEY_DEFAULTS),
    description: "Settings of new keys that don't set them. Omitted fields stay.",
    label: "New keys begin with",
    cli: { label: "new keys" },
  },
});

export type OrganizationSettings = RecordOf<typeof ORGANIZATION_SETTINGS>;
export type NotificationSettings = OrganizationSettings["notifications"];
export type KeyDefaults = OrganizationSettings["keyDefaults"];
