/** Keys, users and groups in command options and output. */
import type { Command } from "commander";
import { OWNER_KINDS } from "../../../shared/stored/owner-kinds.ts";
import type { Field } from "../terminal/table.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { findGroup, findKey, findUser, isWholeId } from "./find.ts";
import type { ManagementOptions, OrganizationCommandCall, TextOptions } from "./management-command.ts";
import { CommandError } from "./command-error.ts";

const FINDERS = { key: findKey, user: findUser, group: findGroup } as const;
type Kind = keyof typeof FINDERS;
const KINDS = ["key", "user", "group"] as const;
const fieldOf = (kind: Kind) => `${kind}_id` as const;

/** Replaces names of users and groups by ids in a body. @throws CommandError */
export async function resolveOwners(
  client: AdminClient,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const resolved = { ...body };
  for (const kind of OWNER_KINDS) {
    const wanted = body[fieldOf(kind)];
    if (typeof wanted !== "string") continue;
    resolved[fieldOf(kind)] = (await FINDERS[kind](client, path, wanted))["id"];
  }
  return resolved;
}

/**
 * Builds the query that filters a list by the named owners.
 * @param isPassedOn Returns whether a name is passed on unchanged.
 * @throws CommandError
 */
export async function queryOwners(
  client: AdminClient,
  path: string,
  named: TextOptions<Kind>,
  isPassedOn: (kind: Kind, wanted: string) => boolean = () => false,
): Promise<Readonly<Record<string, string>>> {
  const query: Record<string, string> = {};
  for (const kind of KINDS) {
    const wanted = named[kind];
    if (wanted === undefined) continue;
    query[fieldOf(kind)] = isPassedOn(kind, wanted)
      ? wanted
      : String((await FINDERS[kind](client, path, wanted))["id"]);
  }
  return query;
}

/**
 * Same for usage and requests: a full id of a user or a group is passed on unchanged, since deleted ones are
 * in no list but have figures.
 */
export function queryFormerOwners(client: AdminClient, path: string, named: TextOptions<Kind>) {
  return queryOwners(client, path, named, (kind, wanted) => kind !== "key" && isWholeId(kind, wanted));
}

/** Returns the name in the field `user` or `group` of a key or user; null for none. */
export function nameOfOwner(owner: unknown): string | null {
  return owner === null || owner === undefined ? null : String((owner as JsonObject)["name"]);
}

/** Formats a line for each owner. */
export function showOwners(one: JsonObject): readonly Field[] {
  return OWNER_KINDS.flatMap((label) => {
    const owner = one[label] as JsonObject | null | undefined;
    return owner === null || owner === undefined
      ? []
      : [[label, `${String(owner["name"])} (${String(owner["id"])})`] as const];
  });
}

type DeleteOptions = ManagementOptions & { readonly withKeys?: true };

/** `--with-keys` of the commands that delete a user or a group. */
export const KEYS_OF_DELETED = {
  options: (command: Command) => command.option("--with-keys", "also delete its API keys"),
  query: ({ withKeys }: DeleteOptions): Readonly<Record<string, string>> =>
    withKeys === true ? { keys: "delete" } : {},
};

/** Formats "its 3 keys stay without it" for a question. */
export function describeKeysOf(found: JsonObject, { withKeys }: DeleteOptions): string {
  const count = Number(found["key_count"]);
  if (count === 0) return "it has no keys";
  const keys = count === 1 ? "its key" : `its ${count} keys`;
  if (withKeys === true) {
    return `and ${keys}: requests with ${count === 1 ? "it" : "them"} return 401 at once`;
  }
  return `${keys} ${count === 1 ? "stays" : "stay"} without it`;
}

export type LimitedOwnerOptions = ManagementOptions & TextOptions<"key" | "user" | "group">;

interface LimitedOwner {
  /** API path of the owner. */
  readonly path: string;
  /** Record as in the API's response. */
  readonly record: JsonObject;
  /** 'the key "ci"', for a sentence. */
  readonly name: string;
}

/** @param purpose "owner of the cap" */
export function addLimitedOwnerOptions(command: Command, purpose: string): Command {
  return command
    .option("--key <key>", `${purpose}: an API key, by id or name; default: the organization`)
    .option("--user <user>", `${purpose}: a user, by id, name or email address`)
    .option("--group <group>", `${purpose}: a group, by id or name`);
}

/** @throws CommandError if two are named, or one that does not exist. */
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
