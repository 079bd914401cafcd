import { ORGANIZATION_SETTINGS } from "../../settings/organization.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { confirm } from "./confirm.ts";
import { findOrganization, organizationPath } from "./find.ts";
import {
  type CommandGroup,
  type CommandCall,
  type GlobalCommandRow,
  type ManagementOptions,
} from "./management-command.ts";
import { ownerCommands, type OwnerKind } from "./owner-commands.ts";
import { settingColumns } from "./settings.ts";
import { STATE_COLUMN } from "./state.ts";
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
    description: "Makes an organization. For the operator.",
    examples: [
      "org create --name Acme --currency USD",
      "org create --name Acme --currency EUR --hard-cap 1000.00 --budget 800 --key-rpm 60",
    ],
  },
  show: { description: "One organization, by id or name.", examples: ["org show Acme"] },
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
      description: "Refuses every key of the organization from the next request on. For the operator.",
      examples: ["org suspend Acme"],
      consequence: "each request of its keys is refused from the next one on",
      body: { suspended: true },
    },
    {
      verb: "resume",
      description: "Lets the keys of a suspended organization work again. For the operator.",
      examples: ["org resume Acme"],
      body: { suspended: false },
    },
  ],
};

const list: GlobalCommandRow = {
  usage: "list",
  description: "All organizations that the token sees, with this month's spend.",
  hasTable: true,
  examples: ["org list", "org list --search acme", "org list --deleted", "org list --json"],
  options: (command) =>
    command
      .option("--search <text>", "only those whose name contains it, or whose id it is")
      .option("--deleted", "only deleted ones whose usage is still kept; for the operator"),
  async run({ client, options }: CommandCall<ListOptions>) {
    const { search, deleted } = options;
    const query = { search, deleted: deleted === true ? "true" : undefined };
    const all = await client.listPages("/api/organizations", undefined, query);
    return { json: all, text: (screen) => formatRecords(screen, COLUMNS, all.data) };
  },
};

const remove: GlobalCommandRow = {
  usage: "delete <organization>",
  description: "Deletes an organization for good, its keys and tokens too. For the operator.",
  examples: ["org delete Acme", "org delete org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --yes"],
  asksFirst: true,
  async run({ client, argument, options }) {
    const found = await findOrganization(client, argument);
    const id = String(found["id"]);
    const name = String(found["name"]);
    await confirm(
      `This deletes the organization "${name}" (${id}) for good: each request of its keys is refused from the next one on, ` +
        "its tokens, alerts and webhooks end, and its name is free again. What it has spent can still be read, by its id.",
      options,
    );
    await client.call("DELETE", organizationPath(found));
    return {
      json: { id, name, deleted: true },
      text: () =>
        `Deleted the organization "${name}". What it has spent: \`inference-gateway usage show --org ${id}\`.\n`,
    };
  },
};

const { create, show, set, switches } = ownerCommands(ORGANIZATION);

export const ORGANIZATION_COMMANDS: CommandGroup = {
  name: "org",
  description: "Organizations: caps, budgets, defaults of their keys.",
  rows: [create, list, show, set, ...switches, remove],
};

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(ORGANIZATION_SETTINGS, ({ currency }) => String(currency)),
  STATE_COLUMN,
];
