/**
 * Who has which name. The index of names and the records are on different slots, so they cannot change in one step: a
 * name is claimed before the record has it, and released when the record has it no more. The record decides: a claim
 * whose record has another name is what a crash has left, and is passed over when it is old enough that nobody can be on
 * the way from the claim to the record.
 */
import { timeMs } from "../redis/clock.ts";
import type { StoreContext } from "../context.ts";
import { createId } from "../ids.ts";
import { organizationKey, ORGANIZATION_NAMES_KEY, ORGANIZATIONS_KEY } from "../redis/keys.ts";
import { integerAt, parseArray, parseInteger } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import type { NameHolder } from "../types/management.ts";

/** The most time from a claim to its record: some commands, each with a timeout of seconds. */
const UNDER_WAY_US = 60_000_000;
/** Each passes over what a crash has left. */
const CLAIM_ATTEMPTS = 3;
/** Ids are of Redis's clock, a few commands before they are on the list: so far back a new one may still come. */
const LATE_MS = 60_000;
const INDEXED_AT_ONCE = 200;

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
  await indexNewNames(context);
  const folded = foldName(name);
  let gone: readonly string[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const reply = parseArray(
      await context.client.igwClaimName(ORGANIZATION_NAMES_KEY, folded, organizationId, "", ...gone),
    );
    const atUs = integerAt(reply, AT.nameClaimed.timeUs);
    if (reply[OUTCOME] === "claimed") return { outcome: "claimed", claimedUs: atUs };
    const entries = reply.slice(AT.nameClaimed.timeUs + 1).map(String);
    const holders = await Promise.all(entries.map((entry) => readHolder(context, entry, folded, atUs)));
    const holder = holders.find((one) => one !== null) ?? null;
    if (holder !== null) return { outcome: "name_taken", holder };
    if (attempt === CLAIM_ATTEMPTS) throw new Error("others claim this name with each command");
    gone = entries;
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
  await client.igwReleaseName(ORGANIZATION_NAMES_KEY, foldName(name), organizationId, String(beforeUs));
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

/**
 * Enters the names of organizations from before there was the index, and of those that a process of an older release has
 * made since. Of all of them once, then of the new ones, each of them once too: whoever makes many in a minute would
 * wait longer for each.
 */
async function indexNewNames(context: StoreContext): Promise<void> {
  const { client, names } = context;
  const indexedUpTo = createId("org", (await timeMs(context)) - LATE_MS);
  const ids = await client.zrangebylex(
    ORGANIZATIONS_KEY,
    names.indexedUpTo === null ? "-" : `(${names.indexedUpTo}`,
    "+",
  );
  const newIds = ids.filter((id) => !names.indexedSince.has(id));
  for (let start = 0; start < newIds.length; start += INDEXED_AT_ONCE) {
    await Promise.all(
      newIds.slice(start, start + INDEXED_AT_ONCE).map(async (id) => {
        const [name, deletedAt] = await client.hmget(organizationKey(id), "name", "deleted_at");
        if (isSet(deletedAt) || !isSet(name)) return;
        await client.igwClaimName(ORGANIZATION_NAMES_KEY, foldName(name), id, "1");
      }),
    );
  }
  names.indexedUpTo = indexedUpTo;
  // Those that come once more: of the last minute.
  names.indexedSince = new Set(ids.filter((id) => id > indexedUpTo));
}

function isSet(field: string | null | undefined): field is string {
  return field !== null && field !== undefined && field !== "";
}
