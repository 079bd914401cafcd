import type { Command } from "commander";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { formatAmount, parseAmount } from "./amounts.ts";
import { CommandError } from "./command-error.ts";
import {
  addManagementCommand,
  findKey,
  type ManagementOptions,
  print,
  withOrganization,
} from "./management-command.ts";
import { collect, convertNone, type OrNone, parseWhole, parseWholeOrNone } from "./options.ts";
import { formatFields, formatTable, formatValue } from "./table.ts";

interface KeyOptions extends ManagementOptions {
  readonly name?: string;
  readonly rpm?: number;
  readonly hardCap?: OrNone<number>;
  readonly budget?: OrNone<number>;
  readonly models?: OrNone<readonly string[]>;
  readonly maxConcurrent?: OrNone<number>;
  readonly expires?: string;
  readonly disabled?: true;
  readonly quiet?: true;
}

interface RotateOptions extends ManagementOptions {
  readonly grace?: number;
  readonly quiet?: true;
}

/** `key …` */
export function addKeyCommands(program: Command): void {
  const group = program
    .command("key")
    .description("API keys of an organization: limits, rotation, revocation.");
  addCreate(group);
  addReaders(group);
  addSet(group);
  addRotate(group);
  addSwitch(group, "disable", true, "Refuses the key until it is enabled again.");
  addSwitch(group, "enable", false, "Lets a disabled key work again.");
  addDeletion(group);
}

function addCreate(group: Command): void {
  const create = addManagementCommand(group, {
    usage: "create",
    description: "Makes a key and prints it, this once.",
    examples: [
      "key create --org Acme --name ci --hard-cap 50.00",
      "key create --name laptop --rpm 60 --models acme/echo-small --expires 2027-01-01T00:00:00Z",
      "key create --name ci --quiet > ci.key",
    ],
    inOrganization: true,
  })
    .requiredOption("--name <name>", "1 to 100 characters")
    .option("--disabled", "make it disabled")
    .option("-q, --quiet", "print nothing but the key");
  addSettings(create).action((options: KeyOptions) =>
    withOrganization(options, async (client, organization, path) => {
      const made = await client.call("POST", `${path}/keys`, { body: formatBody(options) });
      printSecret(options, made, `Made the key.\n\n${describe(made, organization)}`);
    }),
  );
}

function addReaders(group: Command): void {
  addManagementCommand(group, {
    usage: "list",
    description: "All keys, with this month's spend.",
    examples: ["key list --org Acme"],
    inOrganization: true,
  }).action((options: ManagementOptions) =>
    withOrganization(options, async (client, organization, path) => {
      const all = await client.list(`${path}/keys`);
      print(options, all, () => formatList(all, organization));
    }),
  );
  addManagementCommand(group, {
    usage: "show <key>",
    description: "One key, by id or name.",
    examples: ["key show ci --org Acme"],
    inOrganization: true,
  }).action((wanted: string, options: ManagementOptions) =>
    withOrganization(options, async (client, organization, path) => {
      const found = await findKey(client, path, wanted);
      print(options, found, () => describe(found, organization));
    }),
  );
}

function addSet(group: Command): void {
  const set = addManagementCommand(group, {
    usage: "set <key>",
    description: "Changes what is given; it holds from the next request on.",
    examples: ["key set ci --org Acme --hard-cap 60.00", "key set ci --models none --max-concurrent 4"],
    inOrganization: true,
  }).option("--name <name>", "another name");
  addSettings(set).action((wanted: string, options: KeyOptions) =>
    change(wanted, options, formatBody(options)),
  );
}

function addRotate(group: Command): void {
  addManagementCommand(group, {
    usage: "rotate <key>",
    description: "Gives a key a new secret and prints it, this once. Id, limits and spend stay.",
    examples: ["key rotate ci --org Acme --grace 3600", "key rotate ci --quiet > ci.key"],
    inOrganization: true,
  })
    .option("--grace <seconds>", "how long the former secret still works; 0 when left out", parseWhole)
    .option("-q, --quiet", "print nothing but the key")
    .action((wanted: string, options: RotateOptions) =>
      withOrganization(options, async (client, organization, path) => {
        const target = await pathOf(client, path, wanted);
        const rotated = await client.call("POST", `${target}/rotate`, {
          body: { grace_seconds: options.grace },
        });
        printSecret(options, rotated, `Rotated the key.\n\n${describe(rotated, organization)}`);
      }),
    );
}

function addSwitch(group: Command, name: string, disabled: boolean, description: string): void {
  addManagementCommand(group, {
    usage: `${name} <key>`,
    description,
    examples: [`key ${name} ci --org Acme`],
    inOrganization: true,
  }).action((wanted: string, options: ManagementOptions) => change(wanted, options, { disabled }));
}

