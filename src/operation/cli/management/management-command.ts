/** What all management commands share: connection, `--json`, `--wide`, `--yes`, examples. */
import type { Command } from "commander";
import { formatExactJson } from "../../../shared/text/exact-json.ts";
import { cleanScreen, escapeHidden } from "../../../shared/text/plain-text.ts";
import { openScreen, type Screen } from "../terminal/screen.ts";
import type { AdminClient, JsonObject, ListQuery } from "./admin-client.ts";
import {
  addConnectionOptions,
  type Connection,
  createClient,
  findConnection,
  readNamedConnection,
} from "./connection.ts";
import { findOrganization, organizationPath } from "./find.ts";
import { nameOption } from "./settings.ts";
import { parseLimit } from "./option-values.ts";
import { ask, canAsk } from "../terminal/ask.ts";
import { CommandError, UsageError } from "./command-error.ts";

export type ManagementOptions = {
  readonly json?: true;
  readonly wide?: true;
  readonly yes?: true;
  readonly org?: string;
};

/** Options that take a text, by the names that commander gives them. */
export type TextOptions<Name extends string> = { readonly [One in Name]?: string };

/** A command, as a row of its group's table. The options that each has are not in it. */
export interface CommandRow {
  /** "create", "show <key>" */
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly string[];
  /** Another word for it that people type: "revoke". */
  readonly alias?: string;
  /** It shows a table, which `--wide` leaves whole. */
  readonly hasTable?: true;
  /** It destroys or stops something, and asks before it does so: `confirm`. */
  readonly asksFirst?: true;
  /** Adds the options of its own. */
  readonly options?: (command: Command) => Command;
}

export interface CommandCall<Options extends ManagementOptions = ManagementOptions> {
  readonly client: AdminClient;
  /** Of the client. */
  readonly connection: Connection;
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
export type CommandOutput = string | { readonly json: unknown; readonly text: (screen: Screen) => string };

export type GlobalCommandRow = CommandRow & { run(call: CommandCall): Promise<CommandOutput> };
export type OrganizationCommandRow = CommandRow & {
  runInOrganization(call: OrganizationCommandCall): Promise<CommandOutput>;
};

export type AnyCommandRow = GlobalCommandRow | OrganizationCommandRow;

/** Its commands begin with one word: `key …`. */
export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly rows: readonly AnyCommandRow[];
}

export function addCommands(parent: Command, rows: readonly AnyCommandRow[]): void {
  for (const row of rows) addCommand(parent, row);
}

function addCommand(parent: Command, row: AnyCommandRow): void {
  const command = parent.command(row.usage).description(row.description);
  if (row.alias !== undefined) command.alias(row.alias);
  if ("runInOrganization" in row) addOrganizationOption(command);
  row.options?.(command);
  if (row.asksFirst === true) command.option("--yes", "skip the confirmation; required without a terminal");
  if (row.hasTable === true) command.option("--wide", "full ids and texts on a terminal");
  command.option("--json", "API response as JSON on stdout");
  addConnectionOptions(command);
  addExamples(command, row.examples);
  command.action(async () => {
    const options: ManagementOptions = command.opts();
    const connection = await findConnection(readNamedConnection(command));
    const client = createClient(connection);
    const call = { client, connection, options, argument: command.args[0] ?? "" };
    try {
      print(options, await runRow(row, call));
    } catch (thrown) {
      throw nameOption(thrown, command);
    }
  });
}

export function addExamples(command: Command, examples: readonly string[]): void {
  const lines = examples.map((example) => `  inference-gateway ${example}`);
  command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

/** `--org`: of every command in an organization, and of what looks for one. */
export function addOrganizationOption(command: Command): Command {
  return command.addOption(
    command
      .createOption("--org <id or name>", "organization; optional if the token sees only one")
      .env("IGW_ORG"),
  );
}

async function runRow(row: AnyCommandRow, call: CommandCall): Promise<CommandOutput> {
  if (!("runInOrganization" in row)) return row.run(call);
  const organization = await findOrganization(call.client, call.options.org);
  return row.runInOrganization({ ...call, organization, path: organizationPath(organization) });
}

/** A text alone is data, a CSV or a key: a pipe gets it as it is. */
function print({ json, wide }: ManagementOptions, output: CommandOutput): void {
  if (typeof output === "string") process.stdout.write(process.stdout.isTTY ? cleanScreen(output) : output);
  else if (json) process.stdout.write(`${escapeHidden(formatExactJson(output.json))}\n`);
  else {
    const screen = openScreen(process.stdout, { env: process.env, isWide: wide === true });
    process.stdout.write(cleanScreen(output.text(screen)));
  }
}

const DEFAULT_LIMIT = 20;

interface ListOptions extends ManagementOptions {
  readonly limit: number;
  readonly after?: string;
}

export interface ListedIn {
  /** The organization's. */
  readonly currency: string;
  /** Of the management API and the dashboard, without a slash at the end. */
  readonly url: string;
}

interface ListRow extends CommandRow {
  /** What else the list is asked for, from the options of the command's own. */
  readonly query?: (call: OrganizationCommandCall) => Promise<ListQuery>;
  /** Below the organization: "alerts". */
  readonly path: string;
  /** For people. */
  readonly format: (screen: Screen, all: readonly JsonObject[], about: ListedIn) => string;
}

/** A command that shows the newest items of one of an organization's lists, `--limit` of them. */
export function createListCommand({
  path,
  format,
  query,
  options,
  ...text
}: ListRow): OrganizationCommandRow {
  return {
    ...text,
    hasTable: true,
    options: (command) => {
      command.option("--limit <n>", "maximum number of rows", parseLimit, DEFAULT_LIMIT);
      command.option("--after <next>", "start after this `next` of the previous page (from --json)");
      return options?.(command) ?? command;
    },
    async runInOrganization(call: OrganizationCommandCall<ListOptions>) {
      const { limit, after } = call.options;
      const wanted = { ...(await query?.(call)), after };
      const page = await call.client.listPages(`${call.path}/${path}`, limit, wanted);
      const about = { currency: String(call.organization["currency"]), url: call.client.url };
      return { json: page, text: (screen) => format(screen, page.data, about) };
    },
  };
}

/**
 * Asks at a terminal whether that is meant; elsewhere wants `--yes`.
 * @param what A sentence that names what it will do.
 * @throws CommandError when the answer is no, UsageError when nobody can be asked.
 */
export async function confirm(what: string, { yes }: { readonly yes?: true }): Promise<void> {
  if (yes === true) return;
  if (!canAsk()) {
    throw new UsageError(`${what} Pass --yes to confirm.`);
  }
  const answer = await ask(`${what}\nContinue? [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("Nothing was changed.");
}
