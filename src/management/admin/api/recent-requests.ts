/** Findings in an organization's recent requests, from one scan. */
import { DAY_MS, dayAt } from "../../../shared/time/calendar.ts";
import type { ApiServices } from "./route.ts";
import { isFailed } from "./health.ts";
import { type NamesStore, readKeyNames } from "./names.ts";
import type { RecentRequest } from "../../../shared/stored/reporting.ts";
import { describeUpstream } from "../explain/explained-request.ts";
import { capScopeOf } from "../../../data-path/limits/errors/spend-cap.ts";
import { clientOutcomeOf } from "../../../data-path/limits/reports/client-outcome.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import { timeOfId } from "../../../data-path/store/ids.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";

export interface RecentFindings {
  readonly failing: readonly FailingUpstream[];
  readonly stopped: readonly StoppedRequests[];
  /** False: there are more requests of the last day than were scanned. */
  readonly isWhole: boolean;
}

/** Scans requests of the last day, at most 2,000, and reads the names of owners whose limits rejected some. */
export async function readFindings({ store }: ApiServices, organizationId: string, nowMs: number) {
  const upstreams = createUpstreamJudge(nowMs);
  const stops = createStopCounter(nowMs);
  const matches = (request: Parameters<typeof stops.look>[0]): boolean => {
    upstreams.look(request);
    stops.look(request);
    // Lists nothing, so that the scan continues.
    return false;
  };
  const filter = { fromMs: nowMs - DAY_MS, matches };
  const { next } = await store.listRequests(organizationId, { limit: 1, after: null }, filter);
  const stopped = stops.list();
  const recent: RecentFindings = { failing: upstreams.list(), stopped, isWhole: next === null };
  return { recent, names: await nameStopped(store, organizationId, stopped) };
}

/** Reads names by id, also of deleted owners. */
async function nameStopped(
  store: NamesStore,
  organizationId: string,
  stopped: readonly StoppedRequests[],
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

// Failing upstreams of an organization. Each is judged by its own last requests, however rare: a model that
// is used once an hour may be as broken as one that is used every second.

interface FailingUpstream {
  readonly name: string;
  /** Number of its newest requests, all failed: as many as are judged, or all within the time. */
  readonly failures: number;
  /** When the newest one ended. */
  readonly lastMs: number;
  /** True if all of them had status 500 or more; false: some broke off. */
  readonly isServerError: boolean;
  /** Why the newest one failed, if Envoy reports it: a sentence without its full stop. */
  readonly cause: string | null;
}

/** Number of requests judged per upstream. */
export const JUDGED_REQUESTS = 3;
const JUDGED_MS = 86_400_000;

interface UpstreamJudge {
  /** Adds a request, newest first. */
  look(request: RecentRequest): void;
  list(): readonly FailingUpstream[];
}

/** Judges requests that ended within the last day. */
function createUpstreamJudge(nowMs: number): UpstreamJudge {
  const last = new Map<string, RecentRequest[]>();
  return {
    look(request) {
      const { upstream } = request.trace;
      if (upstream === null || request.recordedAtMs < nowMs - JUDGED_MS || isFailed(request) === null) return;
      const own = last.get(upstream.name) ?? [];
      last.set(upstream.name, own);
      if (own.length < JUDGED_REQUESTS) own.push(request);
    },
    list: () => [...last].flatMap(([name, own]) => (own.every(isFailed) ? [describe(name, own)] : [])),
  };
}

function describe(name: string, own: readonly RecentRequest[]): FailingUpstream {
  const [newest] = own;
  const upstream = newest?.trace.upstream ?? null;
  const { cause, envoy_details: details } = upstream === null ? NOTHING : describeUpstream(upstream);
  return {
    name,
    failures: own.length,
    lastMs: newest?.recordedAtMs ?? 0,
    isServerError: own.every(({ status }) => (status ?? 0) >= 500),
    cause: details === null ? null : cause,
  };
}

const NOTHING = { cause: null, envoy_details: null };

export interface StoppedRequests {
  readonly scope: LimitScope;
  /** Id of the key, user or group; null: the organization. */
  readonly ownerId: string | null;
  readonly period: LimitPeriod;
  /** Code sent to clients. */
  readonly errorCode: string;
  readonly count: number;
  /** When the newest one ended. */
  readonly lastMs: number;
}

interface StopCounter {
  /** Adds a request, newest first. */
  look(request: RecentRequest): void;
  /** Lists the limits, most rejections first. */
  list(): readonly StoppedRequests[];
}

/** Counts requests on the UTC day of `nowMs`. */
function createStopCounter(nowMs: number): StopCounter {
  const { startMs } = dayAt(nowMs);
  const counted = new Map<string, StoppedRequests>();
  return {
    look(request) {
      const { errorCode } = clientOutcomeOf(request);
      const scope = capScopeOf(errorCode);
      if (scope === null || errorCode === null || (timeOfId(request.requestId) ?? 0) < startMs) return;
      const stop = { scope, ownerId: ownerOf(scope, request), period: periodOf(request), errorCode };
      const key = [scope, stop.ownerId, stop.period].join(" ");
      const before = counted.get(key) ?? { ...stop, count: 0, lastMs: request.recordedAtMs };
      counted.set(key, { ...before, count: before.count + 1 });
    },
    list: () => [...counted.values()].toSorted((one, other) => other.count - one.count),
  };
}

function ownerOf(scope: LimitScope, { keyId, owners }: RecentRequest): string | null {
  const { userId, groupId } = parseOwnerIds(owners);
  return { key: keyId, user: userId, group: groupId, organization: null }[scope];
}

/** Returns the cap's period; checks of monthly caps of keys and organizations name none. */
function periodOf({ checks }: RecentRequest): LimitPeriod {
  const named = checks.find(({ passed }) => !passed)?.figures["period"];
  return LIMIT_PERIODS.find((period) => period === named) ?? "month";
}
