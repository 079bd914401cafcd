import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import {
  type CommandCall,
  type CommandGroup,
  confirm,
  type GlobalCommandRow,
  type ManagementOptions,
} from "./management-command.ts";
import { findOrganization, organizationPath } from "./find.ts";
import { ownerCommands, type OwnerKind } from "./owner-commands.ts";
import { settingColumns } from "./settings.ts";
import { STATE_COLUMN } from "./describe-owner.ts";
import { formatSecret } from "./webhooks.ts";

type ListOptions = ManagementOptions & { readonly search?: string; readonly deleted?: true };

const ORGANIZATION: OwnerKind = {
  name: "organization",
  settings: ORGANIZATION_SETTINGS,
  isGlobal: true,
  find: (client, _path, wanted) => findOrganization(client, wanted),
  describeSecret({ notifications }) {
    const { webhook } = notifications as { readonly webhook: JsonObject | null };
    return typeof webhook?.["secret"] === "string" ? `\n${formatSecret(webhook["secret"])}` : "";
  },
  create: {
    description: "Create an organization. For the operator.",
    examples: [
      "org create --name Acme --currency USD",
      "org create --name Acme --currency EUR --hard-cap 1000.00 --budget 800 --key-rpm 60",
    ],
  },
  show: { description: "Show one organization, by id or name.", examples: ["org show Acme"] },
  set: {
    examples: [
      "org set Acme --hard-cap 2000.00",
      "org set Acme --budget none --strict-caps",
      "org set Acme --email ops@example.com,cto@example.com --webhook https://example.com/alerts",
    ],
  },
  switches: [
    {
      verb: "suspend",
      description: "Reject every API key of an organization. For the operator.",
      examples: ["org suspend Acme"],
      consequence: "requests with its API keys return 403 until it is resumed",
      body: { suspended: true },
    },
    {
      verb: "resume",
      description: "Accept the API keys of a suspended organization again. For the operator.",
      examples: ["org resume Acme"],
      body: { suspended: false },
    },
  ],
};

const list: GlobalCommandRow = {
  usage: "list",
  description: "List the organizations that the token can see, with this month's spend.",
  hasTable: true,
  examples: ["org list", "org list --search acme", "org list --deleted", "org list --json"],
  options: (command) =>
    command
      .option("--search <text>", "part of the name, or the id")
      .option("--deleted", "only deleted organizations whose usage is still stored; for the operator"),
  async run({ client, options }: CommandCall<ListOptions>) {
    const { search, deleted } = options;
    const query = { search, deleted: deleted === true ? "true" : undefined };
    const all = await client.listPages("/api/organizations", undefined, query);
    return { json: all, text: (screen) => formatRecords(screen, COLUMNS, all.data) };
  },
};

const remove: GlobalCommandRow = {
  usage: "delete <organization>",
  description: "Permanently delete an organization with its API keys and tokens. For the operator.",
  examples: ["org delete Acme", "org delete org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --yes"],
  asksFirst: true,
  async run({ client, argument, options }) {
    const found = await findOrganization(client, argument);
    const id = String(found["id"]);
    const name = String(found["name"]);
    await confirm(
      `This permanently deletes the organization "${name}" (${id}): its API keys and tokens stop working at once, and its ` +
        "alerts and webhooks end. Its spend can still be read by its id.",
      options,
    );
    await client.call("DELETE", organizationPath(found));
    return {
      json: { id, name, deleted: true },
      text: () =>
        `Deleted the organization "${name}". \`inference-gateway usage show --org ${id}\` shows its spend.\n`,
    };
  },
};

const { create, show, set, switches } = ownerCommands(ORGANIZATION);

export const ORGANIZATION_COMMANDS: CommandGroup = {
  name: "org",
  description: "Manage organizations: caps, budgets, defaults of their keys.",
  rows: [create, list, show, set, ...switches, remove],
};

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(ORGANIZATION_SETTINGS, ({ currency }) => String(currency)),
  STATE_COLUMN,
];
