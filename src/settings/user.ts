/** The settings of a user of an organization: a person or a service that keys belong to. How a row is added: CONTRIBUTING.md. */
import { emailOrNull, flag, groupIdOrNull } from "./kinds.ts";
import { LIMITS_ROW } from "./limits.ts";
import { NAME_ROW, NOTE_ROW } from "./owner-rows.ts";
import { RAISES_ROW } from "./raises.ts";
import { defineSettings, type RecordOf } from "./setting.ts";
import { TOKEN_LIMIT_ROWS } from "./token-limits.ts";

export const USER_SETTINGS = defineSettings({
  name: {
    ...NAME_ROW,
    description: "What people call the user. Two may have one name: the id counts.",
  },
  email: {
    apiName: "email",
    field: "email",
    kind: emailOrNull(),
    default: null,
    description: "Email address, for people and for the search; nothing is sent there. Null: none.",
    label: "Email address",
    hint: "For people and search. Receives no email.",
    cli: {
      option: { flags: "--email <address>", help: "email address, or none" },
      label: "email",
      none: "-",
      column: "EMAIL",
    },
  },
  groupId: {
    apiName: "group_id",
    field: "group_id",
    kind: groupIdOrNull(),
    default: null,
    description: "The group that the user is in; null: none. A group that was deleted reads as null.",
    label: "Group",
    hint: "Empty: none.",
    cli: { option: { flags: "--group <group>", help: "its group, by id or name, or none" } },
  },
  disabled: {
    apiName: "disabled",
    field: "disabled",
    kind: flag(),
    default: false,
    description: "Requests with API keys of this user return 403 until it is enabled again.",
    label: "Disabled",
    cli: { option: { flags: "--disabled", help: "disabled from the start" } },
  },
  limits: {
    ...LIMITS_ROW,
    description:
      "What the user may spend with all its keys in a day, a week (from Monday), a month and in total, all in UTC: a `cap` refuses, a `budget` only tells. Replaces the whole list.",
    hint: "One per line: week cap 20.00 (day, week, month, total). Empty: the group's limits of each member.",
  },
  raises: {
    ...RAISES_ROW,
    description:
      "Temporary raises of its caps, those that its group or organization gives each member included. What has ended stays on the list until the next one is created or removed.",
  },
  ...TOKEN_LIMIT_ROWS,
  note: NOTE_ROW,
});

export type UserSettings = RecordOf<typeof USER_SETTINGS>;
