/**
 * Shared commands of organizations, keys, users and groups. Each kind is described by a table; commands of
 * only one kind are next to its table.
 */
import type { Command } from "commander";
import type { Settings } from "../../../shared/settings/setting.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import {
  type AnyCommandRow,
  type CommandCall,
  type CommandOutput,
  type CommandRow,
  confirm,
  type ManagementOptions,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { describeOwner, stateOf } from "./describe-owner.ts";
import type { Field } from "../terminal/table.ts";
import { resolveOwners, showOwners } from "./owners.ts";
import { addSettingOptions, type OptionValues, readSettings, showSettings } from "./settings.ts";

type Texts = Pick<CommandRow, "description" | "examples">;

export interface OwnerKind {
  /** "key", for usages and sentences; API paths append an "s". */
  readonly name: string;
  readonly settings: Settings;
  /** Finds a record by what the user typed. @throws CommandError */
  readonly find: (client: AdminClient, path: string, wanted: string) => Promise<JsonObject>;
  /** True for organizations, which are in no organization. */
  readonly isGlobal?: true;
  /** Response field that `--quiet` prints. Default: the new id. */
  readonly quiet?: string;
  /** Formats the secret that a response shows only once; "" without one. */
  readonly describeSecret?: (one: JsonObject) => string;
  readonly create: Texts;
  readonly show: Texts;
  readonly set: Pick<Texts, "examples">;
  /** Commands such as `disable` that set a flag. */
  readonly switches?: readonly Switch[];
}

interface Switch extends Texts {
  readonly verb: string;
  readonly body: object;
  /** Consequence in the confirmation: "requests with it return 403". */
  readonly consequence?: string;
}

/** Call of a command that every kind can have. */
interface OwnerCall extends CommandCall<ManagementOptions & OptionValues & { readonly quiet?: true }> {
  /** Organization of the record; null for organizations. */
  readonly organization: JsonObject | null;
  /** API path that contains the list of the kind. */
  readonly path: string;
}

/** Creates the commands; the caller arranges them for the help. */
export function ownerCommands(kind: OwnerKind) {
  const { name, settings, switches = [] } = kind;
  const create = defineRow(kind, {
    usage: "create",
    ...kind.create,
    options: (command) => addQuietOption(addSettingOptions(command, settings, "create"), kind),
    async run(call) {
      const made = await call.client.call("POST", `${call.path}/${name}s`, {
        body: await readBody(kind, call),
      });
      return showMade(kind, call, made, `Created the ${name}.`);
    },
  });
  const show = defineRow(kind, {
    usage: `show <${name}>`,
    ...kind.show,
    run: async (call) => showOne(kind, call, await findOne(kind, call)),
  });
  const set = defineRow(kind, {
    usage: `set <${name}>`,
    description: "Change the given settings, from the next request.",
    ...kind.set,
    options: (command) => addSettingOptions(command, settings, "change"),
    async run(call) {
      const body = await readBody(kind, call);
      return change(kind, call, await findOne(kind, call), body);
    },
  });
  return { create, show, set, switches: switches.map((one) => defineSwitch(kind, one)) };
}

function defineSwitch(kind: OwnerKind, { verb, body, consequence, ...texts }: Switch): AnyCommandRow {
  return defineRow(kind, {
    usage: `${verb} <${kind.name}>`,
    ...texts,
    ...(consequence === undefined ? {} : { needsConfirmation: true }),
    async run(call) {
      const found = await findOne(kind, call);
      if (consequence !== undefined) {
        await confirm(`This ${verb}s ${nameInQuestion(kind, found)}: ${consequence}.`, call.options);
      }
      return change(kind, call, found, body);
    },
  });
}

interface Deletion extends Omit<CommandRow, "usage"> {
  /** End of the question, with the consequence of the deletion: ": requests with it return 401 at once". */
  readonly consequence: (found: JsonObject, options: ManagementOptions) => string;
  readonly query?: (options: ManagementOptions) => Readonly<Record<string, string>>;
}

