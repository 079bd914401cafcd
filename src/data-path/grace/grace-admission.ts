/**
 * Admission while Redis is unreachable: keys that this worker has admitted or rejected in the last minutes keep
 * working for the grace period, with their last known state. Redis is always asked first, so that its first reply
 * ends the outage. There are no guesses: unknown keys, tokens that ask for another group than before, organizations
 * with strict caps, keys with token limits, and everything after the grace period get Redis's error (503). So does
 * a request that only a temporary increase would allow, because the increase may have ended. Without a fallback,
 * these requests wait longer for Redis. The last known state has three parts: the record, which still rejects for
 * the same reasons; the rate, of which each worker grants its share; and the spend of each window and scope, to
 * which this worker adds its own charges.
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
} from "../../shared/stored/admission.ts";
import { fitsShare } from "../limits/errors/concurrency-limit.ts";
import { GraceBucket } from "./grace-bucket.ts";
import { isUnreachable } from "./unreachable.ts";
import { compareCaps, type KnownCap, rememberCaps } from "./grace-caps.ts";
import type { GraceOutage } from "./grace-outage.ts";
import type { GraceSpend } from "./grace-spend.ts";

export interface GraceAdmissionOptions {
  /** Asks Redis for a key with a fallback. */
  readonly admit: Admit;
  /** Asks Redis for all other keys, with a longer timeout. */
  readonly admitPatiently: Admit;
  readonly outage: GraceOutage;
  readonly spend: Pick<GraceSpend, "inWindow">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Returns how many workers of all hosts share a key's rate; at least 1. */
  readonly workerCount: () => number;
  /** Counts a key's requests in flight on this worker. */
  readonly countInFlight: (keyId: string) => number;
  /** Returns whether charges of this worker are in the spool, unknown to Redis. */
  readonly hasUnsentCharges: () => boolean;
  /** Called for a rejected request whose admission Redis may have executed. */
  readonly abandon: (input: AdmitInput) => void;
}

/** Last known state of a key. */
interface LastKnown {
  readonly result: KnownKeyResult;
  /** Group that the caller's token asked for; null: none. The result only applies to this group. */
  readonly wantedGroupId: string | null;
  readonly atMs: number;
  /** True if Redis lacks charges of this organization that this worker has counted: some are in the spool. */
  readonly lacksCharges: boolean;
  readonly caps: readonly KnownCap[];
  /** Buckets of an earlier outage continue: tokens granted then are not granted again. */
  buckets: Buckets | null;
  /** True if the buckets were capped at the rest of Redis's bucket. */
  isCapped: boolean;
}

interface Buckets {
  readonly requests: GraceBucket;
  readonly count_tokens: GraceBucket;
}

/** Rejections that only a change of a record can end. */
const LASTING_REJECTIONS: ReadonlySet<KnownKeyResult["decision"]> = new Set([
  "key_disabled",
  "user_disabled",
  "organization_suspended",
]);
/** Maximum age of the last known state. */
const MAX_AGE_MS = 10 * 60_000;
/** Bound of keys; about two kilobytes each. */
const MAX_KEYS = 20_000;

/** Wraps the store's `admit`. If the grace period does not apply, rejects with the store's error. */
export function createGraceAdmission(options: GraceAdmissionOptions): Admit {
  const known = new Map<string, LastKnown>();
  return async (input) => {
    const before = known.get(input.presentedHash);
    const hasFallback = before !== undefined && canContinue(before, input, options);
    try {
      const result = await (hasFallback ? options.admit(input) : options.admitPatiently(input));
      options.outage.reached(input.organizationId);
      const last = remember(known, input, result, options);
      return last?.lacksCharges === true ? applyOwnCount(last, input, options) : result;
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      options.outage.missed(input.organizationId);
      const last = known.get(input.presentedHash);
      if (last === undefined || !canContinue(last, input, options)) {
        options.abandon(input);
        throw error;
      }
      const result = decide(last, input, options);
      if (result?.decision !== "admitted") options.abandon(input);
      if (result === null) throw error;
      return result;
    }
  };
}

