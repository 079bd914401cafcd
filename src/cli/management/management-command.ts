/** What all management commands share: connection, `--json`, examples, and how they find what they are about. */
import type { Command } from "commander";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import { addConnectionOptions, connect, type ConnectionOptions } from "./connection.ts";

export interface ManagementOptions extends ConnectionOptions {
  readonly json?: true;
  readonly org?: string;
}

export interface CommandText {
  /** "create", "show <key>" */
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly string[];
  /** The command is about one organization. */
  readonly inOrganization?: true;
}

/** A command with the options that each of them has. */
export function addManagementCommand(parent: Command, text: CommandText): Command {
  const command = parent.command(text.usage).description(text.description);
  if (text.inOrganization) {
    command.addOption(
      command
        .createOption("--org <id or name>", "organization; may be left out where the token sees only one")
        .env("IGW_ORG"),
    );
  }
  command.option("--json", "the API's answer as JSON on stdout");
  addConnectionOptions(command);
  const examples = text.examples.map((example) => `  inference-gateway ${example}`);
  return command.addHelpText("after", `\nExamples:\n${examples.join("\n")}`);
}

/** Runs with a connection; `organization` is there when the command is about one. */
export async function withClient(
  options: ManagementOptions,
  run: (client: AdminClient) => Promise<void>,
): Promise<void> {
  await run(await connect(options));
}

/** The same, in the organization that `--org` names. */
export async function withOrganization(
  options: ManagementOptions,
  run: (client: AdminClient, organization: JsonObject, path: string) => Promise<void>,
): Promise<void> {
  const client = await connect(options);
  const organization = await findOrganization(client, options.org);
  await run(client, organization, organizationPath(organization));
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

/** The answer as JSON, or as text for people. */
export function print(options: { readonly json?: true }, value: unknown, format: () => string): void {
  process.stdout.write(options.json ? `${JSON.stringify(value)}\n` : format());
}
