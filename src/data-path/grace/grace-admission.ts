/**
 * Admission while Redis is unreachable: keys that this worker has admitted or refused in the last minutes go on for the
 * grace period, by what was last known of them.
 *
 * Redis is asked first, every time, so that its first answer ends the outage. Never on a guess: a key that this worker
 * has not seen, a token that asks for another group than the last one did, an organization with strict caps, a key that
 * meets limits of tokens per minute, and everything past the grace period get the error that Redis failed with (503). So does
 * a request that only a raise lets through, which may have ended since. Having nothing to fall back on, these wait longer
 * for Redis. Last known are the record (what refuses by it still refuses), the rate, of which each worker grants its share,
 * and spend in each window of each owner, to which this worker adds what it has counted itself.
 */
import { countBucketCapacity } from "../limits/bucket-capacity.ts";
import { requestsPerMinuteOf } from "../../shared/settings/key.ts";
import type { Clock } from "../../shared/time/clock.ts";
import { dayAt, monthAt } from "../../shared/time/calendar.ts";
import { setBounded } from "../../shared/collections/set-bounded.ts";
import type {
  AdmitResult,
  Admit,
  AdmittedCap,
  AdmitInput,
  BucketFigures,
  KnownKeyResult,
} from "../store/types/admission.ts";
import { fitsShare } from "../limits/concurrency-limit.ts";
import { GraceBucket } from "./grace-bucket.ts";
import { isOutOfReach } from "./out-of-reach.ts";
import { compareCaps, type KnownCap, rememberCaps } from "./grace-caps.ts";
import type { GraceOutage } from "./grace-outage.ts";
import type { GraceSpend } from "./grace-spend.ts";

export interface GraceAdmissionOptions {
  /** Asks Redis for a key that can go on without its answer. */
  readonly admit: Admit;
  /** Asks Redis for all others, and waits longer. */
  readonly admitPatiently: Admit;
  readonly outage: GraceOutage;
  readonly spend: Pick<GraceSpend, "inWindow">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** How many workers, of all hosts, share a key's rate; at least 1. */
  readonly shares: () => number;
  /** Requests of a key that this worker has in flight. */
  readonly countInFlight: (keyId: string) => number;
  /** Charges of this worker wait in the spool: Redis does not know of them. */
  readonly isBehind: () => boolean;
  /** A request is refused whose admission Redis may have executed all the same. */
  readonly leave: (input: AdmitInput) => void;
}

/** What was last known of a key. */
interface LastKnown {
  readonly result: KnownKeyResult;
  /** The group that the caller's token asked for; null: none. The result is about no other. */
  readonly wantedGroupId: string | null;
  readonly atMs: number;
  /** Redis does not have all charges of this organization that this worker has counted: some wait in the spool. */
  readonly isBehind: boolean;
  readonly caps: readonly KnownCap[];
  /** The buckets of an outage before go on: what was granted then is not granted again. */
  buckets: Buckets | null;
  /** Whether the buckets were capped at what Redis's has left. */
  isCapped: boolean;
}

interface Buckets {
  readonly requests: GraceBucket;
  readonly count_tokens: GraceBucket;
}

/** Refusals by what only a change of a record ends. */
const STANDING: ReadonlySet<KnownKeyResult["decision"]> = new Set([
  "key_disabled",
  "user_disabled",
  "organization_suspended",
]);
/** "The last minutes". */
const MAX_AGE_MS = 10 * 60_000;
/** About two kilobytes each. */
const MAX_KEYS = 20_000;

/** Wraps the store's `admit`. Rejects as it does where the grace period does not apply. */
export function createGraceAdmission(options: GraceAdmissionOptions): Admit {
  const known = new Map<string, LastKnown>();
  return async (input) => {
    const before = known.get(input.presentedHash);
    const hasFallback = before !== undefined && mayGoOn(before, input, options);
    try {
      const result = await (hasFallback ? options.admit(input) : options.admitPatiently(input));
      options.outage.reached(input.organizationId);
      const last = remember(known, input, result, options);
      return last?.isBehind === true ? holdToOwnCount(last, input, options) : result;
    } catch (error) {
      if (!isOutOfReach(error)) throw error;
      options.outage.missed(input.organizationId);
      const last = known.get(input.presentedHash);
      if (last === undefined || !mayGoOn(last, input, options)) {
        options.leave(input);
        throw error;
      }
      const result = decide(last, input, options);
      if (result?.decision !== "admitted") options.leave(input);
      if (result === null) throw error;
      return result;
    }
  };
}

