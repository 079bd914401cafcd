/** Finds records that users name: by full id, by name, or by the short id of tables. */
import type { IdPrefix } from "../../../data-path/store/ids.ts";
import { formatSuggestion } from "../../../shared/config/schema/nearest.ts";
import { endOfShortId } from "../terminal/short-id.ts";
import type { AdminClient, JsonObject } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";

/** Search limit: enough to find whether a name is ambiguous. */
const FOUND_USERS = 100;

export function organizationPath(organization: JsonObject): string {
  return `/api/organizations/${String(organization["id"])}`;
}

/** Returns the only one if none is named. @throws CommandError */
export async function findOrganization(client: AdminClient, wanted: string | undefined): Promise<JsonObject> {
  if (wanted !== undefined && isWholeId("org", wanted)) {
    return client.call("GET", `/api/organizations/${encodeURIComponent(wanted)}`);
  }
  const all = await client.list("/api/organizations");
  if (wanted !== undefined) return pickOne(all, wanted, "org", "`inference-gateway org list` shows all.");
  const [only] = all;
  if (all.length === 1 && only !== undefined) return only;
  const found = all.length === 0 ? "There is no organization." : `There are ${all.length} organizations.`;
  throw new CommandError(`${found} Pass --org with a name or id from \`inference-gateway org list\`.`);
}

export const findKey = createFinder("key");
export const findGroup = createFinder("group");

/** Creates a function that throws CommandError if it finds none. */
function createFinder(kind: "key" | "group") {
  return async (client: AdminClient, path: string, wanted: string): Promise<JsonObject> => {
    if (isWholeId(kind, wanted)) return client.call("GET", `${path}/${kind}s/${encodeURIComponent(wanted)}`);
    const all = await client.list(`${path}/${kind}s`);
    return pickOne(all, wanted, kind, `\`inference-gateway ${kind} list\` shows all.`);
  };
}

/** @throws CommandError */
export async function findUser(client: AdminClient, path: string, wanted: string): Promise<JsonObject> {
  if (isWholeId("user", wanted)) return client.call("GET", `${path}/users/${encodeURIComponent(wanted)}`);
  // Exact matches of name or address come before those at the start of a word.
  const named = await client.list(`${path}/users`, FOUND_USERS, { search: wanted });
  const isNamed = named.some(({ name, email }) => name === wanted || email === wanted);
  const isShort = !isNamed && endOfShortId("user", wanted) !== null;
  const all = isShort ? await client.list(`${path}/users`) : named;
  const help = "`inference-gateway user list --search …` finds users by the first letters of a word.";
  return pickOne(all, wanted, "user", help);
}

/** @throws CommandError */
export async function findToken(client: AdminClient, path: string, wanted: string): Promise<JsonObject> {
  const all = await client.list(`${path}/tokens`);
  const help = "`inference-gateway token list` shows all.";
  return pickOne(all, wanted, "token", help);
}

/** @param raises Increases of one owner. @throws CommandError */
export function findRaise(raises: readonly JsonObject[], wanted: string): JsonObject {
  const help =
    "`inference-gateway raise list` shows the temporary increases of one key, user, group or organization.";
  return pickOne(raises, wanted, "raise", help);
}

/** Returns the id of an alert. @throws CommandError */
export async function findAlertId(client: AdminClient, path: string, wanted: string): Promise<string> {
  if (endOfShortId("alert", wanted) === null) return wanted;
  const all = await client.list(`${path}/alerts`);
  const help = "`inference-gateway alerts list` shows the latest.";
  return String(pickOne(all, wanted, "alert", help)["id"]);
}

/** Returns ids of matching recent requests: several only for a short id. @throws CommandError */
export async function findRequestIds(
  client: AdminClient,
  path: string,
  wanted: string,
): Promise<readonly string[]> {
  const end = endOfShortId("req", wanted);
  if (end === null) return [wanted];
  const containing = await client.list(`${path}/requests`, undefined, { id: end });
  return containing.map((one) => String(one["id"])).filter((id) => id.endsWith(end));
}

/** @throws CommandError for an ambiguous name. */
export function refuseAmbiguous(wanted: string, noun: string, ids: readonly string[]): never {
  throw new CommandError(
    `"${wanted}" matches ${ids.length} ${noun}s. Pass the full id of one: ${ids.join(", ")}.`,
  );
}

export function isWholeId(prefix: IdPrefix, wanted: string): boolean {
  return wanted.startsWith(`${prefix}_`) && endOfShortId(prefix, wanted) === null;
}

/**
 * Finds by id, then by name or visible characters, then by short id.
 * @param help Sentence that says where all are listed.
 */
function pickOne(all: readonly JsonObject[], wanted: string, prefix: IdPrefix, help: string): JsonObject {
  const noun = prefix === "org" ? "organization" : prefix;
  const end = endOfShortId(prefix, wanted);
  const tests: readonly ((one: JsonObject) => boolean)[] = [
    (one) => one["id"] === wanted,
    (one) => [one["name"], one["display"], one["email"]].includes(wanted),
    (one) => end !== null && String(one["id"]).endsWith(end),
  ];
  const found = tests.map((matches) => all.filter(matches)).find((some) => some.length > 0) ?? [];
  const [first, second] = found;
  if (first === undefined) {
    const names = all.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
    const suggestion = formatSuggestion(wanted, names);
    throw new CommandError(`Unknown ${noun} "${wanted}"${suggestion === "" ? "." : suggestion} ${help}`);
  }
  if (second === undefined) return first;
  return refuseAmbiguous(
    wanted,
    noun,
    found.map((one) => String(one["id"])),
  );
}