function addDeletion(group: Command): void {
  addManagementCommand(group, {
    usage: "delete <key>",
    description: "Deletes a key for good; what it has spent stays in the usage.",
    examples: ["key delete ci --org Acme"],
    inOrganization: true,
  }).action((wanted: string, options: ManagementOptions) =>
    withOrganization(options, async (client, _organization, path) => {
      const found = await findKey(client, path, wanted);
      await client.call("DELETE", `${path}/keys/${String(found["id"])}`);
      print(options, { id: found["id"], deleted: true }, () => `Deleted ${String(found["name"])}.\n`);
    }),
  );
  addManagementCommand(group, {
    usage: "revoke-all",
    description: "Deletes every key of the organization, after a leak.",
    examples: ["key revoke-all --org Acme --yes"],
    inOrganization: true,
  })
    .option("--yes", "really")
    .action((options: ManagementOptions & { yes?: true }) =>
      withOrganization(options, async (client, organization, path) => {
        if (!options.yes) {
          const name = String(organization["name"]);
          throw new CommandError(
            `This deletes every key of "${name}" for good. Give --yes if that is meant.`,
          );
        }
        const revoked = await client.call("POST", `${path}/keys/revoke-all`);
        print(options, revoked, () => `Deleted ${String(revoked["revoked"])} keys.\n`);
      }),
    );
}

function addSettings(command: Command): Command {
  return command
    .option("--rpm <n>", "requests per minute; the organization's default, else 600", parseWhole)
    .option("--hard-cap <amount>", "monthly hard cap: 50.00, or none", parseAmount)
    .option("--budget <amount>", "monthly budget: 40, or none", parseAmount)
    .option("--models <ids>", "catalog ids that it may use, with commas between, or none for all", collect)
    .option("--max-concurrent <n>", "requests in flight at most, or none", parseWholeOrNone)
    .option("--expires <time>", "RFC 3339 time from which it is refused, or none");
}

function formatBody(options: KeyOptions): object {
  return {
    name: options.name,
    requests_per_minute: options.rpm,
    hard_cap_cents: convertNone(options.hardCap),
    budget_cents: convertNone(options.budget),
    allowed_models: convertNone(options.models),
    max_concurrent_requests: convertNone(options.maxConcurrent),
    expires_at: convertNone(options.expires),
    disabled: options.disabled,
  };
}

async function change(wanted: string, options: ManagementOptions, body: object): Promise<void> {
  await withOrganization(options, async (client, organization, path) => {
    const changed = await client.call("PATCH", await pathOf(client, path, wanted), { body });
    print(options, changed, () => describe(changed, organization));
  });
}

async function pathOf(client: AdminClient, path: string, wanted: string): Promise<string> {
  return `${path}/keys/${String((await findKey(client, path, wanted))["id"])}`;
}

function printSecret(options: { json?: true; quiet?: true }, made: JsonObject, text: string): void {
  const secret = String(made["key"]);
  if (options.quiet) process.stdout.write(`${secret}\n`);
  else {
    print(
      options,
      made,
      () => `${text}\nThe key. It is shown this once, and only its hash is kept:\n\n  ${secret}\n`,
    );
  }
}

function formatList(all: readonly JsonObject[], organization: JsonObject): string {
  const currency = String(organization["currency"]);
  return formatTable(
    ["ID", "NAME", "KEY", "RPM", "SPENT", "HARD CAP", "BUDGET", "STATE"],
    all.map((one) => [
      String(one["id"]),
      String(one["name"]),
      String(one["display"]),
      String(one["requests_per_minute"]),
      formatAmount(one["spent_cents"], currency),
      formatAmount(one["hard_cap_cents"], currency),
      formatAmount(one["budget_cents"], currency),
      stateOf(one),
    ]),
  );
}

function describe(one: JsonObject, organization: JsonObject): string {
  const currency = String(organization["currency"]);
  const models = one["allowed_models"] as readonly string[] | null;
  return formatFields([
    ["id", String(one["id"])],
    ["organization", `${String(organization["name"])} (${String(organization["id"])})`],
    ["name", String(one["name"])],
    ["key", String(one["display"])],
    ["state", stateOf(one)],
    ["requests per minute", String(one["requests_per_minute"])],
    ["requests left now", formatBucket(one["bucket"] as JsonObject)],
    [`spent in ${String(one["month"])}`, formatAmount(one["spent_cents"], currency)],
    ["hard cap", formatAmount(one["hard_cap_cents"], currency)],
    ["budget", formatAmount(one["budget_cents"], currency)],
    ["models", models === null ? "all" : models.join(", ")],
    ["concurrent requests", formatValue(one["max_concurrent_requests"], "no limit")],
    ["expires", formatValue(one["expires_at"], "never")],
    ["created", String(one["created_at"])],
    ...(one["former_key_until"] === null
      ? []
      : [["former key works until", formatValue(one["former_key_until"])] as const]),
  ]);
}

function stateOf(one: JsonObject): string {
  if (one["disabled"] === true) return "disabled";
  const expires = one["expires_at"];
  return typeof expires === "string" && Date.parse(expires) <= Date.now() ? "expired" : "active";
}

/** "57 of 60" */
function formatBucket(bucket: JsonObject): string {
  return `${String(bucket["remaining"])} of ${String(bucket["capacity"])}`;
}
