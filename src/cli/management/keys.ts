import type { Command } from "commander";
import { KEY_SETTINGS } from "../../settings/key.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { formatAmount } from "./amounts.ts";
import { CommandError } from "./command-error.ts";
import {
  addCommands,
  type CommandOutput,
  findKey,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { parseWhole } from "./options.ts";
import { addSettingOptions, type OptionValues, readSettings, showColumns, showSettings } from "./settings.ts";
import { formatFields, formatTable, formatValue } from "./table.ts";

type KeyOptions = ManagementOptions & OptionValues & { readonly quiet?: true };
type RotateOptions = ManagementOptions & { readonly grace?: number; readonly quiet?: true };

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Makes a key and prints it, this once.",
  examples: [
    "key create --org Acme --name ci --hard-cap 50.00",
    "key create --name laptop --rpm 60 --models acme/echo-small --expires 2027-01-01T00:00:00Z",
    "key create --name ci --quiet > ci.key",
  ],
  options: (command) =>
    addSettingOptions(command, KEY_SETTINGS, "create").option("-q, --quiet", "print nothing but the key"),
  async runInOrganization({ client, options, organization, path }: OrganizationCommandCall<KeyOptions>) {
    const made = await client.call("POST", `${path}/keys`, { body: readSettings(KEY_SETTINGS, options) });
    return showSecret(options, made, `Made the key.\n\n${describe(made, organization)}`);
  },
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "All keys, with this month's spend.",
  examples: ["key list --org Acme"],
  async runInOrganization({ client, organization, path }) {
    const all = await client.list(`${path}/keys`);
    return { json: all, text: () => formatList(all, organization) };
  },
};

const show: OrganizationCommandRow = {
  usage: "show <key>",
  description: "One key, by id or name.",
  examples: ["key show ci --org Acme"],
  async runInOrganization({ client, argument, organization, path }) {
    const found = await findKey(client, path, argument);
    return { json: found, text: () => describe(found, organization) };
  },
};

const set: OrganizationCommandRow = {
  usage: "set <key>",
  description: "Changes what is given; it holds from the next request on.",
  examples: ["key set ci --org Acme --hard-cap 60.00", "key set ci --models none --max-concurrent 4"],
  options: (command) => addSettingOptions(command, KEY_SETTINGS, "change"),
  runInOrganization: (call: OrganizationCommandCall<KeyOptions>) =>
    change(call, readSettings(KEY_SETTINGS, call.options)),
};

const rotate: OrganizationCommandRow = {
  usage: "rotate <key>",
  description: "Gives a key a new secret and prints it, this once. Id, limits and spend stay.",
  examples: ["key rotate ci --org Acme --grace 3600", "key rotate ci --quiet > ci.key"],
  options: (command) =>
    command
      .option("--grace <seconds>", "how long the former secret still works; 0 when left out", parseWhole)
      .option("-q, --quiet", "print nothing but the key"),
  async runInOrganization(call: OrganizationCommandCall<RotateOptions>) {
    const { client, options, organization } = call;
    const body = { grace_seconds: options.grace };
    const rotated = await client.call("POST", `${await pathOf(call)}/rotate`, { body });
    return showSecret(options, rotated, `Rotated the key.\n\n${describe(rotated, organization)}`);
  },
};

const disable = createSwitch("disable", true, "Refuses the key until it is enabled again.");
const enable = createSwitch("enable", false, "Lets a disabled key work again.");

const remove: OrganizationCommandRow = {
  usage: "delete <key>",
  description: "Deletes a key for good; what it has spent stays in the usage.",
  examples: ["key delete ci --org Acme"],
  async runInOrganization({ client, argument, path }) {
    const found = await findKey(client, path, argument);
    await client.call("DELETE", `${path}/keys/${String(found["id"])}`);
    const json = { id: found["id"], deleted: true };
    return { json, text: () => `Deleted ${String(found["name"])}.\n` };
  },
};

