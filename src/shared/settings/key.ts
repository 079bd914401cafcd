/** Settings of an API key. CONTRIBUTING.md describes how to add a row. */
import {
  amountOrNull,
  choiceOrNull,
  flag,
  groupIdOrNull,
  modelsOrNull,
  rate,
  tagsOrNull,
  timeOrNull,
  userIdOrNull,
  wholeNumberOrNull,
} from "./kinds.ts";
import { LIMITS_ROW } from "./limit-settings.ts";
import { monthRows } from "./month-limits.ts";
import { NAME_ROW, NOTE_ROW } from "./owner-rows.ts";
import { RAISES_ROW } from "./raises.ts";
import { defineSettings, type RecordOf } from "./setting.ts";
import { TOKEN_LIMIT_ROWS } from "./token-limits.ts";

/** Published default. */
export const DEFAULT_REQUESTS_PER_MINUTE = 600;
/** Default time that the previous secret of a rotated key keeps working: a day. */
export const ROTATION_GRACE_SECONDS = 86_400;
export const RATE_BOUNDS = { minimum: 1, maximum: 1_000_000 } as const;

/** Handling of a request that does not fit under strict caps. */
export const ON_CAP = ["refuse", "shrink"] as const;
export const CHOICES_ON_CAP = { refuse: "reject the request", shrink: "lower its output limit" } as const;