/** Null: the key does not exist. */
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
  // The spool also has charges of other organizations, whose cluster node may be unreachable for hours.
  const lacksCharges = options.hasUnsentCharges() && result.isBehind;
  const entry: LastKnown = {
    result,
    wantedGroupId: input.groupId ?? null,
    atMs: options.clock.monotonicMs(),
    lacksCharges,
    caps: rememberCaps(result, lacksCharges ? (before?.caps ?? []) : []),
    buckets: isSameRate ? before.buckets : null,
    isCapped: false,
  };
  setBounded(known, input.presentedHash, entry, MAX_KEYS);
  return entry;
}

/** Corrects a decision of Redis that was based on spend without this worker's latest charges. */
function applyOwnCount(last: LastKnown, input: AdmitInput, options: GraceAdmissionOptions): KnownKeyResult {
  const { result } = last;
  if (result.decision !== "admitted" || !input.metered) return result;
  const { reached } = compareCaps(last.caps, result.day, options.spend);
  if (reached === null) return result;
  options.abandon(input);
  return {
    ...result,
    decision: `${reached.scope}_cap_reached`,
    reachedCap: reached,
    isEntered: false,
  };
}

function canContinue(
  { result, wantedGroupId, atMs }: LastKnown,
  { organizationId, groupId = null }: AdmitInput,
  { outage, clock }: GraceAdmissionOptions,
): boolean {
  if (groupId !== wantedGroupId) return false;
  if (result.organization.strictCaps || result.tokenBuckets.length > 0) return false;
  if (clock.monotonicMs() - atMs > MAX_AGE_MS) return false;
  return outage.isInGrace(organizationId);
}

/** Returns null if a decision is impossible without Redis. */
function decide(last: LastKnown, input: AdmitInput, options: GraceAdmissionOptions): KnownKeyResult | null {
  const { result, atMs } = last;
  const nowMs = options.clock.monotonicMs();
  // Redis's clock, extrapolated by this host's.
  const timeMs = result.timeMs + Math.round(nowMs - atMs);
  const month = monthAt(timeMs).name;
  const { key } = result;
  const workerCount = options.workerCount();
  const buckets = openBuckets(last, workerCount, nowMs);
  const day = dayAt(timeMs).name;
  const { reached, isUnsure } = compareCaps(last.caps, day, options.spend);
  const asNow = { ...result, timeMs, month, day, reachedCap: null };
  const isLimited = input.metered && key.maxConcurrentRequests !== null;
  const inFlight = isLimited ? options.countInFlight(key.id) : null;
  const decision = check(asNow, input, {
    bucket: buckets[input.bucket],
    nowMs,
    inFlight,
    workerCount,
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
    workerCount: number;
    reached: AdmittedCap | null;
  },
): KnownKeyResult["decision"] {
  if (LASTING_REJECTIONS.has(decision)) return decision;
  if (key.expiresAtMs !== null && timeMs >= key.expiresAtMs) return "key_expired";
  if (!local.bucket.take(local.nowMs)) return "rate_limited";
  if (!metered) return "admitted";
  // Only checks, as Redis does: the slot is taken once the body has arrived.
  if (!fitsShare(key.maxConcurrentRequests, local.workerCount, local.inFlight ?? 0)) {
    return "concurrency_limited";
  }
  return local.reached === null ? "admitted" : `${local.reached.scope}_cap_reached`;
}

/**
 * Opens this worker's share of the key's buckets. The request bucket begins with at most its share of the tokens
 * that Redis's bucket must have by now.
 */
function openBuckets(last: LastKnown, workerCount: number, nowMs: number): Buckets {
  const { result, atMs } = last;
  const perMinute = requestsPerMinuteOf(result.key);
  const { capacity, remaining } = result.bucket;
  const rate = { perMinute, workerCount, nowMs };
  last.buckets ??= {
    requests: new GraceBucket({ ...rate, capacity }),
    count_tokens: new GraceBucket({ ...rate, capacity: countBucketCapacity(perMinute) }),
  };
  if (!last.isCapped) {
    const refilled = ((nowMs - atMs) * perMinute) / 60_000;
    last.buckets.requests.cap((remaining + refilled) / workerCount, nowMs);
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
