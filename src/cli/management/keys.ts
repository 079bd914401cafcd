import { nameTokenType } from "../../settings/token-limits.ts";
import type { Command } from "commander";
import { KEY_SETTINGS, ROTATION_GRACE_SECONDS } from "../../settings/key.ts";
import type { Screen } from "../terminal/screen.ts";
import { formatFields, formatRecords, formatValue, type RecordColumn } from "../terminal/table.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { formatAmount } from "./amounts.ts";
import { confirm } from "./confirm.ts";
import { findKey } from "./find.ts";
import {
  addCommands,
  type CommandOutput,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { nameOfOwner, queryOwners, resolveOwners, showOwners } from "./owners.ts";
import {
  addSettingOptions,
  type OptionValues,
  readSettings,
  settingColumns,
  showSettings,
} from "./settings.ts";
import { STATE_COLUMN, stateOf } from "./state.ts";
import { parseDuration } from "./times.ts";

type KeyOptions = ManagementOptions & OptionValues & { readonly quiet?: true };
type ListOptions = ManagementOptions & { readonly user?: string; readonly group?: string };
type RotateOptions = ManagementOptions & { readonly grace: number; readonly quiet?: true };

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Makes a key and prints it, this once.",
  examples: [
    "key create --org Acme --name ci --hard-cap 50.00",
    "key create --name laptop --rpm 60 --models acme/echo-small --expires 2027-01-01",
    "key create --name laptop --user ann@example.com",
    "key create --name ci --quiet > ci.key",
  ],
  options: (command) =>
    addSettingOptions(command, KEY_SETTINGS, "create").option("-q, --quiet", "print nothing but the key"),
  async runInOrganization({ client, options, organization, path }: OrganizationCommandCall<KeyOptions>) {
    const body = await resolveOwners(client, path, readSettings(KEY_SETTINGS, options));
    const made = await client.call("POST", `${path}/keys`, { body });
    return showSecret(options, made, (screen) => `Made the key.\n\n${describe(screen, made, organization)}`);
  },
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "All keys, with this month's spend.",
  hasTable: true,
  examples: ["key list --org Acme", "key list --user ann@example.com", "key list --group Research"],
  options: (command) =>
    command
      .option("--user <user>", "only those of this user, by id, name or mail address")
      .option("--group <group>", "only those whose own group it is, by id or name"),
  async runInOrganization({ client, organization, path, options }: OrganizationCommandCall<ListOptions>) {
    const query = await queryOwners(client, path, options);
    const all = await client.listPages(`${path}/keys`, undefined, query);
    return { json: all, text: (screen) => formatList(screen, all.data, organization) };
  },
};

const show: OrganizationCommandRow = {
  usage: "show <key>",
  description: "One key, by id or name.",
  examples: ["key show ci --org Acme"],
  async runInOrganization({ client, argument, organization, path }) {
    const found = await findKey(client, path, argument);
    return { json: found, text: (screen) => describe(screen, found, organization) };
  },
};

const set: OrganizationCommandRow = {
  usage: "set <key>",
  description: "Changes what is given; it holds from the next request on.",
  examples: ["key set ci --org Acme --hard-cap 60.00", "key set ci --models none --max-concurrent 4"],
  options: (command) => addSettingOptions(command, KEY_SETTINGS, "change"),
  async runInOrganization(call: OrganizationCommandCall<KeyOptions>) {
    const { client, path, options } = call;
    return change(call, await resolveOwners(client, path, readSettings(KEY_SETTINGS, options)));
  },
};

const rotate: OrganizationCommandRow = {
  usage: "rotate <key>",
  description:
    "Gives a key a new secret and prints it, this once. Id, limits and spend stay; the former secret works on for a day, " +
    "or for as long as --grace says.",
  examples: [
    "key rotate ci --org Acme",
    "key rotate ci --grace 7d --quiet > ci.key",
    "key rotate ci --grace 0 --yes",
  ],
  asksFirst: true,
  options: (command) =>
    command
      .addOption(
        command
          .createOption(
            "--grace <time>",
            "how long the former secret still works: 24h, 7d; 0 ends it at once",
          )
          .argParser(parseDuration)
          .default(ROTATION_GRACE_SECONDS, "24h"),
      )
      .option("-q, --quiet", "print nothing but the key"),
  async runInOrganization(call: OrganizationCommandCall<RotateOptions>) {
    const { client, options, argument, organization, path } = call;
    const found = await findKey(client, path, argument);
    if (options.grace === 0) {
      await confirm(`This ends the secret of ${nameOf(found)} at once: whoever uses it is refused.`, options);
    }
    const body = { grace_seconds: options.grace };
    const rotated = await client.call("POST", `${path}/keys/${String(found["id"])}/rotate`, { body });
    return showSecret(
      options,
      rotated,
      (screen) => `Rotated the key.\n\n${describe(screen, rotated, organization)}`,
    );
  },
};