export const KEY_SETTINGS = defineSettings({
  name: {
    ...NAME_ROW,
    inAdmission: true,
    description: "Name of the API key.",
  },
  requestsPerMinute: {
    apiName: "requests_per_minute",
    field: "rpm",
    byMembers: true,
    inAdmission: true,
    kind: rate(RATE_BOUNDS),
    default: DEFAULT_REQUESTS_PER_MINUTE,
    description: "Rate limit; a new key without it gets the organization's default.",
    label: "Requests per minute",
    hint: `${DEFAULT_REQUESTS_PER_MINUTE} when left empty`,
    cli: {
      option: {
        flags: "--rpm <n>",
        help: `requests per minute; default: the organization's, or ${DEFAULT_REQUESTS_PER_MINUTE}`,
        changeHelp: "requests per minute",
      },
      label: "requests per minute",
      column: "RPM",
    },
  },
  ...TOKEN_LIMIT_ROWS,
  countCachedTokens: {
    apiName: "count_cached_tokens",
    field: "count_cached",
    byMembers: true,
    inAdmission: true,
    kind: choiceOrNull(["always", "never"]),
    default: null,
    description: "As `count_cached_tokens` of the organization; null: its setting.",
    label: "Cached tokens count",
    hint: "In limits of tokens per minute: always or never. Empty: the organization's setting.",
    cli: {
      option: {
        flags: "--count-cached <when>",
        help: "whether cached tokens count in token limits: always, never, or none for the organization's setting",
      },
      label: "cached tokens count",
      none: "the organization's",
    },
  },
  ...monthRows({ subject: "", examples: { cap: "50.00", budget: "40" } }),
  sessionCapCents: {
    apiName: "session_cap_cents",
    field: "session_cap_cents",
    byMembers: true,
    kind: amountOrNull(),
    default: null,
    description:
      "Cap of each session of the key, in whole cents, in addition to the organization's. Null: none.",
    label: "Cap of a session",
    hint: "Blocks requests of one session (402). Empty: the organization's cap.",
    cli: {
      option: { flags: "--session-cap <amount>", help: "cap of each session: 5.00, or none" },
      label: "session cap",
    },
  },
  limits: LIMITS_ROW,
  raises: RAISES_ROW,
  allowedModels: {
    apiName: "allowed_models",
    field: "allowed_models",
    byMembers: true,
    inAdmission: true,
    kind: modelsOrNull(),
    default: null,
    description: "Catalog ids that the key can use; null: all.",
    label: "Models",
    cli: {
      option: {
        flags: "--models <ids>",
        help: "comma-separated catalog ids that it can use, or none for all",
      },
      label: "models",
      none: "all",
    },
  },
  maxConcurrentRequests: {
    apiName: "max_concurrent_requests",
    field: "max_concurrent",
    byMembers: true,
    inAdmission: true,
    kind: wholeNumberOrNull({ minimum: 1, maximum: 100_000 }),
    default: null,
    description: "Maximum number of requests in flight; null: no limit.",
    label: "Requests at the same time",
    hint: "Empty: no limit.",
    cli: {
      option: { flags: "--max-concurrent <n>", help: "requests in flight at most, or none" },
      label: "concurrent requests",
      none: "no limit",
    },
  },
  expiresAtMs: {
    apiName: "expires_at",
    field: "expires_at",
    byMembers: true,
    inAdmission: true,
    kind: timeOrNull(),
    default: null,
    description: "Time from which requests with the key return 403; null: never.",
    label: "Expires (UTC)",
    hint: "From this time, requests return 403. Empty: never.",
    cli: {
      option: {
        flags: "--expires <time>",
        help: "expiry: a day (UTC), a time or 90d from now, or none",
      },
      label: "expires",
      none: "never",
    },
  },
  userId: {
    apiName: "user_id",
    field: "user_id",
    kind: userIdOrNull(),
    default: null,
    description: "User of the key; null: none, or deleted.",
    label: "User",
    hint: "User of this key. Empty: none.",
    cli: {
      option: { flags: "--user <user>", help: "its user, by id, name or email address, or none" },
    },
  },
  groupId: {
    apiName: "group_id",
    field: "group_id",
    kind: groupIdOrNull(),
    default: null,
    description: "Group of the key's requests; null: the group of its user, or deleted.",
    label: "Group",
    hint: "Group of its requests. Empty: the group of its user.",
    cli: {
      option: { flags: "--group <group>", help: "group of its requests, by id or name, or none" },
    },
  },
  note: {
    ...NOTE_ROW,
    description: "Purpose or owner of the key. Null: none.",
    hint: "Purpose or owner of the key.",
    cli: {
      ...NOTE_ROW.cli,
      option: { flags: "--note <text>", help: "purpose or owner, or none" },
    },
  },
  defaultTags: {
    apiName: "default_tags",
    field: "default_tags",
    byMembers: true,
    inAdmission: true,
    kind: tagsOrNull(),
    default: null,
    description: "Tags of every request; `X-Tags` overrides them by name. Null: none.",
    label: "Default tags",
    hint: "Tags of every request: team=search,feature=autocomplete. Empty: none.",
    cli: {
      option: {
        flags: "--default-tags <tags>",
        help: "tags of every request: team=search,feature=autocomplete, or none",
      },
      label: "default tags",
    },
  },
  onCap: {
    apiName: "on_cap",
    field: "on_cap",
    byMembers: true,
    inAdmission: true,
    kind: choiceOrNull(ON_CAP),
    default: null,
    description: "As `on_cap` of the organization; null: its setting.",
    label: "Response that may not fit",
    hint: "With strict caps.",
    choices: CHOICES_ON_CAP,
    cli: {
      option: {
        flags: "--on-cap <what>",
        help: "if a response may be too long for strict caps: refuse the request, shrink its limit, or none for the organization's setting",
      },
      label: "at a cap",
      none: "the organization's",
    },
  },
  disabled: {
    apiName: "disabled",
    field: "disabled",
    kind: flag(),
    default: false,
    ownControls: "`disable` and `enable`",
    description: "Requests with the key return 403 until it is enabled.",
    label: "Disabled",
    cli: { option: { flags: "--disabled", help: "disabled from the start" } },
  },
});

/** Row of the request rate limit. */
export const REQUEST_RATE = KEY_SETTINGS.requestsPerMinute;

/** Returns a key's rate limit in whole requests per minute. */
export function requestsPerMinuteOf<Rate extends number | null>({
  requestsPerMinute,
}: {
  readonly requestsPerMinute: Rate;
}): Rate {
  return requestsPerMinute;
}

export type KeySettings = RecordOf<typeof KEY_SETTINGS>;
