import { OWNER_KINDS } from "../../../shared/stored/owner-kinds.ts";
import { KEY_SETTINGS, ROTATION_GRACE_SECONDS } from "../../../shared/settings/key.ts";
import type { Screen } from "../terminal/screen.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import {
  type CommandGroup,
  confirm,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { findKey } from "./find.ts";
import {
  addQuietOption,
  deleteCommand,
  nameInQuestion,
  ownerCommands,
  type OwnerKind,
  pathOf,
  showMade,
} from "./owner-commands.ts";
import { nameOfOwner, queryOwners } from "./owners.ts";
import { settingColumns } from "./settings.ts";
import { STATE_COLUMN } from "./describe-owner.ts";
import { parseDuration } from "./option-values.ts";

type ListOptions = ManagementOptions & { readonly user?: string; readonly group?: string };
type RotateOptions = ManagementOptions & { readonly grace: number; readonly quiet?: true };

const KEY: OwnerKind = {
  name: "key",
  settings: KEY_SETTINGS,
  find: findKey,
  quiet: "key",
  describeSecret({ key }) {
    if (typeof key !== "string") return "";
    return `\nThe API key, which is shown only once (the gateway stores its hash):\n\n  ${key}\n`;
  },
  create: {
    description: "Create an API key and print it, only once.",
    examples: [
      "key create --org Acme --name ci --hard-cap 50.00",
      "key create --name laptop --rpm 60 --models acme/echo-small --expires 2027-01-01",
      "key create --name laptop --user ann@example.com",
      "key create --name ci --quiet > ci.key",
    ],
  },
  show: { description: "Show one API key, by id or name.", examples: ["key show ci --org Acme"] },
  set: {
    examples: ["key set ci --org Acme --hard-cap 60.00", "key set ci --models none --max-concurrent 4"],
  },
  switches: [
    {
      verb: "disable",
      description: "Reject an API key until it is enabled again.",
      examples: ["key disable ci --org Acme"],
      consequence: "requests with it return 403 until it is enabled",
      body: { disabled: true },
    },
    {
      verb: "enable",
      description: "Accept a disabled API key again.",
      examples: ["key enable ci --org Acme"],
      body: { disabled: false },
    },
  ],
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "List API keys with this month's spend.",
  hasTable: true,
  examples: ["key list --org Acme", "key list --user ann@example.com", "key list --group Research"],
  options: (command) =>
    command
      .option("--user <user>", "only API keys of this user, by id, name or email address")
      .option("--group <group>", "only API keys that name this group themselves, by id or name"),
  async runInOrganization({ client, organization, path, options }: OrganizationCommandCall<ListOptions>) {
    const query = await queryOwners(client, path, options);
    const all = await client.listPages(`${path}/keys`, undefined, query);
    return { json: all, text: (screen) => formatList(screen, all.data, organization) };
  },
};

const rotate: OrganizationCommandRow = {
  usage: "rotate <key>",
  description:
    "Give an API key a new secret and print it, only once. The previous secret works for another day or --grace.",
  examples: [
    "key rotate ci --org Acme",
    "key rotate ci --grace 7d --quiet > ci.key",
    "key rotate ci --grace 0 --yes",
  ],
  needsConfirmation: true,
  options: (command) => {
    const help = "how long the previous secret works: 24h, 7d; 0 ends it at once";
    const grace = command.createOption("--grace <time>", help).argParser(parseDuration);
    return addQuietOption(command.addOption(grace.default(ROTATION_GRACE_SECONDS, "24h")), KEY);
  },
  async runInOrganization(call: OrganizationCommandCall<RotateOptions>) {
    const { client, options, argument, path } = call;
    const found = await findKey(client, path, argument);
    if (options.grace === 0) {
      const subject = `the secret of ${nameInQuestion(KEY, found)} at once`;
      await confirm(`This ends ${subject}: requests with it return 401.`, options);
    }
    const body = { grace_seconds: options.grace };
    const rotated = await client.call("POST", `${pathOf(KEY, path, found)}/rotate`, { body });
    return showMade(KEY, call, rotated, "Rotated the key.");
  },
};

const remove = deleteCommand(KEY, {
  description: "Permanently delete an API key.",
  examples: ["key delete ci --org Acme"],
  consequence: () => ": requests with it return 401 at once",
});

const revokeAll: OrganizationCommandRow = {
  usage: "revoke-all",
  description: "Permanently delete every API key of the organization.",
  examples: ["key revoke-all --org Acme --yes"],
  needsConfirmation: true,
  async runInOrganization({ client, options, organization, path }) {
    await confirm(
      `This permanently deletes every API key of "${String(organization["name"])}": requests with them return 401 at once.`,
      options,
    );
    const revoked = await client.call("POST", `${path}/keys/revoke-all`);
    return {
      json: revoked,
      text: () => `Deleted ${String(revoked["revoked"])} API ${revoked["revoked"] === 1 ? "key" : "keys"}.\n`,
    };
  },
};

const { create, show, set, switches } = ownerCommands(KEY);

export const KEY_COMMANDS: CommandGroup = {
  name: "key",
  description: "Manage API keys: limits, rotation, revocation.",
  rows: [create, list, show, set, rotate, ...switches, remove, revokeAll],
};

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

/** Returns columns of user and group if any key has one. */
function ownerColumns(all: readonly JsonObject[]): readonly RecordColumn<JsonObject>[] {
  return OWNER_KINDS.filter((name) => all.some((one) => nameOfOwner(one[name]) !== null)).map((name) => ({
    header: name.toUpperCase(),
    cell: (one) => nameOfOwner(one[name]) ?? "-",
  }));
}
