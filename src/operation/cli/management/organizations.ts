import { formatRounded } from "../../../shared/money/money.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { formatRecords, formatValue, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import {
  type CommandCall,
  type CommandGroup,
  confirm,
  type GlobalCommandRow,
  type ManagementOptions,
  type TextOptions,
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

type SpendOptions = ManagementOptions & TextOptions<"month" | "sort"> & { readonly csv?: true };

const spend: GlobalCommandRow = {
  usage: "spend",
  description: "Show a month's spend of every organization. For the operator.",
  hasTable: true,
  examples: ["org spend --month 2026-11", "org spend --sort=-errors", "org spend --csv > spend.csv"],
  options: (command) =>
    command
      .option("--month <month>", "month such as 2026-11; default: this month (UTC)")
      .option("--sort <order>", "name, -spent (default), -forecast, -requests or -errors")
      .option("--csv", "CSV on stdout"),
  async run({ client, options }: CommandCall<SpendOptions>) {
    const { month, sort, csv } = options;
    if (csv) return client.text("GET", "/api/spend", { query: { month, sort, format: "csv" } });
    const found = await client.call("GET", "/api/spend", { query: { month, sort } });
    const data = found["data"] as readonly JsonObject[];
    return { json: found, text: (screen) => formatRecords(screen, SPEND_COLUMNS, data) };
  },
};

const moneyOf = (amount: unknown, currency: unknown): string =>
  amount === null ? "" : `${formatRounded(BigInt(amount as number))} ${String(currency)}`;

const SPEND_COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ organization_id: id }) => id, isExtra: true },
  { header: "ORGANIZATION", cell: ({ organization_name: name }) => name },
  { header: "SPENT", cell: (row) => moneyOf(row["spent_microcents"], row["currency"]) },
  { header: "FORECAST", cell: (row) => moneyOf(row["forecast_microcents"], row["currency"]) },
  { header: "REQUESTS", cell: ({ requests }) => requests ?? "" },
  {
    header: "ERRORS",
    cell: ({ recent_errors: errors, recent_requests: recent }) =>
      errors === null ? "" : `${formatValue(errors)} of ${formatValue(recent)}`,
  },
];

const remove: GlobalCommandRow = {
  usage: "delete <organization>",
  description: "Permanently delete an organization with its API keys and tokens. For the operator.",
  examples: ["org delete Acme", "org delete org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --yes"],
  needsConfirmation: true,
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
  rows: [create, list, spend, show, set, ...switches, remove],
};

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(ORGANIZATION_SETTINGS, ({ currency }) => String(currency)),
  STATE_COLUMN,
];
