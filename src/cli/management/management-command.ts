/** What all management commands share: connection, `--json`, examples, and how they find what they are about. */
import type { Command } from "commander";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import { addConnectionOptions, connect, type ConnectionOptions } from "./connection.ts";

export interface ManagementOptions extends ConnectionOptions {
  readonly json?: true;
  readonly org?: string;
}

/** A command, as a row of its group's table. The options that each has are not in it. */
export interface CommandRow {
  /** "create", "show <key>" */
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly string[];
  /** Adds the options of its own. */
  readonly options?: (command: Command) => Command;
}

/** What a command is run with. */
export interface CommandCall<Options extends ManagementOptions = ManagementOptions> {
  readonly client: AdminClient;
  readonly options: Options;
  /** "ci" of `key show ci`; '' for a command without. */
  readonly argument: string;
}

/** The same, in the organization that `--org` names. */
export interface OrganizationCommandCall<
  Options extends ManagementOptions = ManagementOptions,
> extends CommandCall<Options> {
  readonly organization: JsonObject;
  /** Of the organization in the API. */
  readonly path: string;
}

/** What a command prints: the API's answer with `--json`, else the text. A text alone is printed either way. */
export type CommandOutput = string | { readonly json: unknown; readonly text: () => string };

export type GlobalCommandRow = CommandRow & { run(call: CommandCall): Promise<CommandOutput> };
export type OrganizationCommandRow = CommandRow & {
  runInOrganization(call: OrganizationCommandCall): Promise<CommandOutput>;
};

/** Adds the commands of a group. */
export function addCommands(
  parent: Command,
  rows: readonly (GlobalCommandRow | OrganizationCommandRow)[],
): void {
  for (const row of rows) addCommand(parent, row);
}

function addCommand(parent: Command, row: GlobalCommandRow | OrganizationCommandRow): void {
  const command = parent.command(row.usage).description(row.description);
  if ("runInOrganization" in row) addOrganizationOption(command);
  row.options?.(command);
  command.option("--json", "the API's answer as JSON on stdout");
  addConnectionOptions(command);
  const examples = row.examples.map((example) => `  inference-gateway ${example}`);
  command.addHelpText("after", `\nExamples:\n${examples.join("\n")}`);
  command.action(async () => {
    const options: ManagementOptions = command.opts();
    const call = { client: await connect(options), options, argument: command.args[0] ?? "" };
    print(options, await runRow(row, call));
  });
}

/** `--org`: of every command in an organization, and of what looks for one. */
export function addOrganizationOption(command: Command): Command {
  return command.addOption(
    command
      .createOption("--org <id or name>", "organization; may be left out where the token sees only one")
      .env("IGW_ORG"),
  );
}

async function runRow(
  row: GlobalCommandRow | OrganizationCommandRow,
  call: CommandCall,
): Promise<CommandOutput> {
  if (!("runInOrganization" in row)) return row.run(call);
  const organization = await findOrganization(call.client, call.options.org);
  return row.runInOrganization({ ...call, organization, path: organizationPath(organization) });
}

function print({ json }: ManagementOptions, output: CommandOutput): void {
  if (typeof output === "string") process.stdout.write(output);
  else process.stdout.write(json ? `${JSON.stringify(output.json)}\n` : output.text());
}

export function organizationPath(organization: JsonObject): string {
  return `/api/organizations/${String(organization["id"])}`;
}

/** By id, by name, or the only one there is. @throws CommandError */
export async function findOrganization(client: AdminClient, wanted: string | undefined): Promise<JsonObject> {
  if (wanted?.startsWith("org_")) {
    return client.call("GET", `/api/organizations/${encodeURIComponent(wanted)}`);
  }
  const all = await client.list("/api/organizations");
  const [only] = all;
  if (wanted === undefined && all.length === 1 && only !== undefined) return only;
  const found = wanted === undefined ? [] : all.filter((one) => one["name"] === wanted);
  return requireOne(
    found,
    "organization",
    wanted,
    "Give --org with an id or a name: `inference-gateway org list`.",
  );
}

/** By id or by name. @throws CommandError */
export async function findKey(client: AdminClient, path: string, wanted: string): Promise<JsonObject> {
  if (wanted.startsWith("key_")) return client.call("GET", `${path}/keys/${encodeURIComponent(wanted)}`);
  const all = await client.list(`${path}/keys`);
  const found = all.filter((one) => one["name"] === wanted || one["display"] === wanted);
  return requireOne(found, "key", wanted, "`inference-gateway key list` shows all.");
}

function requireOne(
  found: readonly JsonObject[],
  what: string,
  wanted: string | undefined,
  help: string,
): JsonObject {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  if (wanted === undefined) throw new CommandError(`Which ${what}? ${help}`);
  const ids = found.map((one) => String(one["id"])).join(", ");
  throw new CommandError(
    first === undefined
      ? `There is no ${what} "${wanted}". ${help}`
      : `There are ${found.length} of the name "${wanted}": give the id of one: ${ids}.`,
  );
}
