/** Input and result of an admission. */
import type { KEY_SETTINGS } from "../settings/key.ts";
import type { ORGANIZATION_SETTINGS } from "../settings/organization.ts";
import type { AdmittedOf } from "../settings/setting.ts";
import type { LimitPeriod } from "../settings/limits.ts";
import type { AdmissionDecision, LimitScope } from "./decision.ts";
import type { BucketFill } from "./reporting.ts";
import type { TakenTokens, TokenBucketState, TokenLimit } from "./token-rate.ts";

/** Organization and id of a key, found by its hash. The pair never changes, so it may be cached for ever. */
export interface KeyReference {
  readonly organizationId: string;
  readonly keyId: string;
}

export interface AdmissionStore {
  /** @param sha256Hex 64 lower-case hexadecimal digits. */
  lookUpKey(sha256Hex: string): Promise<KeyReference | null>;
  /**
   * Checks key record, bucket, concurrency and caps in one step. Never sent twice, except after the reply
   * `month_changed`, which has changed nothing.
   */
  admit: Admit;
  /** Reads how full the buckets of these keys are. Takes nothing; unknown keys have no entry. */
  readBuckets(organizationId: string, keyIds: readonly string[]): Promise<ReadonlyMap<string, BucketFill>>;
  /** Returns the time of Redis's clock. */
  timeMs(): Promise<number>;
  /**
   * Registers a worker for this long (0: removes it), on a slot of its own. Returns the number of workers on
   * all hosts. May be repeated.
   */
  announceWorker(workerId: string, countsForMs: number): Promise<number>;
}

export interface AdmitInput {
  readonly organizationId: string;
  readonly keyId: string;
  /** SHA-256 of the presented key, 64 lower-case hexadecimal digits. */
  readonly presentedHash: string;
  /**
   * Group that the request counts for if it exists, in place of the key's or its user's group. Omitted or
   * null: theirs.
   */
  readonly groupId?: string | null;
  readonly requestId: string;
  /** Route for the list of recent requests: "POST /v1/messages". */
  readonly route: string;
  /** Bucket from which the token is taken: one of the key's two. */
  readonly bucket: "requests" | "count_tokens";
  /**
   * True if the call costs money: caps and the limit of concurrent requests apply. Its record takes the slot,
   * not the admission.
   */
  readonly metered: boolean;
  /** Prompt tokens estimated from the request headers; token buckets are charged this until more is known. */
  readonly promptTokens: number;
  /** Output tokens that shared token buckets reserve. Default: none. */
  readonly reservedTokens?: number;
}

/** The store's `admit`, or a wrapper of it. */
export type Admit = (input: AdmitInput) => Promise<AdmitResult>;

export type AdmitResult = UnknownKeyResult | KnownKeyResult;

/** Result for a key or organization that does not exist or was deleted: without figures. */
export interface UnknownKeyResult {
  readonly decision: "unknown_key";
  readonly timeMs: number;
}

export interface KnownKeyResult {
  readonly decision: Exclude<AdmissionDecision, "unknown_key">;
  /** Time by Redis's clock. */
  readonly timeMs: number;
  /** UTC calendar month of the decision, "2026-11". The request's cost belongs to it. */
  readonly month: string;
  /** UTC day of the decision, "2026-11-21". */
  readonly day: string;
  readonly key: AdmittedKey;
  readonly organization: AdmittedOrganization;
  /** The key's user, if it has one. */
  readonly user: AdmittedOwner | null;
  /** The key's own group, or its user's. */
  readonly group: AdmittedOwner | null;
  readonly bucket: BucketFigures;
  /** Other requests in flight; null if the key has no limit of them or the call costs nothing. */
  readonly concurrentRequests: number | null;
  /**
   * True if Redis has the request among its organization's open requests until its final charge, so that it
   * may go upstream before it has a record. False: the request needs a record, and stays among the open
   * requests for one minute at most until then.
   */
  readonly isEntered: boolean;
  /** True if a session of this key may have a cap: a request that names a session needs a record. */
  readonly areSessionsCapped: boolean;
  /** Caps in force, narrowest scope first. */
  readonly caps: readonly ApplicableCap[];
  /** Cap that rejects the request, or null. */
  readonly reachedCap: AdmittedCap | null;
  /** True if Redis has not acknowledged all charges of this process for the organization. */
  readonly isBehind: boolean;
  /** Tightest bucket of each type of token limit that the key has; empty without token limits. */
  readonly tokenBuckets: readonly TokenBucketState[];
  /** Tokens taken from the buckets; null without token limits. */
  readonly takenTokens: TakenTokens | null;
  /** Token limit that rejects the request, or null. */
  readonly tokenLimit: TokenLimit | null;
}

/** Settings that requests need after their admission: those with `inAdmission` in their tables. */
export interface AdmittedKey extends AdmittedOf<typeof KEY_SETTINGS> {
  readonly id: string;
  readonly display: string;
}

export interface AdmittedOrganization extends AdmittedOf<typeof ORGANIZATION_SETTINGS> {
  readonly id: string;
}

/** User or group that the request counts for, in addition to its key and organization. */
export interface AdmittedOwner {
  readonly id: string;
  readonly name: string;
}

/** Cap with the spend in its window. */
export interface AdmittedCap {
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  /** Includes active temporary increases. */
  readonly cents: number;
  readonly raisedCents: number;
  readonly spentMicrocents: bigint;
}

/** Cap that applies to a request. */
export interface ApplicableCap extends AdmittedCap {
  /** Part of the spend that this process charged. */
  readonly ownMicrocents: bigint;
}

export interface BucketFigures {
  /** Whole requests left in the bucket of requests after this one; for count_tokens, in that call's bucket. */
  readonly remaining: number;
  readonly capacity: number;
  /** Milliseconds until the bucket of requests is full again. */
  readonly resetMs: number;
  /**
   * Whole seconds, rounded up and not clamped, until the bucket that rejected (of requests or tokens) allows
   * a request; 0 if none did.
   */
  readonly retryAfterSeconds: number;
}
