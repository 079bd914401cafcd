/** Users and groups as commands name them, and as they show them. */
import type { Field } from "../terminal/table.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { findGroup, findUser } from "./find.ts";

const FINDERS = { user_id: findUser, group_id: findGroup } as const;

/** The same body with ids where a user or a group was named. @throws CommandError */
export async function resolveOwners(
  client: AdminClient,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const resolved = { ...body };
  for (const [field, find] of Object.entries(FINDERS)) {
    const wanted = body[field];
    if (typeof wanted === "string") resolved[field] = (await find(client, path, wanted))["id"];
  }
  return resolved;
}

/** What a list is narrowed down to. @throws CommandError */
export async function queryOwners(
  client: AdminClient,
  path: string,
  { user, group }: { readonly user?: string; readonly group?: string },
): Promise<Readonly<Record<string, string | undefined>>> {
  const found = await resolveOwners(client, path, { user_id: user, group_id: group });
  return {
    user_id: found["user_id"] as string | undefined,
    group_id: found["group_id"] as string | undefined,
  };
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
