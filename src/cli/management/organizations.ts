import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount, parseAmount } from "./amounts.ts";
import {
  addManagementCommand,
  findOrganization,
  type ManagementOptions,
  organizationPath,
  print,
  withClient,
} from "./management-command.ts";
import { collect, convertNone, type OrNone, parseWholeOrNone } from "./options.ts";
import { formatFields, formatTable, formatValue } from "./table.ts";

interface OrganizationOptions extends ManagementOptions {
  readonly name?: string;
  readonly currency?: string;
  readonly hardCap?: OrNone<number>;
  readonly budget?: OrNone<number>;
  readonly strictCaps?: boolean;
  readonly email?: OrNone<readonly string[]>;
  readonly webhook?: string;
  readonly dashboardAlerts?: boolean;
  readonly keyRpm?: OrNone<number>;
  readonly keyHardCap?: OrNone<number>;
  readonly keyBudget?: OrNone<number>;
  readonly quiet?: true;
}

/** `org …` */
export function addOrganizationCommands(program: Command): void {
  const group = program.command("org").description("Organizations: caps, budgets, defaults of their keys.");
  addCreate(group);
  addReaders(group);
  addSet(group);
  addSuspension(group, "suspend", true, "Refuses every key of the organization from the next request on.");
  addSuspension(group, "resume", false, "Lets the keys of a suspended organization work again.");
}

function addCreate(group: Command): void {
  const create = addManagementCommand(group, {
    usage: "create",
    description: "Makes an organization. For the operator.",
    examples: [
      "org create --name Acme --currency USD",
      "org create --name Acme --currency EUR --hard-cap 1000.00 --budget 800 --key-rpm 60",
    ],
  });
  create
    .requiredOption("--name <name>", "1 to 100 characters")
    .requiredOption("--currency <code>", "billing currency, ISO 4217: USD")
    .option("-q, --quiet", "print nothing but the new id");
  addSettings(create).action((options: OrganizationOptions) =>
    withClient(options, async (client) => {
      const made = await client.call("POST", "/api/organizations", { body: formatBody(options) });
      if (options.quiet) process.stdout.write(`${String(made["id"])}\n`);
      else print(options, made, () => `Made the organization.\n\n${describe(made)}${describeSecret(made)}`);
    }),
  );
}

function addReaders(group: Command): void {
  addManagementCommand(group, {
    usage: "list",
    description: "All organizations that the token sees, with this month's spend.",
    examples: ["org list", "org list --search acme", "org list --json"],
  })
    .option("--search <text>", "only those whose name contains it, or whose id it is")
    .action((options: ManagementOptions & { search?: string }) =>
      withClient(options, async (client) => {
        const all = await client.list("/api/organizations", undefined, options.search);
        print(options, all, () => formatList(all));
      }),
    );
  addManagementCommand(group, {
    usage: "show <organization>",
    description: "One organization, by id or name.",
    examples: ["org show Acme"],
  }).action((wanted: string, options: ManagementOptions) =>
    withClient(options, async (client) => {
      const found = await findOrganization(client, wanted);
      print(options, found, () => describe(found));
    }),
  );
}

function addSet(group: Command): void {
  const set = addManagementCommand(group, {
    usage: "set <organization>",
    description: "Changes what is given; it holds from the next request on.",
    examples: [
      "org set Acme --hard-cap 2000.00",
      "org set Acme --budget none --strict-caps",
      "org set Acme --email ops@example.com,cto@example.com --webhook https://example.com/alerts",
    ],
  })
    .option("--name <name>", "another name")
    .option("--currency <code>", "another currency, as long as nothing was spent; for the operator");
  addSettings(set).action((wanted: string, options: OrganizationOptions) =>
    withClient(options, async (client) => {
      const path = organizationPath(await findOrganization(client, wanted));
      const changed = await client.call("PATCH", path, { body: formatBody(options) });
      print(options, changed, () => describe(changed) + describeSecret(changed));
    }),
  );
}

function addSuspension(group: Command, name: string, suspended: boolean, description: string): void {
  addManagementCommand(group, {
    usage: `${name} <organization>`,
    description: `${description} For the operator.`,
    examples: [`org ${name} Acme`],
  }).action((wanted: string, options: ManagementOptions) =>
    withClient(options, async (client) => {
      const path = organizationPath(await findOrganization(client, wanted));
      const changed = await client.call("PATCH", path, { body: { suspended } });
      print(options, changed, () => describe(changed));
    }),
  );
}

