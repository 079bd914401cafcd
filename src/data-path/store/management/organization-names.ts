/**
 * Index of organization names. The index and the records are on different slots, so they cannot change in one
 * step: a name is claimed before the record has it, and released after the record has lost it. The record
 * decides: a claim whose record has another name was left by a crash, and is ignored once it is too old for
 * its record to be still on the way.
 */
import type { StoreContext } from "../context.ts";
import { organizationKey, ORGANIZATION_NAMES_KEY, ORGANIZATIONS_KEY } from "../redis/keys.ts";
import { integerAt, parseArray, parseInteger, textAt } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import type { NameHolder } from "../../../shared/stored/management.ts";

/** Maximum time from a claim to its record: several commands with timeouts of seconds. */
const MAX_CLAIM_US = 60_000_000;
/** Attempts to claim; each ignores one abandoned claim. */
const CLAIM_ATTEMPTS = 3;

export type NameClaim =
  | { readonly outcome: "claimed"; readonly claimedUs: number }
  | { readonly outcome: "name_taken"; readonly holder: NameHolder };

/** Folds case and width for comparison: "Ä" becomes "ä", and a wide "Ａ" becomes "a". */
export function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Returns the form of a name that must be unique among organizations. */
export function foldName(name: string): string {
  return foldCase(name).trim().replaceAll(/\s+/g, " ");
}

/** Claims a name for an organization whose record does not have it yet, in several steps. */
export async function claimName(
  context: StoreContext,
  organizationId: string,
  name: string,
): Promise<NameClaim> {
  const folded = foldName(name);
  let deletedEntry = "";
  for (let attempt = 1; ; attempt += 1) {
    const reply = parseArray(
      await context.client.igwClaimName({
        names: ORGANIZATION_NAMES_KEY,
        name: folded,
        organizationId,
        deletedEntry,
      }),
    );
    const atUs = integerAt(reply, AT.nameClaimed.timeUs);
    if (reply[OUTCOME] === "claimed") return { outcome: "claimed", claimedUs: atUs };
    const entry = textAt(reply, AT.nameTaken.entry);
    const holder = await readHolder(context, entry, folded, atUs);
    if (holder !== null) return { outcome: "name_taken", holder };
    if (attempt === CLAIM_ATTEMPTS) throw new Error("others claim this name with each command");
    deletedEntry = entry;
  }
}

/**
 * Releases the name of an organization that has been renamed or deleted.
 * @param beforeUs Later claims stay: the organization has got the name back.
 */
export async function releaseName(
  { client }: StoreContext,
  organizationId: string,
  name: string,
  beforeUs: number,
): Promise<void> {
  await client.igwReleaseName({
    names: ORGANIZATION_NAMES_KEY,
    name: foldName(name),
    organizationId,
    beforeUs: String(beforeUs),
  });
}

/** Returns the organization of an index entry; null if its record does not have the name and never will. */
async function readHolder(
  { client }: StoreContext,
  entry: string,
  folded: string,
  nowUs: number,
): Promise<NameHolder | null> {
  const [id = "", claimedUs = ""] = entry.split("@");
  const [name, deletedAt] = await client.hmget(organizationKey(id), "name", "deleted_at");
  if (isSet(deletedAt)) return null;
  if (isSet(name) && foldName(name) === folded) {
    // Repairs the list if a crash happened between the record and the list.
    await client.zadd(ORGANIZATIONS_KEY, "NX", 0, id);
    return { id, name };
  }
  return nowUs - parseInteger(claimedUs) < MAX_CLAIM_US ? { id, name: null } : null;
}

function isSet(field: string | null | undefined): field is string {
  return field !== null && field !== undefined && field !== "";
}
