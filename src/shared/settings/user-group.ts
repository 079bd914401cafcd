/** Settings of a group of users, a team. (`group.ts` is unrelated: a setting that groups settings.) */
import { LIMITS_ROW, memberLimitsRow } from "./limit-settings.ts";
import { NAME_ROW, NOTE_ROW } from "./owner-rows.ts";
import { RAISES_ROW } from "./raises.ts";
import { defineSettings, type RecordOf } from "./setting.ts";
import { TOKEN_LIMIT_ROWS } from "./token-limits.ts";

export const USER_GROUP_SETTINGS = defineSettings({
  name: {
    ...NAME_ROW,
    description: "Name; not unique.",
  },
  limits: {
    ...LIMITS_ROW,
    description: "Hard caps and budgets that all its API keys and users share. Replaces the whole list.",
    hint: "Shared by all members. A row without an amount is no limit.",
    cli: {
      ...LIMITS_ROW.cli,
      option: {
        flags: "--limits <list>",
        help: 'all limits that its members share, replaces the list: "day cap 5.00, week budget 20", or none',
      },
    },
  },
  raises: RAISES_ROW,
  memberLimits: memberLimitsRow({ member: "user of the group", help: "member" }),
  ...TOKEN_LIMIT_ROWS,
  note: NOTE_ROW,
});

export type UserGroupSettings = RecordOf<typeof USER_GROUP_SETTINGS>;
