import { USER_GROUP_SETTINGS } from "../../../shared/settings/user-group.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { findGroup } from "./find.ts";
import {
  type CommandGroup,
  createListCommand,
  type ManagementOptions,
  type OrganizationCommandCall,
} from "./management-command.ts";
import { deleteCommand, ownerCommands, type OwnerKind } from "./owner-commands.ts";
import { describeKeysOf, KEYS_OF_DELETED } from "./owners.ts";
import { settingColumns } from "./settings.ts";

type ListOptions = ManagementOptions & { readonly search?: string };

const GROUP: OwnerKind = {
  name: "group",
  settings: USER_GROUP_SETTINGS,
  find: findGroup,
  create: {
    description: "Create a group of users and API keys.",
    examples: ["group create --org Acme --name Research", "group create --name Research --quiet"],
  },
  show: { description: "Show one group, by id or name.", examples: ["group show Research --org Acme"] },
  set: { examples: ['group set Research --org Acme --name "Research and Ads"'] },
};

const list = createListCommand({
  usage: "list",
  description: "List groups, or the ones that match a search.",
  examples: ["group list --org Acme --limit 100", "group list --search research"],
  path: "groups",
  options: (command) => command.option("--search <text>", "beginning of a word of the name"),
  query: async ({ options }: OrganizationCommandCall<ListOptions>) => ({ search: options.search }),
  format: (screen, all) => formatRecords(screen, COLUMNS, all),
});

const remove = deleteCommand(GROUP, {
  description: "Permanently delete a group. Its users and API keys stay without a group.",
  examples: ["group delete Research --org Acme", "group delete Research --with-keys --yes"],
  consequence: (found, options) =>
    `; ${describeKeysOf(found, options)}; its users (${String(found["user_count"])}) stay`,
  ...KEYS_OF_DELETED,
});

const { create, show, set } = ownerCommands(GROUP);

export const GROUP_COMMANDS: CommandGroup = {
  name: "group",
  description: "Manage groups: teams that users and API keys belong to.",
  rows: [create, list, show, set, remove],
};

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(USER_GROUP_SETTINGS, () => ""),
  { header: "USERS", cell: ({ user_count: users }) => users },
  { header: "KEYS", cell: ({ key_count: keys }) => keys },
];
