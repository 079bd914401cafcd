/**
 * Positions in the scripts' replies: first the outcome, then these fields, in this order. Each script repeats
 * them in its header in words ("time ms"); a test compares both.
 */
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { StoredSettings } from "../../../shared/settings/setting.ts";
import { admittedRows } from "../../../shared/settings/table.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";

interface ReplyLayout {
  readonly file: string;
  readonly fields: readonly string[];
  /** List in the field of this name. */
  readonly settings?: readonly string[];
}

const KEY_FIELDS = admittedFields("key", KEY_SETTINGS);
const ORGANIZATION_FIELDS = admittedFields("organization", ORGANIZATION_SETTINGS);

const OWNER_FIELDS = ["userId", "userName", "groupId", "groupName"];
/** Settings in a reply of `admit.lua`. */
export const ADMITTED_SETTINGS = ["keyDisplay", ...KEY_FIELDS, ...ORGANIZATION_FIELDS, ...OWNER_FIELDS];

function admittedFields(owner: string, table: StoredSettings): string[] {
  return admittedRows(table).map(([name]) => `${owner}${capitalize(name)}`);
}

export const REPLY_LAYOUTS = {
  admit: {
    file: "admit.lua",
    fields: [
      "timeMs",
      "capacity",
      "settingsVersion",
      "settings",
      "requests",
      "caps",
      "reached",
      "tokenBuckets",
      "tokenLimit",
      "sessionsCapped",
      "alertsFired",
    ],
    settings: ADMITTED_SETTINGS,
  },
  admitRequest: {
    file: "admit.lua",
    fields: ["remaining", "resetMs", "retryAfterSeconds", "concurrent", "entered", "tokens"],
  },
  admitCap: { file: "admit.lua", fields: ["period", "cents", "raisedCents", "spent"] },
  limitsRead: { file: "read-limits.lua", fields: ["timeMs", "limits"] },
  limitRead: {
    file: "read-limits.lua",
    fields: ["period", "kind", "cents", "raisedCents", "spent"],
  },
  unknownKey: { file: "admit.lua", fields: ["timeMs"] },
  monthChanged: { file: "admit.lua", fields: ["timeMs"] },
  opened: { file: "open-record.lua", fields: ["tagRow", "sessionUncapped"] },
  currencyChanged: { file: "open-record.lua", fields: ["currency"] },
  concurrencyLimited: { file: "open-record.lua", fields: ["limit"] },
  capReached: {
    file: "open-record.lua",
    fields: [
      "spent",
      "held",
      "capCents",
      "period",
      "raisedCents",
      "ownerName",
      "amountsHidden",
      "alertsFired",
    ],
  },
  charged: { file: "charge.lua", fields: ["alertsFired", "fell"] },
  chargedSingle: { file: "charge-single.lua", fields: ["alertsFired"] },
  closed: { file: "close.lua", fields: ["alertsFired"] },
  dayChanged: { file: "correct.lua", fields: ["timeMs"] },
  corrected: {
    file: "correct.lua",
    fields: ["month", "organizationSpent", "keySpent", "alertsFired", "stored"],
  },
  raised: { file: "raise-usage.lua", fields: ["addedMicrocents"] },
  keyChanged: { file: "set-limits.lua", fields: ["before", "after", "alertsFired"] },
  keyConflict: { file: "set-limits.lua", fields: ["record"] },
  ownerMissing: { file: "set-limits.lua", fields: ["place"] },
  keyDeleted: { file: "delete-key.lua", fields: ["before", "after"] },
  identityKnown: { file: "create-owner.lua", fields: ["id"] },
  ownerChanged: { file: "change-owner.lua", fields: ["before", "after", "alertsFired"] },
  ownerConflict: { file: "change-owner.lua", fields: ["record"] },
  organizationChanged: { file: "set-organization.lua", fields: ["before", "after", "alertsFired"] },
  organizationConflict: { file: "set-organization.lua", fields: ["record"] },
  organizationDeleted: { file: "delete-organization.lua", fields: ["before", "after"] },
  nameClaimed: { file: "claim-name.lua", fields: ["timeUs"] },
  nameTaken: { file: "claim-name.lua", fields: ["timeUs", "entry"] },
  bucket: { file: "read-buckets.lua", fields: ["remaining", "capacity", "tokens", "lastUsedMs"] },
  deliveryLater: { file: "claim-delivery.lua", fields: ["waitMs"] },
  deliveryClaimed: {
    file: "claim-delivery.lua",
    fields: ["entryId", "nowMs", "failedAttempts", "progress", "alert"],
  },
  deliveryPending: { file: "list-deliveries.lua", fields: ["entryId", "waitMs"] },
} as const satisfies Record<string, ReplyLayout>;

type Layouts = typeof REPLY_LAYOUTS;
type Positions<Fields extends readonly string[]> = { readonly [Field in Fields[number]]: number };

function positionsOf(layout: ReplyLayout): Record<string, number> {
  return Object.fromEntries(layout.fields.map((field, index) => [field, index + 1]));
}

const FIRST_OWNER = 1 + KEY_FIELDS.length + ORGANIZATION_FIELDS.length;

/**
 * Positions among an admission's settings: the key's display, the first of the key's and of the
 * organization's settings, in the order of their tables, and id and name of user and group.
 */
export const ADMITTED_AT = {
  display: 0,
  key: 1,
  organization: 1 + KEY_FIELDS.length,
  user: FIRST_OWNER,
  group: FIRST_OWNER + 2,
} as const;

/** Position of the outcome in every reply. */
export const OUTCOME = 0;

/** Positions of fields, by reply. */
export const AT = Object.fromEntries(
  Object.entries(REPLY_LAYOUTS).map(([name, layout]) => [name, positionsOf(layout)]),
) as { readonly [Name in keyof Layouts]: Positions<Layouts[Name]["fields"]> };
