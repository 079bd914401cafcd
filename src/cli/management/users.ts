import type { Command } from "commander";
import { USER_SETTINGS } from "../../settings/user.ts";
import { describeState } from "../../settings/state.ts";
import type { Level, Screen } from "../terminal/screen.ts";
import { formatFields, formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { confirm } from "./confirm.ts";
import { findUser } from "./find.ts";
import { createListCommand } from "./list-command.ts";
import {
  addCommands,
  type CommandOutput,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { describeKeysOf, nameOfOwner, queryOwners, resolveOwners, showOwners } from "./owners.ts";
import {
  addSettingOptions,
  type OptionValues,
  readSettings,
  settingColumns,
  showSettings,
} from "./settings.ts";

type UserOptions = ManagementOptions & OptionValues & { readonly quiet?: true };
type ListOptions = ManagementOptions & { readonly search?: string; readonly group?: string };
type DeleteOptions = ManagementOptions & { readonly withKeys?: true };

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Makes a user: a person or a service that keys can belong to.",
  examples: [
    'user create --org Acme --name "Ann Smith" --email ann@example.com --group Research',
    "user create --name nightly-build --quiet",
  ],
  options: (command) =>
    addSettingOptions(command, USER_SETTINGS, "create").option("-q, --quiet", "print nothing but the new id"),
  async runInOrganization({ client, options, organization, path }: OrganizationCommandCall<UserOptions>) {
    const body = await resolveOwners(client, path, readSettings(USER_SETTINGS, options));
    const made = await client.call("POST", `${path}/users`, { body });
    if (options.quiet) return `${String(made["id"])}\n`;
    return { json: made, text: (screen) => `Made the user.\n\n${describe(screen, made, organization)}` };
  },
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
  async query({ client, options, path }: OrganizationCommandCall<ListOptions>) {
    const { search, group } = options;
    return { search, ...(await queryOwners(client, path, group === undefined ? {} : { group })) };
  },
  format: (screen, all) => formatRecords(screen, COLUMNS, all),
});

const show: OrganizationCommandRow = {
  usage: "show <user>",
  description: "One user, by id, name or mail address.",
  examples: ["user show ann@example.com --org Acme"],
  async runInOrganization({ client, argument, organization, path }) {
    const found = await findUser(client, path, argument);
    return { json: found, text: (screen) => describe(screen, found, organization) };
  },
};

const set: OrganizationCommandRow = {
  usage: "set <user>",
  description: "Changes what is given; it holds from the next request on.",
  examples: ["user set ann@example.com --org Acme --group Search", "user set ann@example.com --group none"],
  options: (command) => addSettingOptions(command, USER_SETTINGS, "change"),
  async runInOrganization(call: OrganizationCommandCall<UserOptions>) {
    const { client, path, options } = call;
    return change(call, await resolveOwners(client, path, readSettings(USER_SETTINGS, options)));
  },
};

const disable: OrganizationCommandRow = {
  usage: "disable <user>",
  description: "Refuses all keys of the user until it is enabled again.",
  examples: ["user disable ann@example.com --org Acme"],
  asksFirst: true,
  async runInOrganization(call) {
    const found = await findUser(call.client, call.path, call.argument);
    const what = `This disables ${nameOf(found)}: all its keys are refused until it is enabled.`;
    await confirm(what, call.options);
    return change(call, { disabled: true });
  },
};

const enable: OrganizationCommandRow = {
  usage: "enable <user>",
  description: "Lets the keys of a disabled user work again.",
  examples: ["user enable ann@example.com --org Acme"],
  runInOrganization: (call) => change(call, { disabled: false }),
};

const remove: OrganizationCommandRow = {
  usage: "delete <user>",
  description: "Deletes a user for good; its keys go on without it, and what was spent stays in the usage.",
  examples: ["user delete ann@example.com --org Acme", "user delete ann@example.com --with-keys --yes"],
  asksFirst: true,
  options: (command) => command.option("--with-keys", "delete its keys, too"),
  async runInOrganization(call: OrganizationCommandCall<DeleteOptions>) {
    const { client, options, argument, path } = call;
    const isWithKeys = options.withKeys === true;
    const found = await findUser(client, path, argument);
    await confirm(`This deletes ${nameOf(found)} for good; ${describeKeysOf(found, isWithKeys)}.`, options);
    const query = isWithKeys ? { keys: "delete" } : {};
    await client.call("DELETE", `${path}/users/${String(found["id"])}`, { query });
    return { json: { id: found["id"], deleted: true }, text: () => `Deleted ${String(found["name"])}.\n` };
  },
};

/** `user …` */
export function addUserCommands(program: Command): void {
  const group = program
    .command("user")
    .description("Users of an organization: the people and services that keys belong to.");
  addCommands(group, [create, list, show, set, disable, enable, remove]);
}

async function change(call: OrganizationCommandCall, body: object): Promise<CommandOutput> {
  const { client, path, argument, organization } = call;
  const { id } = await findUser(client, path, argument);
  const changed = await client.call("PATCH", `${path}/users/${String(id)}`, { body });
  return { json: changed, text: (screen) => describe(screen, changed, organization) };
}

/** In a question. */
function nameOf({ name, email }: JsonObject): string {
  return `the user "${String(name)}"${typeof email === "string" ? ` (${email})` : ""}`;
}

function stateOf({ disabled }: JsonObject): { readonly words: string; readonly level: Level } {
  const { words, level } = describeState(disabled === true ? "disabled" : "active");
  return { words, level: level === "off" ? "quiet" : level };
}

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(USER_SETTINGS, () => ""),
  { header: "GROUP", cell: ({ group }) => nameOfOwner(group) ?? "-" },
  { header: "KEYS", cell: ({ key_count: keys }) => keys },
  { header: "STATE", cell: (one) => stateOf(one).words, level: (one) => stateOf(one).level },
];

function describe(screen: Screen, one: JsonObject, organization: JsonObject): string {
  const state = stateOf(one);
  return formatFields(screen, [
    ["id", String(one["id"])],
    ["organization", `${String(organization["name"])} (${String(organization["id"])})`],
    ["name", String(one["name"])],
    ["state", state.words, state.level],
    ...showOwners(one),
    ...showSettings(USER_SETTINGS, one, "", []),
    ["keys", String(one["key_count"])],
    ["created", String(one["created_at"])],
  ]);
}
