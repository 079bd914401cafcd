/**
 * Settings of an organization's user: a person or a service that owns keys. CONTRIBUTING.md describes how to
 * add a row.
 */
import { emailOrNull, flag, groupIdOrNull } from "./kinds.ts";
import { LIMITS_ROW } from "./limit-settings.ts";
import { NAME_ROW, NOTE_ROW } from "./owner-rows.ts";
import { RAISES_ROW } from "./raises.ts";
import { defineSettings, type RecordOf } from "./setting.ts";
import { TOKEN_LIMIT_ROWS } from "./token-limits.ts";

export const USER_SETTINGS = defineSettings({
  name: {
    ...NAME_ROW,
    description: "Name; not unique.",
  },
  email: {
    apiName: "email",
    field: "email",
    kind: emailOrNull(),
    default: null,
    description: "Email address, which receives no email. Null: none.",
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
    description: "Group of the user; null: none, or deleted.",
    label: "Group",
    hint: "Empty: none.",
    cli: { option: { flags: "--group <group>", help: "its group, by id or name, or none" } },
  },
  disabled: {
    apiName: "disabled",
    field: "disabled",
    kind: flag(),
    default: false,
    ownControls: "`disable` and `enable`",
    description: "Requests with its API keys return 403 until it is enabled.",
    label: "Disabled",
    cli: { option: { flags: "--disabled", help: "disabled from the start" } },
  },
  limits: {
    ...LIMITS_ROW,
    description: "Hard caps and budgets of all its API keys together. Replaces the whole list.",
    hint: "Without a row of a period and kind, the group's limit of each member applies.",
  },
  raises: RAISES_ROW,
  ...TOKEN_LIMIT_ROWS,
  note: NOTE_ROW,
});

export type UserSettings = RecordOf<typeof USER_SETTINGS>;
