/**
 * Recent requests of an organization, in two streams: admitted requests (written when they end) and requests
 * rejected at admission. The streams are bounded, so old entries disappear: they explain requests and are
 * never used for money.
 */
import type { StoreContext } from "../context.ts";
import { CLOCK_SKEW_MS, timeOfId } from "../ids.ts";
import { recentKey, refusedKey } from "../redis/keys.ts";
import { parseInteger, parseIntegerOrNull } from "../redis/parse-reply.ts";
import { ADMISSION_DECISIONS } from "../../../shared/stored/decision.ts";
import type { RecentRequest, RecentRequestStore } from "../../../shared/stored/reporting.ts";
import { type EntryFields, formatEntry, parseEntryFields, replaceOutcome } from "./recent-entry.ts";
import { formatFigures } from "../usage/row-figures.ts";
import { nameRefusedTexts, parseRefusalChecks } from "./refused-entry.ts";
import { TOKEN_FIGURES, USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import { mapTokens } from "../../../shared/usage/token-usage.ts";
import { mapAmounts } from "../../../shared/usage/usage-figures.ts";
import { storeOf } from "../run.ts";

/** Entries that are always kept, if there were as many. Same value as in `lua/include/ended.lua`. */
export const RECENT_ENTRIES = 10_000;
/** Entries per read while searching for one id. */
const SCAN_ENTRIES = 500;
/** Entries per read while filtering: a millisecond of Redis. */
const FILTER_BATCH = 200;
/** Entries that one call examines at most, unless its filter says otherwise. */
const MAX_FILTERED = 2_000;

type Fields = EntryFields["texts"];

export const createRecentRequestStore = storeOf<RecentRequestStore>({
  async recordRequest(context, request) {
    const { organizationId, requestId, ended } = request;
    await context.client.xadd(
      recentKey(organizationId),
      "MAXLEN",
      "~",
      RECENT_ENTRIES,
      ended === undefined ? "*" : `${ended.atMs}-0`,
      "id",
      requestId,
      "request",
      formatEntry(request, ended && formatFigures(ended.figures)),
    );
  },

  async changeOutcome({ client }, { organizationId, requestId, ...outcome }) {
    const stream = recentKey(organizationId);
    const all = { stream, end: "+", start: "-", batch: FILTER_BATCH, isOldestFirst: false };
    const newest = new InOrder(client, all);
    for (let read = 0; read < MAX_FILTERED; read += 1) {
      const entry = await newest.head();
      if (entry === null) return;
      const [id, [, entryOf, , text = ""]] = entry;
      if (entryOf === requestId) {
        await client.xadd(stream, "*", "id", requestId, "request", replaceOutcome(text, outcome));
        await client.xdel(stream, id);
        return;
      }
      newest.drop();
    }
  },

  async findRequest(context, organizationId, requestId, keyId) {
    const time = timeOfId(requestId);
    if (time === null) return null;
    const start = String(Math.max(0, time - CLOCK_SKEW_MS));
    const found =
      (await scanFor(context, refusedKey(organizationId), start, requestId)) ??
      (await scanFor(context, recentKey(organizationId), start, requestId));
    return found === null || (keyId !== null && found.keyId !== keyId) ? null : found;
  },

  async listRequests({ client }, organizationId, { limit, after }, filter = null) {
    const [recentAfter = "+", refusedAfter = "+"] = after?.split("_") ?? [];
    const batch = filter === null ? limit + 1 : FILTER_BATCH;
    const start = String(filter?.fromMs ?? "-");
    const isOldestFirst = filter?.isOldestFirst === true;
    const open = (stream: string, end: string) =>
      new InOrder(client, { stream, end, start, batch, isOldestFirst });
    const recent = open(recentKey(organizationId), recentAfter);
    const refused = open(refusedKey(organizationId), refusedAfter);
    const { keyId, maxExamined = MAX_FILTERED } = filter ?? {};
    const items: RecentRequest[] = [];
    let last = "";
    let heads = await Promise.all([recent.head(), refused.head()]);
    for (let read = 0; items.length < limit && read < maxExamined; read += 1) {
      const [left, right] = heads;
      const isFirstNext = isOldestFirst ? isBefore(left, right) : timeOf(left) >= timeOf(right);
      const entry = isFirstNext ? left : right;
      if (entry === null) break;
      if (keyId === undefined || isOfKey(entry, keyId)) {
        const request = parseEntry(entry);
        if (filter === null || filter.matches(request)) {
          items.push(request);
          last = cursorBelow(entry[0], isFirstNext);
        }
      }
      (isFirstNext ? recent : refused).drop();
      heads = isFirstNext ? [await recent.head(), right] : [left, await refused.head()];
    }
    const [left, right] = heads;
    if (left === null && right === null) return { items, next: null };
    return { items, next: items.length === limit ? last : `${left?.[0] ?? "-"}_${right?.[0] ?? "-"}` };
  },
});

/** Entry of a stream: its id, then names and values. */
type Entry = [id: string, items: string[]];

/** Returns when an entry was written, by Redis's clock; -1 without one. */
function timeOf(entry: Entry | null): number {
  return Number(entry?.[0].split("-")[0] ?? -1);
}

/** Returns whether `left` comes first, oldest first: the reverse of newest first, also at equal times. */
function isBefore(left: Entry | null, right: Entry | null): boolean {
  return right === null || (left !== null && timeOf(left) < timeOf(right));
}

const MAX_SEQUENCE = "18446744073709551615";

/**
 * Returns the cursor of what follows an entry. It does not contain the next entry's id, which would reveal when
 * another key's request ended.
 * @param isRecent The entry is of the stream of admitted requests, which comes first at equal times.
 */
function cursorBelow(id: string, isRecent: boolean): string {
  const [time = "", sequence = ""] = id.split("-");
  const before = `${Number(time) - 1}-${MAX_SEQUENCE}`;
  const below = sequence === "0" ? before : `${time}-${BigInt(sequence) - 1n}`;
  return isRecent ? `${below}_${time}-${MAX_SEQUENCE}` : `${before}_${below}`;
}

/** Returns whether the text of an entry, a JSON list that begins with the key's id, is of this key. */
function isOfKey([, items]: Entry, keyId: string): boolean {
  return items.at(-1)?.startsWith(`["${keyId}"`) === true;
}

interface Stretch {
  readonly stream: string;
  /** First and last ids, inclusive. An `end` of "-" matches nothing. */
  readonly end: string;
  readonly start: string;
  /** Entries per read. */
  readonly batch: number;
  readonly isOldestFirst: boolean;
}

/** Reads the entries of a stream in order. */
class InOrder {
  readonly #client: StoreContext["client"];
  readonly #stretch: Stretch;
  #entries: Entry[] = [];
  #position = 0;
  /** Where the next batch begins; null: the stream is exhausted. */
  #next: string | null;

  constructor(client: StoreContext["client"], stretch: Stretch) {
    this.#client = client;
    this.#stretch = stretch;
    const { start, end, isOldestFirst } = stretch;
    this.#next = end === "-" ? null : isOldestFirst ? start : end;
  }

  /** Returns the first entry that was not dropped, or null. */
  async head(): Promise<Entry | null> {
    if (this.#position === this.#entries.length && this.#next !== null) await this.#read(this.#next);
    return this.#entries[this.#position] ?? null;
  }

  drop(): void {
    this.#position += 1;
  }

  async #read(next: string): Promise<void> {
    const { stream, start, end, batch, isOldestFirst } = this.#stretch;
    this.#entries = isOldestFirst
      ? await this.#client.xrange(stream, next, end, "COUNT", batch)
      : await this.#client.xrevrange(stream, next, start, "COUNT", batch);
    this.#position = 0;
    const last = this.#entries.at(-1);
    this.#next = last === undefined || this.#entries.length < batch ? null : `(${last[0]}`;
  }
}

async function scanFor(
  context: StoreContext,
  stream: string,
  start: string,
  requestId: string,
): Promise<RecentRequest | null> {
  let from = start;
  // A stream holds slightly more than its limit; the bound only keeps a defect from looping for ever.
  for (let read = 0; read < 2 * RECENT_ENTRIES; read += SCAN_ENTRIES) {
    const entries = await context.client.xrange(stream, from, "+", "COUNT", SCAN_ENTRIES);
    const found = entries.find(([, fields]) => fields[fields.indexOf("id") + 1] === requestId);
    if (found !== undefined) return parseEntry(found);
    const last = entries.at(-1);
    if (last === undefined || entries.length < SCAN_ENTRIES) return null;
    from = `(${last[0]}`;
  }
  return null;
}

function parseEntry(stored: Entry): RecentRequest {
  const entry = parseEntryFields(stored[1]);
  const fields = nameRefusedTexts(entry.texts);
  return {
    requestId: fields["id"] ?? "",
    keyId: fields["key"] ?? "",
    recordedAtMs: timeOf(stored),
    route: fields["route"] ?? "",
    model: fields["model"] === undefined || fields["model"] === "" ? null : fields["model"],
    tags: fields["tags"] ?? "",
    owners: fields["owners"] ?? "",
    session: fields["session"] ?? null,
    ...parseOutcome(entry, fields),
    trace: entry.trace,
    ...mapTokens((kind) => countOf(fields, TOKEN_FIGURES[kind].field)),
    estimated: fields["estimated"] === "1",
    ...mapAmounts((figure) => BigInt(fields[USAGE_FIGURES[figure].field] ?? "0")),
  };
}

function parseOutcome(
  entry: EntryFields,
  fields: Fields,
): Pick<RecentRequest, "refusal" | "status" | "errorCode" | "checks"> {
  const decision = ADMISSION_DECISIONS.find((known) => known === fields["decision"]);
  if (decision !== undefined) {
    const checks = parseRefusalChecks(decision, fields);
    return { refusal: decision, status: null, errorCode: null, checks };
  }
  const errorCode = fields["error"] === undefined || fields["error"] === "" ? null : fields["error"];
  return {
    refusal: null,
    status: parseIntegerOrNull(fields["status"]),
    errorCode,
    checks: entry.checks,
  };
}

function countOf(fields: Fields, name: string): number {
  return parseInteger(fields[name] ?? "0");
}
