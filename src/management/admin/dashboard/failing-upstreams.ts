/**
 * Upstreams that fail for an organization. Each is judged by its own last requests, however few those are among all
 * others: a model that is asked for once an hour is as dead as one that is asked for every second.
 */
import type { RecentRequest } from "../../../data-path/store/types/reporting.ts";
import { describeUpstream } from "../explain/upstream.ts";

export interface FailingUpstream {
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

export interface UpstreamJudge {
  /** Newest first. */
  look(request: RecentRequest): void;
  list(): readonly FailingUpstream[];
}

/** Judges by what ended within the day before. */
export function createUpstreamJudge(nowMs: number): UpstreamJudge {
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
