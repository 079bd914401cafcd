/** Which limits stopped requests today, by the organization's recent ones. */
import { dayAt } from "../../../shared/time/calendar.ts";
import { capScopeOf } from "../../../data-path/limits/spend-cap.ts";
import { toldOf } from "../../../data-path/limits/told.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import { timeOfId } from "../../../data-path/store/ids.ts";
import type { LimitScope } from "../../../data-path/store/types/decision.ts";
import { parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import type { RecentRequest } from "../../../data-path/store/types/reporting.ts";

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

export interface StopCounter {
  /** Newest first. */
  look(request: RecentRequest): void;
  /** Those limits that stopped most first. */
  list(): readonly StoppedRequests[];
}

/** Counts what came on the UTC day of `nowMs`. */
export function createStopCounter(nowMs: number): StopCounter {
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