const revokeAll: OrganizationCommandRow = {
  usage: "revoke-all",
  description: "Deletes every key of the organization, after a leak.",
  examples: ["key revoke-all --org Acme --yes"],
  options: (command) => command.option("--yes", "really"),
  async runInOrganization(call: OrganizationCommandCall<ManagementOptions & { yes?: true }>) {
    const { client, options, organization, path } = call;
    if (!options.yes) {
      const name = String(organization["name"]);
      throw new CommandError(`This deletes every key of "${name}" for good. Give --yes if that is meant.`);
    }
    const revoked = await client.call("POST", `${path}/keys/revoke-all`);
    return { json: revoked, text: () => `Deleted ${String(revoked["revoked"])} keys.\n` };
  },
};

/** `key …` */
export function addKeyCommands(program: Command): void {
  const group = program
    .command("key")
    .description("API keys of an organization: limits, rotation, revocation.");
  addCommands(group, [create, list, show, set, rotate, disable, enable, remove, revokeAll]);
}

function createSwitch(name: string, disabled: boolean, description: string): OrganizationCommandRow {
  return {
    usage: `${name} <key>`,
    description,
    examples: [`key ${name} ci --org Acme`],
    runInOrganization: (call) => change(call, { disabled }),
  };
}

async function change(call: OrganizationCommandCall, body: object): Promise<CommandOutput> {
  const changed = await call.client.call("PATCH", await pathOf(call), { body });
  return { json: changed, text: () => describe(changed, call.organization) };
}

async function pathOf(call: {
  readonly client: AdminClient;
  readonly path: string;
  readonly argument: string;
}): Promise<string> {
  const { client, path, argument } = call;
  return `${path}/keys/${String((await findKey(client, path, argument))["id"])}`;
}

function showSecret({ quiet }: { quiet?: true }, made: JsonObject, text: string): CommandOutput {
  const secret = String(made["key"]);
  if (quiet) return `${secret}\n`;
  return {
    json: made,
    text: () => `${text}\nThe key. It is shown this once, and only its hash is kept:\n\n  ${secret}\n`,
  };
}

function formatList(all: readonly JsonObject[], organization: JsonObject): string {
  const currency = String(organization["currency"]);
  const columnsOf = (one: JsonObject) =>
    showColumns(KEY_SETTINGS, one, currency, [["SPENT", formatAmount(one["spent_cents"], currency)]]);
  const headers = columnsOf({}).map(([header]) => header);
  return formatTable(
    ["ID", "NAME", "KEY", ...headers, "STATE"],
    all.map((one) => [
      String(one["id"]),
      String(one["name"]),
      String(one["display"]),
      ...columnsOf(one).map(([, value]) => value),
      stateOf(one),
    ]),
  );
}

function describe(one: JsonObject, organization: JsonObject): string {
  const currency = String(organization["currency"]);
  return formatFields([
    ["id", String(one["id"])],
    ["organization", `${String(organization["name"])} (${String(organization["id"])})`],
    ["name", String(one["name"])],
    ["key", String(one["display"])],
    ["state", stateOf(one)],
    ...showSettings(KEY_SETTINGS, one, currency, [
      ["requests left now", formatBucket(one["bucket"] as JsonObject)],
      [`spent in ${String(one["month"])}`, formatAmount(one["spent_cents"], currency)],
    ]),
    ["created", String(one["created_at"])],
    ...(one["former_key_until"] === null
      ? []
      : [["former key works until", formatValue(one["former_key_until"])] as const]),
  ]);
}

/** As the dashboard says it: "cap reached". */
function stateOf(one: JsonObject): string {
  return String(one["state"]).replaceAll("_", " ");
}

/** "57 of 60" */
function formatBucket(bucket: JsonObject): string {
  return `${String(bucket["remaining"])} of ${String(bucket["capacity"])}`;
}
