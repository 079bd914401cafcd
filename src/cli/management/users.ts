import { USER_SETTINGS } from "../../settings/user.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { findUser } from "./find.ts";
import { createListCommand } from "./list-command.ts";
import {
  type CommandGroup,
  type ManagementOptions,
  type OrganizationCommandCall,
} from "./management-command.ts";
import { deleteCommand, ownerCommands, type OwnerKind } from "./owner-commands.ts";
import { describeKeysOf, KEYS_OF_DELETED, nameOfOwner, queryOwners } from "./owners.ts";
import { settingColumns } from "./settings.ts";
import { STATE_COLUMN } from "./state.ts";

type ListOptions = ManagementOptions & { readonly search?: string; readonly group?: string };

const USER: OwnerKind = {
  name: "user",
  settings: USER_SETTINGS,
  find: findUser,
  create: {
    description: "Makes a user: a person or a service that keys can belong to.",
    examples: [
      'user create --org Acme --name "Ann Smith" --email ann@example.com --group Research',
      "user create --name nightly-build --quiet",
    ],
  },
  show: {
    description: "One user, by id, name or mail address.",
    examples: ["user show ann@example.com --org Acme"],
  },
  set: {
    examples: ["user set ann@example.com --org Acme --group Search", "user set ann@example.com --group none"],
  },
  switches: [
    {
      verb: "disable",
      description: "Refuses all keys of the user until it is enabled again.",
      examples: ["user disable ann@example.com --org Acme"],
      consequence: "all its keys are refused until it is enabled",
      body: { disabled: true },
    },
    {
      verb: "enable",
      description: "Lets the keys of a disabled user work again.",
      examples: ["user enable ann@example.com --org Acme"],
      body: { disabled: false },
    },
  ],
};

const list = createListCommand({
  usage: "list",
  description: "The users, or those that a search finds.",
  examples: ["user list --org Acme --limit 100", "user list --search ann", "user list --group Research"],
  path: "users",
  options: (command) =>
    command
      .option("--search <text>", "only those whose name or mail address has it at the beginning of a word")
      .option("--group <group>", "only those of this group, by id or name"),
  async query({ client, options: { search, group }, path }: OrganizationCommandCall<ListOptions>) {
    return { search, ...(await queryOwners(client, path, group === undefined ? {} : { group })) };
  },
  format: (screen, all) => formatRecords(screen, COLUMNS, all),
});

const remove = deleteCommand(USER, {
  description: "Deletes a user for good; its keys go on without it, and what was spent stays in the usage.",
  examples: ["user delete ann@example.com --org Acme", "user delete ann@example.com --with-keys --yes"],
  consequence: (found, options) => `; ${describeKeysOf(found, options)}`,
  ...KEYS_OF_DELETED,
});

const { create, show, set, switches } = ownerCommands(USER);

export const USER_COMMANDS: CommandGroup = {
  name: "user",
  description: "Users of an organization: the people and services that keys belong to.",
  rows: [create, list, show, set, ...switches, remove],
};

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(USER_SETTINGS, () => ""),
  { header: "GROUP", cell: ({ group }) => nameOfOwner(group) ?? "-" },
  { header: "KEYS", cell: ({ key_count: keys }) => keys },
  STATE_COLUMN,
];