/** Creates `delete <key>` for records within an organization. */
export function deleteCommand(
  kind: Pick<OwnerKind, "name" | "find">,
  { consequence, query, ...texts }: Deletion,
): OrganizationCommandRow {
  return {
    usage: `delete <${kind.name}>`,
    ...texts,
    needsConfirmation: true,
    async runInOrganization({ client, options, argument, path }) {
      const found = await kind.find(client, path, argument);
      const subject = nameInQuestion(kind, found);
      await confirm(`This permanently deletes ${subject}${consequence(found, options)}.`, options);
      await client.call("DELETE", pathOf(kind, path, found), { query: query?.(options) ?? {} });
      return { json: { id: found["id"], deleted: true }, text: () => `Deleted ${subject}.\n` };
    },
  };
}

export function addQuietOption(command: Command, { quiet = "new id" }: OwnerKind): Command {
  return command.option("-q, --quiet", `print only the ${quiet}`);
}

/** Shows a new record or secret; with `--quiet` only the part for programs. */
export function showMade(
  kind: OwnerKind,
  call: Pick<OwnerCall, "organization"> & { readonly options: { readonly quiet?: true } },
  made: JsonObject,
  sentence: string,
): CommandOutput {
  if (call.options.quiet) return `${String(made[kind.quiet ?? "id"])}\n`;
  return showOne(kind, call, made, `${sentence}\n\n`);
}

/** Names the record with its visible characters: 'the key "ci" (sk-igw-…a1B2)'. */
export function nameInQuestion(kind: Pick<OwnerKind, "name">, { name, display, email }: JsonObject): string {
  const mark = display ?? email;
  return `the ${kind.name} "${String(name)}"${typeof mark === "string" ? ` (${mark})` : ""}`;
}

/** Returns the record's API path. */
export function pathOf({ name }: Pick<OwnerKind, "name">, path: string, { id }: JsonObject): string {
  return `${path}/${name}s/${String(id)}`;
}

function defineRow(
  { isGlobal }: OwnerKind,
  row: CommandRow & { readonly run: (call: OwnerCall) => Promise<CommandOutput> },
): AnyCommandRow {
  const { run, ...text } = row;
  if (isGlobal !== true) return { ...text, runInOrganization: run };
  return { ...text, run: (call) => run({ ...call, organization: null, path: "/api" }) };
}

function readBody({ settings }: OwnerKind, { client, path, options }: OwnerCall): Promise<object> {
  return resolveOwners(client, path, readSettings(settings, options));
}

function findOne({ find }: OwnerKind, { client, path, argument }: OwnerCall): Promise<JsonObject> {
  return find(client, path, argument);
}

async function change(kind: OwnerKind, call: OwnerCall, found: JsonObject, body: object) {
  const changed = await call.client.call("PATCH", pathOf(kind, call.path, found), { body });
  return showOne(kind, call, changed, `${describeChange(kind, call, found, changed)}\n\n`);
}

/** Formats 'Changed the key "ci" (sk-igw-…a1B2): hard cap 1.00 USD (was 0.01 USD).' */
function describeChange(
  kind: OwnerKind,
  { organization }: Pick<OwnerCall, "organization">,
  before: JsonObject,
  after: JsonObject,
): string {
  const currency = String((organization ?? after)["currency"]);
  const fieldsOf = (one: JsonObject): readonly Field[] => [
    ["name", String(one["name"])],
    ["state", stateOf(one)?.words ?? "active"],
    ...showOwners(one),
    ...showSettings(kind.settings, one, currency, []),
  ];
  const previous = new Map(fieldsOf(before).map(([name, text]) => [name, text]));
  const current = new Map(fieldsOf(after).map(([name, text]) => [name, text]));
  const changes = [...new Set([...current.keys(), ...previous.keys()])].flatMap((name) => {
    const [was, is] = [previous.get(name) ?? "none", current.get(name) ?? "none"];
    return was === is ? [] : [`${name} ${is} (was ${was})`];
  });
  const subject = nameInQuestion(kind, after);
  return changes.length === 0
    ? `Nothing changed: ${subject} already has these settings.`
    : `Changed ${subject}: ${changes.join("; ")}.`;
}

function showOne(
  { settings, describeSecret = () => "" }: OwnerKind,
  { organization }: Pick<OwnerCall, "organization">,
  one: JsonObject,
  heading = "",
): CommandOutput {
  const text: Exclude<CommandOutput, string>["text"] = (screen) =>
    heading + describeOwner(screen, settings, one, organization) + describeSecret(one);
  return { json: one, text };
}
