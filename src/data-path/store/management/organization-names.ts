/**
 * Who has which name. The index of names and the records are on different slots, so they cannot change in one step: a
 * name is claimed before the record has it, and released when the record has it no more. The record decides: a claim
 * whose record has another name is what a crash has left, and is passed over when it is old enough that nobody can be on
 * the way from the claim to the record.
 */
import type { StoreContext } from "../context.ts";
import { organizationKey, ORGANIZATION_NAMES_KEY, ORGANIZATIONS_KEY } from "../redis/keys.ts";
import { integerAt, parseArray, parseInteger, textAt } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import type { NameHolder } from "../types/management.ts";

/** The most time from a claim to its record: some commands, each with a timeout of seconds. */
const UNDER_WAY_US = 60_000_000;
/** Each passes over what a crash has left. */
const CLAIM_ATTEMPTS = 3;

export type NameClaim =
  | { readonly outcome: "claimed"; readonly claimedUs: number }
  | { readonly outcome: "name_taken"; readonly holder: NameHolder };

/** A name as people compare it: "Ä" is "ä", and a wide "Ａ" is "a". */
export function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Two organizations may not have names of which this is the same. */
export function foldName(name: string): string {
  return foldCase(name).trim().replaceAll(/\s+/g, " ");
}

/** Claims a name for an organization whose record does not have it yet. Several steps. */
export async function claimName(
  context: StoreContext,
  organizationId: string,
  name: string,
): Promise<NameClaim> {
  const folded = foldName(name);
  let gone = "";
  for (let attempt = 1; ; attempt += 1) {
    const reply = parseArray(
      await context.client.igwClaimName({
        names: ORGANIZATION_NAMES_KEY,
        name: folded,
        organizationId,
        goneEntry: gone,
      }),
    );
    const atUs = integerAt(reply, AT.nameClaimed.timeUs);
    if (reply[OUTCOME] === "claimed") return { outcome: "claimed", claimedUs: atUs };
    const entry = textAt(reply, AT.nameTaken.entry);
    const holder = await readHolder(context, entry, folded, atUs);
    if (holder !== null) return { outcome: "name_taken", holder };
    if (attempt === CLAIM_ATTEMPTS) throw new Error("others claim this name with each command");
    gone = entry;
  }
}

/**
 * Releases the name of an organization that has another one now, or that is gone.
 * @param beforeUs A claim from after this time stays: the organization has got the name back.
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

/** The organization whose this entry is; null when its organization has not got the name, and will not get it any more. */
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
    // Where a crash came between its record and the list: now it is found by who reads that it has the name.
    await client.zadd(ORGANIZATIONS_KEY, "NX", 0, id);
    return { id, name };
  }
  return nowUs - parseInteger(claimedUs) < UNDER_WAY_US ? { id, name: null } : null;
}

function isSet(field: string | null | undefined): field is string {
  return field !== null && field !== undefined && field !== "";
}