const disable: OrganizationCommandRow = {
  usage: "disable <key>",
  description: "Refuses the key until it is enabled again.",
  examples: ["key disable ci --org Acme"],
  asksFirst: true,
  async runInOrganization(call) {
    const found = await findKey(call.client, call.path, call.argument);
    await confirm(
      `This disables ${nameOf(found)}: its requests are refused until it is enabled.`,
      call.options,
    );
    return change(call, { disabled: true });
  },
};

const enable: OrganizationCommandRow = {
  usage: "enable <key>",
  description: "Lets a disabled key work again.",
  examples: ["key enable ci --org Acme"],
  runInOrganization: (call) => change(call, { disabled: false }),
};

const remove: OrganizationCommandRow = {
  usage: "delete <key>",
  description: "Deletes a key for good; what it has spent stays in the usage.",
  examples: ["key delete ci --org Acme"],
  asksFirst: true,
  async runInOrganization({ client, options, argument, path }) {
    const found = await findKey(client, path, argument);
    await confirm(`This deletes ${nameOf(found)} for good: whoever uses it is refused.`, options);
    await client.call("DELETE", `${path}/keys/${String(found["id"])}`);
    const json = { id: found["id"], deleted: true };
    return { json, text: () => `Deleted ${String(found["name"])}.\n` };
  },
};

const revokeAll: OrganizationCommandRow = {
  usage: "revoke-all",
  description: "Deletes every key of the organization, after a leak.",
  examples: ["key revoke-all --org Acme --yes"],
  asksFirst: true,
  async runInOrganization({ client, options, organization, path }) {
    await confirm(`This deletes every key of "${String(organization["name"])}" for good.`, options);
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

async function change(call: OrganizationCommandCall, body: object): Promise<CommandOutput> {
  const changed = await call.client.call("PATCH", await pathOf(call), { body });
  return { json: changed, text: (screen) => describe(screen, changed, call.organization) };
}

/** In a question, with what people recognise it by. */
function nameOf(found: JsonObject): string {
  return `the key "${String(found["name"])}" (${String(found["display"])})`;
}

async function pathOf(call: {
  readonly client: AdminClient;
  readonly path: string;
  readonly argument: string;
}): Promise<string> {
  const { client, path, argument } = call;
  return `${path}/keys/${String((await findKey(client, path, argument))["id"])}`;
}

function showSecret(
  { quiet }: { quiet?: true },
  made: JsonObject,
  text: (screen: Screen) => string,
): CommandOutput {
  const secret = String(made["key"]);
  if (quiet) return `${secret}\n`;
  return {
    json: made,
    text: (screen) =>
      `${text(screen)}\nThe key. It is shown this once, and only its hash is kept:\n\n  ${secret}\n`,
  };
}

function formatList(screen: Screen, all: readonly JsonObject[], organization: JsonObject): string {
  const columns: readonly RecordColumn<JsonObject>[] = [
    { header: "ID", cell: ({ id }) => id },
    { header: "NAME", cell: ({ name }) => name },
    { header: "KEY", cell: ({ display }) => display, isExtra: true },
    ...settingColumns(KEY_SETTINGS, () => String(organization["currency"])),
    STATE_COLUMN,
    ...ownerColumns(all),
  ];
  return formatRecords(screen, columns, all);
}

/** Columns of the user and the group, where a key has one. */
function ownerColumns(all: readonly JsonObject[]): readonly RecordColumn<JsonObject>[] {
  return (["user", "group"] as const)
    .filter((name) => all.some((one) => nameOfOwner(one[name]) !== null))
    .map((name) => ({ header: name.toUpperCase(), cell: (one) => nameOfOwner(one[name]) ?? "-" }));
}

function describe(screen: Screen, one: JsonObject, organization: JsonObject): string {
  const currency = String(organization["currency"]);
  const state = stateOf(one);
  return formatFields(screen, [
    ["id", String(one["id"])],
    ["organization", `${String(organization["name"])} (${String(organization["id"])})`],
    ["name", String(one["name"])],
    ["key", String(one["display"])],
    ["state", state.words, state.level],
    ...showOwners(one),
    ...showSettings(KEY_SETTINGS, one, currency, [
      ["requests left now", formatBucket(one["bucket"] as JsonObject)],
      ...(one["token_buckets"] as JsonObject[]).map(
        (bucket) =>
          [
            `${nameTokenType(String(bucket["type"]))} left now`,
            `${String(bucket["remaining"])} of ${String(bucket["limit"])}`,
          ] as const,
      ),
      [`spent in ${String(one["month"])}`, formatAmount(one["spent_cents"], currency)],
    ]),
    ["created", String(one["created_at"])],
    ...(one["former_key_until"] === null
      ? []
      : [["former key works until", formatValue(one["former_key_until"])] as const]),
  ]);
}

/** "57 of 60" */
function formatBucket(bucket: JsonObject): string {
  return `${String(bucket["remaining"])} of ${String(bucket["capacity"])}`;
}
