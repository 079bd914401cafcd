/** What an organization's recent requests say that somebody should know: one scan for all of it. */
import { DAY_MS, dayAt } from "../../../shared/time/calendar.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { readKeyNames } from "../api/names.ts";
import type { RecentRequest } from "../../../data-path/store/types/reporting.ts";
import { describeUpstream } from "../explain/explained-request.ts";
import { capScopeOf } from "../../../data-path/limits/spend-cap.ts";
import { toldOf } from "../../../data-path/limits/told.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import { timeOfId } from "../../../data-path/store/ids.ts";
import type { LimitScope } from "../../../data-path/store/types/decision.ts";
import { parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";

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

// Upstreams that fail for an organization. Each is judged by its own last requests, however few those are among all
// others: a model that is asked for once an hour is as dead as one that is asked for every second.

interface FailingUpstream {
  readonly name: string;
  /** Of its requests the newest ones, all failed: as many as are looked at, or all that it had within the time. */
  readonly failures: number;
  /** When the newest one ended. */
  readonly lastMs: number;
  /** Every one of them was answered with 500 or more; false: an answer broke off, too. */
  readonly isServerError: boolean;
  /** Why the newest one failed, where Envoy says it: a sentence without its full stop. */
  readonly cause: string | null;
}

/** Of each upstream so many requests are looked at. */
export const JUDGED_REQUESTS = 3;
const JUDGED_MS = 86_400_000;

interface UpstreamJudge {
  /** Newest first. */
  look(request: RecentRequest): void;
  list(): readonly FailingUpstream[];
}

/** Judges by what ended within the day before. */
function createUpstreamJudge(nowMs: number): UpstreamJudge {
  const last = new Map<string, RecentRequest[]>();
  return {
    look(request) {
      const { upstream } = request.way;
      if (upstream === null || request.recordedAtMs < nowMs - JUDGED_MS || !isJudged(request)) return;
      const own = last.get(upstream.name) ?? [];
      last.set(upstream.name, own);
      if (own.length < JUDGED_REQUESTS) own.push(request);
    },
    list: () => [...last].flatMap(([name, own]) => (own.every(isFailure) ? [describe(name, own)] : [])),
  };
}

/** A client that went away, and a worker that died, say nothing of the upstream. */
function isJudged({ status }: RecentRequest): boolean {
  return status !== null && status !== 499;
}

/** What the upstream refused, and what the client was told so with 4xx, was answered. */
function isFailure({ status, errorCode }: RecentRequest): boolean {
  return (status ?? 0) >= 500 || (errorCode !== null && (status ?? 0) < 400);
}

function describe(name: string, own: readonly RecentRequest[]): FailingUpstream {
  const [newest] = own;
  const upstream = newest?.way.upstream ?? null;
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
  /** Of the key, the user or the group; null: the organization. */
  readonly ownerId: string | null;
  readonly period: LimitPeriod;
  /** What clients were told. */
  readonly errorCode: string;
  readonly count: number;
  /** When the newest one ended. */
  readonly lastMs: number;
}

interface StopCounter {
  /** Newest first. */
  look(request: RecentRequest): void;
  /** Those limits that stopped most first. */
  list(): readonly StoppedRequests[];
}

/** Counts what came on the UTC day of `nowMs`. */
function createStopCounter(nowMs: number): StopCounter {
  const { startMs } = dayAt(nowMs);
  const counted = new Map<string, StoppedRequests>();
  return {
    look(request) {
      const { errorCode } = toldOf(request);
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

/** The check of a key's or an organization's month cap names no period. */
function periodOf({ checks }: RecentRequest): LimitPeriod {
  const told = checks.find(({ passed }) => !passed)?.figures["period"];
  return LIMIT_PERIODS.find((period) => period === told) ?? "month";
}
