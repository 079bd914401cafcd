/** Keys, users and groups as commands name them, and as they show them. */
import type { Command } from "commander";
import { OWNER_KINDS } from "../../../data-path/store/types/owner-kinds.ts";
import type { Field } from "../terminal/table.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { findGroup, findKey, findUser, isWholeId } from "./find.ts";
import type { ManagementOptions, OrganizationCommandCall, TextOptions } from "./management-command.ts";
import { CommandError } from "./command-error.ts";

const FINDERS = { key: findKey, user: findUser, group: findGroup } as const;
type Kind = keyof typeof FINDERS;
const KINDS = ["key", "user", "group"] as const;
const fieldOf = (kind: Kind) => `${kind}_id` as const;

/** The same body with ids where a user or a group was named. @throws CommandError */
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
 * The query narrows a list down to what is named.
 * @param isGone It says whether what is named goes on as it is.
 * @throws CommandError
 */
export async function queryOwners(
  client: AdminClient,
  path: string,
  named: TextOptions<Kind>,
  isGone: (kind: Kind, wanted: string) => boolean = () => false,
): Promise<Readonly<Record<string, string>>> {
  const query: Record<string, string> = {};
  for (const kind of KINDS) {
    const wanted = named[kind];
    if (wanted === undefined) continue;
    query[fieldOf(kind)] = isGone(kind, wanted)
      ? wanted
      : String((await FINDERS[kind](client, path, wanted))["id"]);
  }
  return query;
}

/**
 * The same where usage and requests are asked for: a whole id of a user or a group goes on as it is. One that was deleted is
 * in no list, and its figures are still there.
 */
export function queryFormerOwners(client: AdminClient, path: string, named: TextOptions<Kind>) {
  return queryOwners(client, path, named, (kind, wanted) => kind !== "key" && isWholeId(kind, wanted));
}

/** Its name, of a key's or user's `user` or `group`; null for none. */
export function nameOfOwner(owner: unknown): string | null {
  return owner === null || owner === undefined ? null : String((owner as JsonObject)["name"]);
}

/** Each of them that there is gets a line. */
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

/** "its 3 keys stay without it", in a question. */
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
