import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { findUser } from "./find.ts";
import {
  type CommandGroup,
  createListCommand,
  type ManagementOptions,
  type OrganizationCommandCall,
} from "./management-command.ts";
import { deleteCommand, ownerCommands, type OwnerKind } from "./owner-commands.ts";
import { describeKeysOf, KEYS_OF_DELETED, nameOfOwner, queryOwners } from "./owners.ts";
import { settingColumns } from "./settings.ts";
import { STATE_COLUMN } from "./describe-owner.ts";

type ListOptions = ManagementOptions & { readonly search?: string; readonly group?: string };

const USER: OwnerKind = {
  name: "user",
  settings: USER_SETTINGS,
  find: findUser,
  create: {
    description: "Create a user: a person or service with API keys.",
    examples: [
      'user create --org Acme --name "Ann Smith" --email ann@example.com --group Research',
      "user create --name nightly-build --quiet",
    ],
  },
  show: {
    description: "Show one user, by id, name or email address.",
    examples: ["user show ann@example.com --org Acme"],
  },
  set: {
    examples: ["user set ann@example.com --org Acme --group Search", "user set ann@example.com --group none"],
  },
  switches: [
    {
      verb: "disable",
      description: "Reject all API keys of a user until it is enabled again.",
      examples: ["user disable ann@example.com --org Acme"],
      consequence: "requests with its API keys return 403 until it is enabled",
      body: { disabled: true },
    },
    {
      verb: "enable",
      description: "Accept the API keys of a disabled user again.",
      examples: ["user enable ann@example.com --org Acme"],
      body: { disabled: false },
    },
  ],
};

const list = createListCommand({
  usage: "list",
  description: "List users, or the ones that match a search.",
  examples: ["user list --org Acme --limit 100", "user list --search ann", "user list --group Research"],
  path: "users",
  options: (command) =>
    command
      .option("--search <text>", "beginning of a word of the name or email address")
      .option("--group <group>", "only users of this group, by id or name"),
  async query({ client, options: { search, group }, path }: OrganizationCommandCall<ListOptions>) {
    return { search, ...(await queryOwners(client, path, group === undefined ? {} : { group })) };
  },
  format: (screen, all) => formatRecords(screen, COLUMNS, all),
});

const remove = deleteCommand(USER, {
  description: "Permanently delete a user. Its API keys stay without a user.",
  examples: ["user delete ann@example.com --org Acme", "user delete ann@example.com --with-keys --yes"],
  consequence: (found, options) => `; ${describeKeysOf(found, options)}`,
  ...KEYS_OF_DELETED,
});

const { create, show, set, switches } = ownerCommands(USER);

export const USER_COMMANDS: CommandGroup = {
  name: "user",
  description: "Manage users: the people and services that API keys belong to.",
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
