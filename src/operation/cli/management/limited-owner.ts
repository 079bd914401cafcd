/** Whose limit or raise a command is about: `--key`, `--user`, `--group`, or none of them for the organization. */
import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import type { ManagementOptions, OrganizationCommandCall, TextOptions } from "./management-command.ts";
import { FINDERS, KINDS } from "./owners.ts";

export type LimitedOwnerOptions = ManagementOptions & TextOptions<"key" | "user" | "group">;

export interface LimitedOwner {
  /** Of the owner in the API. */
  readonly path: string;
  /** As the API shows it. */
  readonly record: JsonObject;
  /** "the key "ci"", in a sentence. */
  readonly name: string;
}

/** @param what "owner of the cap" */
export function addLimitedOwnerOptions(command: Command, what: string): Command {
  return command
    .option("--key <key>", `${what}: an API key, by id or name; default: the organization`)
    .option("--user <user>", `${what}: a user, by id, name or email address`)
    .option("--group <group>", `${what}: a group, by id or name`);
}

/** @throws CommandError where two are named, or one that is not there. */
export async function findLimitedOwner({
  client,
  options,
  organization,
  path,
}: OrganizationCommandCall<LimitedOwnerOptions>): Promise<LimitedOwner> {
  const named = KINDS.filter((kind) => options[kind] !== undefined);
  if (named.length > 1) {
    throw new CommandError("Pass at most one of --key, --user and --group; none for the organization.");
  }
  const [kind] = named;
  if (kind === undefined) {
    return { path, record: organization, name: `the organization "${String(organization["name"])}"` };
  }
  const record = await FINDERS[kind](client, path, options[kind] ?? "");
  const { id, name } = record;
  return { path: `${path}/${kind}s/${String(id)}`, record, name: `the ${kind} "${String(name)}"` };
}