/** Null: there is no such key. */
function remember(
  known: Map<string, LastKnown>,
  input: AdmitInput,
  result: AdmitResult,
  options: GraceAdmissionOptions,
): LastKnown | null {
  if (result.decision === "unknown_key") {
    known.delete(input.presentedHash);
    return null;
  }
  const before = known.get(input.presentedHash);
  const isSameRate =
    before !== undefined && requestsPerMinuteOf(before.result.key) === requestsPerMinuteOf(result.key);
  // The spool has other organizations' charges, too, whose node of a cluster may be away for hours.
  const isBehind = options.isBehind() && result.isBehind;
  const entry: LastKnown = {
    result,
    wantedGroupId: input.groupId ?? null,
    atMs: options.clock.monotonicMs(),
    isBehind,
    caps: rememberCaps(result, isBehind ? (before?.caps ?? []) : []),
    buckets: isSameRate ? before.buckets : null,
    isCapped: false,
  };
  setBounded(known, input.presentedHash, entry, MAX_KEYS);
  return entry;
}

/** Redis has admitted it, or not, by spend in which charges of this worker are missing. */
function holdToOwnCount(last: LastKnown, input: AdmitInput, options: GraceAdmissionOptions): KnownKeyResult {
  const { result } = last;
  if (result.decision !== "admitted" || !input.metered) return result;
  const { reached } = compareCaps(last.caps, result.day, options.spend);
  if (reached === null) return result;
  options.leave(input);
  return {
    ...result,
    decision: `${reached.scope}_cap_reached`,
    reachedCap: reached,
    isEntered: false,
  };
}

function mayGoOn(
  { result, wantedGroupId, atMs }: LastKnown,
  { organizationId, groupId = null }: AdmitInput,
  { outage, clock }: GraceAdmissionOptions,
): boolean {
  if (groupId !== wantedGroupId) return false;
  if (result.organization.strictCaps || result.tokenBuckets.length > 0) return false;
  if (clock.monotonicMs() - atMs > MAX_AGE_MS) return false;
  return outage.isInGrace(organizationId);
}

/** Null: it cannot be decided without Redis. */
function decide(last: LastKnown, input: AdmitInput, options: GraceAdmissionOptions): KnownKeyResult | null {
  const { result, atMs } = last;
  const nowMs = options.clock.monotonicMs();
  // Redis's clock, carried on by this host's.
  const timeMs = result.timeMs + Math.round(nowMs - atMs);
  const month = monthAt(timeMs).name;
  const { key } = result;
  const shares = options.shares();
  const buckets = openBuckets(last, shares, nowMs);
  const day = dayAt(timeMs).name;
  const { reached, isUnsure } = compareCaps(last.caps, day, options.spend);
  const asNow = { ...result, timeMs, month, day, reachedCap: null };
  const isLimited = input.metered && key.maxConcurrentRequests !== null;
  const inFlight = isLimited ? options.countInFlight(key.id) : null;
  const decision = check(asNow, input, {
    bucket: buckets[input.bucket],
    nowMs,
    inFlight,
    shares,
    reached,
  });
  if (decision === "admitted" && input.metered && isUnsure) return null;
  const reachedCap = decision.endsWith("_cap_reached") ? reached : null;
  const bucket = describeBucket(buckets, input, result.bucket.capacity, decision === "rate_limited");
  return { ...asNow, decision, reachedCap, bucket, concurrentRequests: inFlight, isEntered: false };
}

function check(
  { decision, timeMs, key }: KnownKeyResult,
  { metered }: AdmitInput,
  local: {
    bucket: GraceBucket;
    nowMs: number;
    inFlight: number | null;
    shares: number;
    reached: AdmittedCap | null;
  },
): KnownKeyResult["decision"] {
  if (STANDING.has(decision)) return decision;
  if (key.expiresAtMs !== null && timeMs >= key.expiresAtMs) return "key_expired";
  if (!local.bucket.take(local.nowMs)) return "rate_limited";
  if (!metered) return "admitted";
  // Only looks, as Redis does: the place is taken once the body is there.
  if (!fitsShare(key.maxConcurrentRequests, local.shares, local.inFlight ?? 0)) return "concurrency_limited";
  return local.reached === null ? "admitted" : `${local.reached.scope}_cap_reached`;
}

/** This worker's share, beginning with no more than what must be left in Redis's bucket by now. */
function openBuckets(last: LastKnown, shares: number, nowMs: number): Buckets {
  const { result, atMs } = last;
  const perMinute = requestsPerMinuteOf(result.key);
  const { capacity, remaining } = result.bucket;
  const rate = { perMinute, shares, nowMs };
  last.buckets ??= {
    requests: new GraceBucket({ ...rate, capacity }),
    count_tokens: new GraceBucket({ ...rate, capacity: countBucketCapacity(perMinute) }),
  };
  if (!last.isCapped) {
    const refilled = ((nowMs - atMs) * perMinute) / 60_000;
    last.buckets.requests.cap((remaining + refilled) / shares, nowMs);
    last.isCapped = true;
  }
  return last.buckets;
}

function describeBucket(
  buckets: Buckets,
  { bucket }: AdmitInput,
  capacity: number,
  isRefused: boolean,
): BucketFigures {
  const { remaining, resetMs } = buckets.requests;
  return {
    remaining,
    capacity,
    resetMs,
    retryAfterSeconds: isRefused ? buckets[bucket].retryAfterSeconds : 0,
  };
}
