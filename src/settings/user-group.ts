/** The settings of a group of users: a team. (`group.ts` is another thing: a setting that is a group of settings.) */
import { lineOrNull, name } from "./kinds.ts";
import { defineSettings, type RecordOf } from "./setting.ts";

export const USER_GROUP_SETTINGS = defineSettings({
  name: {
    apiName: "name",
    field: "name",
    kind: name(),
    description: "What people call the group. Two may have one name: the id counts.",
    label: "Name",
    cli: { option: { flags: "--name <name>", help: "1 to 100 characters", changeHelp: "another name" } },
  },
  note: {
    apiName: "note",
    field: "note",
    kind: lineOrNull(200),
    default: null,
    description: "For people. Null: nothing.",
    label: "Note",
    cli: { option: { flags: "--note <text>", help: "for people, or none" }, label: "note", none: "-" },
  },
});

export type UserGroupSettings = RecordOf<typeof USER_GROUP_SETTINGS>;
