/** The settings of a group of users: a team. (`group.ts` is another thing: a setting that is a group of settings.) */
import { LIMITS_ROW, memberLimitsRow } from "./limits.ts";
import { NAME_ROW, NOTE_ROW } from "./owner-rows.ts";
import { RAISES_ROW } from "./raises.ts";
import { defineSettings, type RecordOf } from "./setting.ts";
import { TOKEN_LIMIT_ROWS } from "./token-limits.ts";

export const USER_GROUP_SETTINGS = defineSettings({
  name: {
    ...NAME_ROW,
    description: "What people call the group. Two may have one name: the id counts.",
  },
  limits: {
    ...LIMITS_ROW,
    description:
      "The pool: what all keys and users of the group may spend together in a day, a week (from Monday), a month and in total, all in UTC. Replaces the whole list.",
    hint: "Shared by all members. One per line: month cap 2000.00. Empty: none.",
    cli: {
      ...LIMITS_ROW.cli,
      option: {
        flags: "--limits <list>",
        help: 'all limits that its members share: "day cap 5.00, week budget 20", or none',
      },
    },
  },
  raises: { ...RAISES_ROW, description: `${RAISES_ROW.description} They raise the pool alone.` },
  memberLimits: memberLimitsRow({ member: "user of the group", help: "member" }),
  ...TOKEN_LIMIT_ROWS,
  note: NOTE_ROW,
});

export type UserGroupSettings = RecordOf<typeof USER_GROUP_SETTINGS>;
