/** What an organization's recent requests say that somebody should know: one scan for all of it. */
import { DAY_MS } from "../../../shared/time/calendar.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { readKeyNames } from "../api/read-key-names.ts";
import { createUpstreamJudge, type FailingUpstream } from "./failing-upstreams.ts";
import { createStopCounter, type StoppedRequests } from "./stopped-requests.ts";

export interface RecentFindings {
  readonly failing: readonly FailingUpstream[];
  readonly stopped: readonly StoppedRequests[];
  /** False: there are more requests of the last day than were looked at. */
  readonly isWhole: boolean;
}

/** Of those of the last day, of 2,000 at most. */
export async function scanRecent(
  store: Pick<Store, "listRequests">,
  organizationId: string,
  nowMs: number,
): Promise<RecentFindings> {
  const upstreams = createUpstreamJudge(nowMs);
  const stops = createStopCounter(nowMs);
  const matches = (request: Parameters<typeof stops.look>[0]): boolean => {
    upstreams.look(request);
    stops.look(request);
    // Nothing is listed, so that the scan goes on.
    return false;
  };
  const filter = { fromMs: nowMs - DAY_MS, matches };
  const { next } = await store.listRequests(organizationId, { limit: 1, after: null }, filter);
  return { failing: upstreams.list(), stopped: stops.list(), isWhole: next === null };
}

/** Id → name, of whose limits stopped somebody: of deleted ones, too. */
export async function nameStopped(
  store: Pick<Store, "getKey" | "readOwnerNames">,
  organizationId: string,
  { stopped }: RecentFindings,
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (isKey: boolean) =>
    stopped.flatMap(({ scope, ownerId }) =>
      ownerId !== null && (scope === "key") === isKey ? [ownerId] : [],
    );
  const [keys, owners] = await Promise.all([
    readKeyNames(store, organizationId, idsOf(true)),
    store.readOwnerNames(organizationId, idsOf(false)),
  ]);
  return new Map([...keys, ...owners]);
}
