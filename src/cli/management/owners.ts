/** Users and groups as commands name them, and as they show them. */
import { OWNER_KINDS, type OwnerKind } from "../../store/types/owner-kinds.ts";
import type { Field } from "../terminal/table.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { findGroup, findUser, isWholeId } from "./find.ts";

const FINDERS = { user: findUser, group: findGroup } as const satisfies Record<OwnerKind, unknown>;
const fieldOf = (kind: OwnerKind) => `${kind}_id` as const;

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
    const { id } = await FINDERS[kind](client, path, wanted);
    resolved[fieldOf(kind)] = id;
  }
  return resolved;
}

/**
 * Of which usage and requests are asked for. A whole id goes on as it is: one that was deleted is in no list, and its
 * figures are still there. @throws CommandError
 */
export async function queryFormerOwners(
  client: AdminClient,
  path: string,
  named: { readonly [Kind in OwnerKind]?: string },
): Promise<Readonly<Record<string, string>>> {
  const byId: Record<string, string> = {};
  const byName: { [Kind in OwnerKind]?: string } = {};
  for (const kind of OWNER_KINDS) {
    const wanted = named[kind];
    if (wanted === undefined) continue;
    if (isWholeId(kind, wanted)) byId[fieldOf(kind)] = wanted;
    else byName[kind] = wanted;
  }
  return { ...byId, ...(await queryOwners(client, path, byName)) };
}

/** What a list is narrowed down to. @throws CommandError */
export async function queryOwners(
  client: AdminClient,
  path: string,
  named: { readonly [Kind in OwnerKind]?: string },
): Promise<Readonly<Record<string, string>>> {
  const query: Record<string, string> = {};
  for (const kind of OWNER_KINDS) {
    const wanted = named[kind];
    if (wanted === undefined) continue;
    const { id } = await FINDERS[kind](client, path, wanted);
    query[fieldOf(kind)] = String(id);
  }
  return query;
}

/** Its name, of a key's or user's `user` or `group`; null for none. */
export function nameOfOwner(owner: unknown): string | null {
  return owner === null || owner === undefined ? null : String((owner as JsonObject)["name"]);
}

/** A line for each of them that there is. */
export function showOwners(one: JsonObject): readonly Field[] {
  return (["user", "group"] as const).flatMap((label) => {
    const owner = one[label] as JsonObject | null | undefined;
    return owner === null || owner === undefined
      ? []
      : [[label, `${String(owner["name"])} (${String(owner["id"])})`] as const];
  });
}

/** "its 3 keys go on without it", in a question. */
export function describeKeysOf(found: JsonObject, isWithKeys: boolean): string {
  const count = Number(found["key_count"]);
  if (count === 0) return "it has no keys";
  const keys = count === 1 ? "its key" : `its ${count} keys`;
  if (isWithKeys) return `and ${keys}: whoever uses ${count === 1 ? "it" : "one"} is refused`;
  return `${keys} ${count === 1 ? "goes" : "go"} on without it`;
}
