import type { Command } from "commander";
import { USER_GROUP_SETTINGS } from "../../settings/user-group.ts";
import type { Screen } from "../terminal/screen.ts";
import { formatFields, formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { confirm } from "./confirm.ts";
import { findGroup } from "./find.ts";
import { createListCommand } from "./list-command.ts";
import {
  addCommands,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { describeKeysOf } from "./owners.ts";
import {
  addSettingOptions,
  type OptionValues,
  readSettings,
  settingColumns,
  showSettings,
} from "./settings.ts";

type GroupOptions = ManagementOptions & OptionValues & { readonly quiet?: true };
type ListOptions = ManagementOptions & { readonly search?: string };
type DeleteOptions = ManagementOptions & { readonly withKeys?: true };

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Makes a group: a team that users and keys can belong to.",
  examples: ["group create --org Acme --name Research", "group create --name Research --quiet"],
  options: (command) =>
    addSettingOptions(command, USER_GROUP_SETTINGS, "create").option(
      "-q, --quiet",
      "print nothing but the new id",
    ),
  async runInOrganization({ client, options, organization, path }: OrganizationCommandCall<GroupOptions>) {
    const body = readSettings(USER_GROUP_SETTINGS, options);
    const made = await client.call("POST", `${path}/groups`, { body });
    if (options.quiet) return `${String(made["id"])}\n`;
    return { json: made, text: (screen) => `Made the group.\n\n${describe(screen, made, organization)}` };
  },
};

const list = createListCommand({
  usage: "list",
  description: "The groups, or those that a search finds.",
  examples: ["group list --org Acme --limit 100", "group list --search research"],
  path: "groups",
  options: (command) =>
    command.option("--search <text>", "only those whose name has it at the beginning of a word"),
  query: async ({ options }: OrganizationCommandCall<ListOptions>) => ({ search: options.search }),
  format: (screen, all) => formatRecords(screen, COLUMNS, all),
});

const show: OrganizationCommandRow = {
  usage: "show <group>",
  description: "One group, by id or name.",
  examples: ["group show Research --org Acme"],
  async runInOrganization({ client, argument, organization, path }) {
    const found = await findGroup(client, path, argument);
    return { json: found, text: (screen) => describe(screen, found, organization) };
  },
};

const set: OrganizationCommandRow = {
  usage: "set <group>",
  description: "Changes what is given; it holds from the next request on.",
  examples: ['group set Research --org Acme --name "Research and Ads"'],
  options: (command) => addSettingOptions(command, USER_GROUP_SETTINGS, "change"),
  async runInOrganization(call: OrganizationCommandCall<GroupOptions>) {
    const { client, path, argument, organization, options } = call;
    const { id } = await findGroup(client, path, argument);
    const body = readSettings(USER_GROUP_SETTINGS, options);
    const changed = await client.call("PATCH", `${path}/groups/${String(id)}`, { body });
    return { json: changed, text: (screen) => describe(screen, changed, organization) };
  },
};

const remove: OrganizationCommandRow = {
  usage: "delete <group>",
  description:
    "Deletes a group for good; its users and keys go on without it, and what was spent stays in the usage.",
  examples: ["group delete Research --org Acme", "group delete Research --with-keys --yes"],
  asksFirst: true,
  options: (command) => command.option("--with-keys", "delete its keys, too"),
  async runInOrganization(call: OrganizationCommandCall<DeleteOptions>) {
    const { client, options, argument, path } = call;
    const isWithKeys = options.withKeys === true;
    const found = await findGroup(client, path, argument);
    const users = `its users (${String(found["user_count"])}) stay`;
    const name = `the group "${String(found["name"])}"`;
    await confirm(`This deletes ${name} for good; ${describeKeysOf(found, isWithKeys)}; ${users}.`, options);
    const query = isWithKeys ? { keys: "delete" } : {};
    await client.call("DELETE", `${path}/groups/${String(found["id"])}`, { query });
    return { json: { id: found["id"], deleted: true }, text: () => `Deleted ${String(found["name"])}.\n` };
  },
};

/** `group …` */
export function addGroupCommands(program: Command): void {
  const group = program
    .command("group")
    .description("Groups of an organization: teams that users and keys belong to.");
  addCommands(group, [create, list, show, set, remove]);
}

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(USER_GROUP_SETTINGS, () => ""),
  { header: "USERS", cell: ({ user_count: users }) => users },
  { header: "KEYS", cell: ({ key_count: keys }) => keys },
];

function describe(screen: Screen, one: JsonObject, organization: JsonObject): string {
  return formatFields(screen, [
    ["id", String(one["id"])],
    ["organization", `${String(organization["name"])} (${String(organization["id"])})`],
    ["name", String(one["name"])],
    ...showSettings(USER_GROUP_SETTINGS, one, "", []),
    ["users", String(one["user_count"])],
    ["keys", String(one["key_count"])],
    ["created", String(one["created_at"])],
  ]);
}
