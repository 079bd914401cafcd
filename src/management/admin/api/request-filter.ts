import { hasTags, parseTagList } from "../../../shared/usage/tags.ts";
import { toldOf } from "../../../data-path/limits/told.ts";
import { timeOfId } from "../../../data-path/store/ids.ts";
import { parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import type { RecentRequest, RequestFilter } from "../../../data-path/store/types/reporting.ts";
import type { RequestQuery } from "../schemas/requests.ts";

/** How far the clock of the worker that made an id may be off Redis's. */
const CLOCK_SKEW_MS = 60_000;

type Match = (request: RecentRequest) => boolean;

/** What a query looks for; null: everything. */
export function createRequestFilter(query: RequestQuery): RequestFilter | null {
  const {
    key_id: keyId,
    user_id: userId,
    group_id: groupId,
    model,
    upstream,
    status,
    tag,
    session,
    from,
    to,
    id,
  } = query;
  const matches: Match[] = [];
  if (keyId !== undefined) matches.push((request) => request.keyId === keyId);
  if (userId !== undefined) matches.push(({ owners }) => parseOwnerIds(owners).userId === userId);
  if (groupId !== undefined) matches.push(({ owners }) => parseOwnerIds(owners).groupId === groupId);
  if (model !== undefined) matches.push((request) => request.model === model);
  if (upstream !== undefined) matches.push((request) => request.way.upstream?.name === upstream);
  const tags = tag === undefined ? null : parseTagList(tag);
  if (tags !== null && "tags" in tags) matches.push((request) => hasTags(request.tags, tags.tags));
  if (session !== undefined) matches.push((request) => request.session === session);
  if (id !== undefined) matches.push((request) => request.requestId.includes(id));
  if (from !== undefined) matches.push((request) => (timeOfId(request.requestId) ?? 0) >= from);
  if (to !== undefined) matches.push((request) => (timeOfId(request.requestId) ?? 0) < to);
  if (status !== undefined) matches.push(matchStatus(status));
  if (matches.length === 0) return null;
  return {
    // What came then ended later.
    fromMs: from === undefined ? null : Math.max(0, from - CLOCK_SKEW_MS),
    matches: (request) => matches.every((match) => match(request)),
  };
}

/** @param wanted "402", "4xx" or an error code. */
function matchStatus(wanted: string): Match {
  if (/^\d{3}$/.test(wanted)) return (request) => String(toldOf(request).status) === wanted;
  if (/^\dxx$/.test(wanted)) return (request) => String(toldOf(request).status)[0] === wanted[0];
  return (request) => toldOf(request).errorCode === wanted;
}
