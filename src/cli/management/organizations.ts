import type { Command } from "commander";
import { ORGANIZATION_SETTINGS } from "../../settings/organization.ts";
import type { JsonObject } from "./admin-client.ts";
import type { Screen } from "../terminal/screen.ts";
import { formatFields, formatRecords, type RecordColumn } from "../terminal/table.ts";
import { formatAmount } from "./amounts.ts";
import { confirm } from "./confirm.ts";
import { findOrganization, organizationPath } from "./find.ts";
import {
  addCommands,
  type CommandCall,
  type CommandOutput,
  type GlobalCommandRow,
  type ManagementOptions,
} from "./management-command.ts";
import {
  addSettingOptions,
  type OptionValues,
  readSettings,
  settingColumns,
  showSettings,
} from "./settings.ts";
import { STATE_COLUMN, stateOf } from "./state.ts";

type ListOptions = ManagementOptions & { readonly search?: string; readonly deleted?: true };
type OrganizationOptions = ManagementOptions & OptionValues & { readonly quiet?: true };

const create: GlobalCommandRow = {
  usage: "create",
  description: "Makes an organization. For the operator.",
  examples: [
    "org create --name Acme --currency USD",
    "org create --name Acme --currency EUR --hard-cap 1000.00 --budget 800 --key-rpm 60",
  ],
  options: (command) =>
    addSettingOptions(command, ORGANIZATION_SETTINGS, "create").option(
      "-q, --quiet",
      "print nothing but the new id",
    ),
  async run({ client, options }: CommandCall<OrganizationOptions>) {
    const body = readSettings(ORGANIZATION_SETTINGS, options);
    const made = await client.call("POST", "/api/organizations", { body });
    if (options.quiet) return `${String(made["id"])}\n`;
    const text = (screen: Screen) =>
      `Made the organization.\n\n${describe(screen, made)}${describeSecret(made)}`;
    return { json: made, text };
  },
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

const show: GlobalCommandRow = {
  usage: "show <organization>",
  description: "One organization, by id or name.",
  examples: ["org show Acme"],
  async run({ client, argument }) {
    const found = await findOrganization(client, argument);
    return { json: found, text: (screen) => describe(screen, found) };
  },
};

const set: GlobalCommandRow = {
  usage: "set <organization>",
  description: "Changes what is given; it holds from the next request on.",
  examples: [
    "org set Acme --hard-cap 2000.00",
    "org set Acme --budget none --strict-caps",
    "org set Acme --email ops@example.com,cto@example.com --webhook https://example.com/alerts",
  ],
  options: (command) => addSettingOptions(command, ORGANIZATION_SETTINGS, "change"),
  run: (call: CommandCall<OrganizationOptions>) =>
    change(call, readSettings(ORGANIZATION_SETTINGS, call.options)),
};

const suspend: GlobalCommandRow = {
  usage: "suspend <organization>",
  description: "Refuses every key of the organization from the next request on. For the operator.",
  examples: ["org suspend Acme"],
  asksFirst: true,
  async run(call) {
    const { name } = await findOrganization(call.client, call.argument);
    await confirm(
      `This suspends the organization "${String(name)}": each request of its keys is refused from the next one on.`,
      call.options,
    );
    return change(call, { suspended: true });
  },
};

const resume: GlobalCommandRow = {
  usage: "resume <organization>",
  description: "Lets the keys of a suspended organization work again. For the operator.",
  examples: ["org resume Acme"],
  run: (call) => change(call, { suspended: false }),
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

/** `org …` */
export function addOrganizationCommands(program: Command): void {
  const group = program.command("org").description("Organizations: caps, budgets, defaults of their keys.");
  addCommands(group, [create, list, show, set, suspend, resume, remove]);
}

async function change({ client, argument }: CommandCall, body: object): Promise<CommandOutput> {
  const path = organizationPath(await findOrganization(client, argument));
  const changed = await client.call("PATCH", path, { body });
  return { json: changed, text: (screen) => describe(screen, changed) + describeSecret(changed) };
}

const COLUMNS: readonly RecordColumn<JsonObject>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "NAME", cell: ({ name }) => name },
  ...settingColumns(ORGANIZATION_SETTINGS, ({ currency }) => String(currency)),
  STATE_COLUMN,
];

function describe(screen: Screen, one: JsonObject): string {
  const currency = String(one["currency"]);
  const state = stateOf(one);
  const deletedAt = one["deleted_at"];
  return formatFields(screen, [
    ["id", String(one["id"])],
    ["name", String(one["name"])],
    ["state", state.words, state.level],
    ...showSettings(ORGANIZATION_SETTINGS, one, currency, [
      [`spent in ${String(one["month"])}`, formatAmount(one["spent_cents"], currency)],
    ]),
    ["created", String(one["created_at"])],
    ...(typeof deletedAt === "string" ? [["deleted", deletedAt] as const] : []),
  ]);
}

function describeSecret(one: JsonObject): string {
  const webhook = (one["notifications"] as JsonObject)["webhook"] as JsonObject | null;
  if (typeof webhook?.["secret"] !== "string") return "";
  return `\nThe webhook's secret, to check its signatures with. It is shown this once:\n\n  ${webhook["secret"]}\n`;
}
