/** Users and groups in form fields: people type a name or choose a suggestion, and the API needs an id. */
import { invalidField } from "../admin-error.ts";
import { OWNER_KINDS, type OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type { CallApi } from "./call-api.ts";

const LISTS = {
  user: "GET /api/organizations/{organization}/users",
  group: "GET /api/organizations/{organization}/groups",
} as const satisfies Record<OwnerKind, string>;

/** Id in parentheses after the name, as suggested, or just an id. */
const ID = /(?:^|\()((?:user|group)_[0-9a-f-]{36})\)?$/;
/** Search limit: enough to find whether a name is ambiguous. */
const LOOKED_AT = "100";
const SUGGESTIONS = "10";
/** Maximum that the API accepts. */
const MAX_SEARCH_CHARACTERS = 100;

interface Named {
  readonly id: string;
  readonly name: string;
  readonly email?: string | null;
}

/** Formats "Ann Smith (user_…)", readable for people and unambiguous for `resolveOwners`. */
export function formatOwner({ id, name }: Named): string {
  return `${name} (${id})`;
}

/** Returns the field's name in forms, URLs and the API. */
export function fieldOfOwner<Kind extends OwnerKind>(kind: Kind): `${Kind}_id` {
  return `${kind}_id`;
}

/** Formats the user or group in the URL for a filter's field. @param names By id. */
export function describeWanted(text: string, names: Readonly<Record<string, string>>): string {
  const id = ID.exec(text)?.[1];
  const name = id === undefined ? undefined : names[id];
  return id === undefined || name === undefined ? (id ?? text) : formatOwner({ id, name });
}

/** Reads the user or group in the URL for a filter's field; a deleted one is its id. */
export async function readWanted(api: CallApi, kind: OwnerKind, text: string): Promise<string> {
  const id = ID.exec(text)?.[1];
  const [owner] = id === undefined ? [] : await search(api, kind, id, "1");
  return owner === undefined ? (id ?? text) : formatOwner(owner);
}

/** Replaces names by ids in a body. @throws AdminError 400 for an unknown or ambiguous name */
export async function resolveOwners<Value>(
  api: CallApi,
  body: Readonly<Record<string, Value>>,
): Promise<Record<string, Value | string>> {
  const resolved: Record<string, Value | string> = { ...body };
  for (const kind of OWNER_KINDS) {
    const text = body[fieldOfOwner(kind)];
    if (typeof text === "string") resolved[fieldOfOwner(kind)] = await resolveOwner(api, kind, text);
  }
  return resolved;
}

async function resolveOwner(api: CallApi, kind: OwnerKind, text: string): Promise<string> {
  const id = ID.exec(text)?.[1];
  if (id !== undefined) return id;
  const found = (await search(api, kind, text, LOOKED_AT)).filter(
    ({ name, email }) => name === text || email === text,
  );
  const [only] = found;
  const field = fieldOfOwner(kind);
  if (only === undefined) throw invalidField(field, `unknown ${kind}; choose one of the suggestions`);
  if (found.length === 1) return only.id;
  throw invalidField(
    field,
    `several ${kind}s have this name; choose one of the suggestions, or enter its id`,
  );
}

/** Reads the initial owners of a new key from the URL. */
export async function readWantedOwners(
  api: CallApi,
  query: URLSearchParams,
): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const kind of OWNER_KINDS) {
    const id = query.get(fieldOfOwner(kind)) ?? "";
    const [owner] = ID.test(id) ? await search(api, kind, id, "1") : [];
    if (owner !== undefined) texts[fieldOfOwner(kind)] = formatOwner(owner);
  }
  return texts;
}

/** Returns suggestions for the script while the user types. */
export async function suggestOwners(api: CallApi, kind: OwnerKind, text: string): Promise<string[]> {
  const found = text.trim() === "" ? [] : await search(api, kind, text, SUGGESTIONS);
  return found.map(formatOwner);
}

async function search(api: CallApi, kind: OwnerKind, text: string, limit: string): Promise<readonly Named[]> {
  const wanted = text.trim().slice(0, MAX_SEARCH_CHARACTERS);
  const { body } = await api(LISTS[kind], { query: { search: wanted, limit } });
  return body.data;
}
