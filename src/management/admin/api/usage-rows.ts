/** The rows that a report of usage sums up: a day's figures, or the requests that are still listed. */
import { CLOCK_SKEW_MS, timeOfId } from "../../../data-path/store/ids.ts";
import { RECENT_ENTRIES } from "../../../data-path/store/requests/recent.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { RecentRequest, UsageRow } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { type DayRange, daysIn } from "../../../shared/time/day-range.ts";
import { DAY_MS, dayAt, formatTime } from "../../../shared/time/calendar.ts";
import { hasTags, parseTagList } from "../../../shared/usage/tags.ts";
import { KINDS_BY_POSITION, mapTokens } from "../../../shared/usage/token-usage.ts";
import { mapAmounts } from "../../../shared/usage/usage-figures.ts";
import { parseGroups, type UsageQuery } from "../schemas/usage.ts";

export interface ReportRow extends UsageRow {
  /** Start of its hour. Omitted: the row covers a whole day. */
  readonly hour?: string;
  readonly session?: string | null;
  readonly upstream?: string | null;
  /** Request that it is the row of. Omitted: the row is a day's. */
  readonly request?: RecentRequest;
}

/** Source of rows. Each call of `read` reads them again. */
export interface RowSource {
  readonly read: () => AsyncGenerator<readonly ReportRow[]>;
  /** After a whole reading: the time from which nothing is missing; null: nothing is. */
  readonly completeFrom: () => string | null;
}

export type RowStore = Pick<Store, "readUsageOfDay" | "readSumsOfDay" | "listRequests">;

type Filters = Pick<UsageQuery, "key_id" | "user_id" | "group_id" | "model" | "tag" | "session">;

/** Reads day by day, so that a whole month is never in memory. Reads rows only for values of tags, sums otherwise. */
export function readDays(
  store: RowStore,
  organizationId: string,
  range: DayRange,
  filters: Filters & Pick<UsageQuery, "group_by">,
): RowSource {
  const matches = matchRows(filters);
  const isByTag = parseGroups(filters.group_by).some(({ kind }) => kind === "tag");
  const read = isByTag || filters.tag !== undefined ? store.readUsageOfDay : store.readSumsOfDay;
  const of = { keyId: filters.key_id, userId: filters.user_id };
  return {
    async *read() {
      for (const day of daysIn(range)) {
        yield (await read(organizationId, day, of)).filter(matches);
      }
    },
    completeFrom: () => null,
  };
}

const PAGE = 500;

/** Reads the requests that are still listed, about 10,000 of an organization. Hours, sessions, upstreams and health are kept nowhere else. */
export function readListedRequests(
  store: Pick<RowStore, "listRequests">,
  organizationId: string,
  range: DayRange,
  filters: Filters,
): RowSource {
  const matches = matchRows(filters);
  const [startMs, endMs] = [Date.parse(range.from), Date.parse(range.to) + DAY_MS];
  let entries = 0;
  let oldestMs = 0;
  return {
    async *read() {
      entries = 0;
      let after: string | null = null;
      const filter = {
        fromMs: Math.max(0, startMs - CLOCK_SKEW_MS),
        matches: (request: RecentRequest): boolean => {
          if (request.refusal === null) {
            entries += 1;
            oldestMs = request.recordedAtMs;
          }
          return isCounted(request);
        },
      };
      do {
        const page = await store.listRequests(organizationId, { limit: PAGE, after }, filter);
        yield page.items.map(mapRequest).filter((row) => {
          const timeMs = Date.parse(row.hour ?? "");
          return timeMs >= startMs && timeMs < endMs && matches(row);
        });
        after = page.next;
      } while (after !== null);
    },
    // A list with fewer entries has lost none of them.
    completeFrom: () => (entries < RECENT_ENTRIES ? null : formatTime(oldestMs)),
  };
}

/** Returns whether the request is in the organization's usage: it was sent to a model server. */
function isCounted(request: RecentRequest): boolean {
  const isUsed = request.costMicrocents > 0n || KINDS_BY_POSITION.some((kind) => request[kind] > 0);
  return request.refusal === null && (isUsed || request.trace.upstream !== null);
}

const HOUR_MS = 3_600_000;

function mapRequest(request: RecentRequest): ReportRow {
  const timeMs = timeOfId(request.requestId) ?? request.recordedAtMs;
  const { keyId, owners, model, tags, session, trace } = request;
  return {
    day: dayAt(timeMs).name,
    hour: `${formatTime(Math.floor(timeMs / HOUR_MS) * HOUR_MS).slice(0, "2026-11-21T14:00".length)}Z`,
    keyId,
    owners,
    model,
    tags,
    session,
    upstream: trace.upstream?.name ?? null,
    request,
    ...mapTokens((kind) => request[kind]),
    requests: 1,
    estimatedRequests: request.estimated ? 1 : 0,
    ...mapAmounts((figure) => request[figure]),
  };
}

function matchRows(filters: Filters): (row: ReportRow) => boolean {
  const { key_id: keyId, user_id: userId, group_id: groupId, model, tag, session } = filters;
  const parsed = tag === undefined ? null : parseTagList(tag);
  const tags = parsed !== null && "tags" in parsed ? parsed.tags : "";
  return (row) => {
    const owners = parseOwnerIds(row.owners);
    return (
      (keyId === undefined || row.keyId === keyId) &&
      (userId === undefined || owners.userId === userId) &&
      (groupId === undefined || owners.groupId === groupId) &&
      (model === undefined || row.model === model) &&
      (session === undefined || row.session === session) &&
      hasTags(row.tags, tags)
    );
  };
}
