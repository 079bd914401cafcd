/** Shared parts of all management commands: connection, `--json`, `--wide`, `--yes`, examples. */
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
import { prompt, isInteractive } from "../terminal/ask.ts";
import { CommandError, UsageError } from "./command-error.ts";

export type ManagementOptions = {
  readonly json?: true;
  readonly wide?: true;
  readonly yes?: true;
  readonly org?: string;
};

/** Text options by commander's names. */
export type TextOptions<Name extends string> = { readonly [One in Name]?: string };

/** Command as a row of its group's table, without the options that all commands have. */
export interface CommandRow {
  /** "create", "show <key>" */
  readonly usage: string;
  readonly description: string;
  readonly examples: readonly string[];
  /** Alternative name: "revoke". */
  readonly alias?: string;
  /** True if it prints a table, which `--wide` does not cut. */
  readonly hasTable?: true;
  /** True if it deletes or stops something, and asks first: `confirm`. */
  readonly needsConfirmation?: true;
  /** Adds further options. */
  readonly options?: (command: Command) => Command;
}

export interface CommandCall<Options extends ManagementOptions = ManagementOptions> {
  readonly client: AdminClient;
  /** Connection of the client. */
  readonly connection: Connection;
  readonly options: Options;
  /** "ci" in `key show ci`; '' without an argument. */
  readonly argument: string;
}

/** Same with the organization of `--org`. */
export interface OrganizationCommandCall<
  Options extends ManagementOptions = ManagementOptions,
> extends CommandCall<Options> {
  readonly organization: JsonObject;
  /** API path of the organization. */
  readonly path: string;
}

/** Output of a command: the API's response with `--json`, otherwise the text. A plain text is printed in both cases. */
export type CommandOutput = string | { readonly json: unknown; readonly text: (screen: Screen) => string };

export type GlobalCommandRow = CommandRow & { run(call: CommandCall): Promise<CommandOutput> };
export type OrganizationCommandRow = CommandRow & {
  runInOrganization(call: OrganizationCommandCall): Promise<CommandOutput>;
};

export type AnyCommandRow = GlobalCommandRow | OrganizationCommandRow;

/** First word of its commands: `key …`. */
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
  if (row.needsConfirmation === true) {
    command.option("--yes", "skip the confirmation; required without a terminal");
  }
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

/** Adds `--org`, for commands within an organization. */
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

/** A plain text is data, such as CSV or a key, and is printed unchanged into a pipe. */
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
  /** Currency of the organization. */
  readonly currency: string;
  /** Base URL of the management API and the dashboard, without a final slash. */
  readonly url: string;
}

interface ListRow extends CommandRow {
  /** Returns further query parameters from the command's options. */
  readonly query?: (call: OrganizationCommandCall) => Promise<ListQuery>;
  /** Path below the organization: "alerts". */
  readonly path: string;
  /** Formats for people. */
  readonly format: (screen: Screen, all: readonly JsonObject[], about: ListedIn) => string;
}

/** Creates a command that shows the newest items of an organization's list, up to `--limit`. */
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
 * Asks for confirmation at a terminal; elsewhere requires `--yes`.
 * @param effect Sentence that describes the effect.
 * @throws CommandError if the answer is no, UsageError without a terminal.
 */
export async function confirm(effect: string, { yes }: { readonly yes?: true }): Promise<void> {
  if (yes === true) return;
  if (!isInteractive()) {
    throw new UsageError(`${effect} Pass --yes to confirm.`);
  }
  const answer = await prompt(`${effect}\nContinue? [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("Nothing was changed.");
}