function addSettings(command: Command): Command {
  return command
    .option("--hard-cap <amount>", "monthly hard cap over all keys: 1000.00, or none", parseAmount)
    .option("--budget <amount>", "monthly budget over all keys: 800, or none", parseAmount)
    .option("--strict-caps", "count requests in flight at their worst case")
    .option("--no-strict-caps", "count what they have used so far")
    .option("--email <addresses>", "who gets alerts by mail, with commas between, or none", collect)
    .option("--webhook <url>", "where alerts are posted, or none")
    .option("--dashboard-alerts", "show alerts on the dashboard")
    .option("--no-dashboard-alerts", "do not")
    .option("--key-rpm <n>", "requests per minute of new keys, or none for 600", parseWholeOrNone)
    .option("--key-hard-cap <amount>", "monthly hard cap of new keys, or none", parseAmount)
    .option("--key-budget <amount>", "monthly budget of new keys, or none", parseAmount);
}

function formatBody(options: OrganizationOptions): object {
  const webhook = convertNone<string>(options.webhook);
  const emails = convertNone(options.email);
  const notifications = {
    dashboard: options.dashboardAlerts,
    emails: emails === null ? [] : emails,
    webhook: typeof webhook === "string" ? { url: webhook } : webhook,
  };
  const keyDefaults = {
    requests_per_minute: convertNone(options.keyRpm),
    hard_cap_cents: convertNone(options.keyHardCap),
    budget_cents: convertNone(options.keyBudget),
  };
  const isGiven = (fields: object): boolean => Object.values(fields).some((value) => value !== undefined);
  return {
    name: options.name,
    currency: options.currency,
    hard_cap_cents: convertNone(options.hardCap),
    budget_cents: convertNone(options.budget),
    strict_caps: options.strictCaps,
    ...(isGiven(notifications) ? { notifications } : {}),
    ...(isGiven(keyDefaults) ? { key_defaults: keyDefaults } : {}),
  };
}

function formatList(all: readonly JsonObject[]): string {
  return formatTable(
    ["ID", "NAME", "SPENT", "HARD CAP", "BUDGET", "STATE"],
    all.map((one) => {
      const currency = String(one["currency"]);
      return [
        String(one["id"]),
        String(one["name"]),
        formatAmount(one["spent_cents"], currency),
        formatAmount(one["hard_cap_cents"], currency),
        formatAmount(one["budget_cents"], currency),
        one["suspended"] === true ? "suspended" : "active",
      ];
    }),
  );
}

function describe(one: JsonObject): string {
  const currency = String(one["currency"]);
  const notifications = one["notifications"] as JsonObject;
  const defaults = one["key_defaults"] as JsonObject;
  const webhook = notifications["webhook"] as JsonObject | null;
  const emails = notifications["emails"] as readonly string[];
  return formatFields([
    ["id", String(one["id"])],
    ["name", String(one["name"])],
    ["state", one["suspended"] === true ? "suspended" : "active"],
    ["currency", currency],
    [`spent in ${String(one["month"])}`, formatAmount(one["spent_cents"], currency)],
    ["hard cap", formatAmount(one["hard_cap_cents"], currency)],
    ["budget", formatAmount(one["budget_cents"], currency)],
    ["strict caps", one["strict_caps"] === true ? "yes" : "no"],
    ["alerts: dashboard", notifications["dashboard"] === true ? "yes" : "no"],
    ["alerts: email", emails.length === 0 ? "none" : emails.join(", ")],
    ["alerts: webhook", webhook === null ? "none" : String(webhook["url"])],
    ["new keys: rpm", formatValue(defaults["requests_per_minute"], "600")],
    ["new keys: hard cap", formatAmount(defaults["hard_cap_cents"], currency)],
    ["new keys: budget", formatAmount(defaults["budget_cents"], currency)],
    ["created", String(one["created_at"])],
  ]);
}

function describeSecret(one: JsonObject): string {
  const webhook = (one["notifications"] as JsonObject)["webhook"] as JsonObject | null;
  if (typeof webhook?.["secret"] !== "string") return "";
  return `\nThe webhook's secret, to check its signatures with. It is shown this once:\n\n  ${webhook["secret"]}\n`;
}
