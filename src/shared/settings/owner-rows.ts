/** Rows that users, groups and keys share; their tables provide the differences. */
import { lineOrNull, name } from "./kinds.ts";

export const NAME_ROW = {
  apiName: "name",
  field: "name",
  byMembers: true,
  kind: name(),
  label: "Name",
  cli: { option: { flags: "--name <name>", help: "1 to 100 characters", changeHelp: "new name" } },
} as const;

export const NOTE_ROW = {
  apiName: "note",
  field: "note",
  byMembers: true,
  kind: lineOrNull(200),
  default: null,
  description: "A note for people. Null: none.",
  label: "Note",
  cli: {
    option: { flags: "--note <text>", help: "text for people, such as the purpose, or none" },
    label: "note",
    none: "-",
  },
} as const;
