/** May this key send this request: question and answer. */
import type { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import type { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { AdmittedOf } from "../../../shared/settings/setting.ts";
import type { LimitPeriod } from "../../../shared/settings/limits.ts";
import type { AdmissionDecision, LimitScope } from "./decision.ts";
import type { BucketFill } from "./reporting.ts";
import type { TakenTokens, TokenBucketState, TokenLimit } from "./token-rate.ts";

/** Which record a key's hash belongs to. The pair never changes, so it may be cached for ever. */
export interface KeyReference {
  readonly organizationId: string;
  readonly keyId: string;
}

export interface AdmissionStore {
  /** @param sha256Hex 64 lower-case hexadecimal digits. */
  lookUpKey(sha256Hex: string): Promise<KeyReference | null>;
  /**
   * Key record, bucket, concurrency and caps in one step. Never sent twice, except after the answer `month_changed`,
   * before which nothing was changed.
   */
  admit: Admit;
  /** How full the buckets of these keys are now. Takes nothing; a key that is not there has no entry. */
  readBuckets(organizationId: string, keyIds: readonly string[]): Promise<ReadonlyMap<string, BucketFill>>;
  /** Redis's clock. */
  timeMs(): Promise<number>;
  /**
   * Says that a worker is there, for so long from now on (0: that it goes), on a slot of its own. Returns how many there
   * are over all hosts. May be repeated.
   */
  announceWorker(workerId: string, countsForMs: number): Promise<number>;
}

export interface AdmitInput {
  readonly organizationId: string;
  readonly keyId: string;
  /** SHA-256 of the key that was presented, 64 lower-case hexadecimal digits. */
  readonly presentedHash: string;
  /** Group that it counts to, where that is there, before the key's own and its user's. Left out, null: theirs. */
  readonly groupId?: string | null;
  readonly requestId: string;
  /** For the list of recent requests: "POST /v1/messages". */
  readonly route: string;
  /** Which of the key's two buckets the token comes from. */
  readonly bucket: "requests" | "count_tokens";
  /** The call costs money: caps and the limit of concurrent requests apply. Takes no place: that comes with the hold. */
  readonly metered: boolean;
  /** Tokens of its prompt as far as its head tells, which its token buckets are taken for until more is known. */
  readonly promptTokens: number;
  /** Tokens that shared token buckets set aside for its output; without it none. */
  readonly reservedTokens?: number;
}

/** The store's `admit`, or a stage around it. */
export type Admit = (input: AdmitInput) => Promise<AdmitResult>;

export type AdmitResult = UnknownKeyResult | KnownKeyResult;

/** No such key (any more), or its organization is gone: there are no figures. */
export interface UnknownKeyResult {
  readonly decision: "unknown_key";
  readonly timeMs: number;
}

export interface KnownKeyResult {
  readonly decision: Exclude<AdmissionDecision, "unknown_key">;
  /** Redis's clock. */
  readonly timeMs: number;
  /** UTC calendar month of the decision, "2026-11": what this request costs belongs to it. */
  readonly month: string;
  /** UTC day of the decision, "2026-11-21". */
  readonly day: string;
  readonly key: AdmittedKey;
  readonly organization: AdmittedOrganization;
  /** The key's, if it has one. */
  readonly user: AdmittedOwner | null;
  /** The key's own, else its user's. */
  readonly group: AdmittedOwner | null;
  readonly bucket: BucketFigures;
  /** Other requests in flight; null when the key has no limit of them or the call costs nothing. */
  readonly concurrentRequests: number | null;
  /**
   * Redis has the request among its organization's holds until its final charge, so that it may go upstream before it has
   * a record there. False: it needs a hold, and is among the holds for a minute at most until then.
   */
  readonly isEntered: boolean;
  /** A session of this key may have a cap: a request that names one needs a hold. */
  readonly areSessionsCapped: boolean;
  /** The caps in force, the narrowest owner's first. */
  readonly caps: readonly MetCap[];
  /** The cap that refuses, when one does. */
  readonly reachedCap: AdmittedCap | null;
  /** Redis has not acknowledged all that this process has charged the organization. */
  readonly isBehind: boolean;
  /** The tightest bucket of each type of limit of tokens that the key has; none: it has no such limit. */
  readonly tokenBuckets: readonly TokenBucketState[];
  /** What was taken of them; null: it has no such limit. */
  readonly takenTokens: TakenTokens | null;
  /** The limit of tokens that refuses, when one does. */
  readonly tokenLimit: TokenLimit | null;
}

/** Of the settings what requests still need once they are admitted: `inAdmission` in their tables. */
export interface AdmittedKey extends AdmittedOf<typeof KEY_SETTINGS> {
  readonly id: string;
  readonly display: string;
}

export interface AdmittedOrganization extends AdmittedOf<typeof ORGANIZATION_SETTINGS> {
  readonly id: string;
}

/** A user or a group that the request counts to beside its key and its organization. */
export interface AdmittedOwner {
  readonly id: string;
  readonly name: string;
}

/** A cap with what was spent in its window. */
export interface AdmittedCap {
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  /** With live raises. */
  readonly cents: number;
  readonly raisedCents: number;
  readonly spentMicrocents: bigint;
}

/** A cap that a request meets. */
export interface MetCap extends AdmittedCap {
  /** What of its spend is this process's own. */
  readonly ownMicrocents: bigint;
}

export interface BucketFigures {
  /** Whole requests left in the bucket of requests after this one; it is this bucket's for count_tokens too. */
  readonly remaining: number;
  /** Capacity of the bucket of requests. */
  readonly capacity: number;
  /** Milliseconds until the bucket of requests is full again. */
  readonly resetMs: number;
  /** Whole seconds, rounded up and not clamped, until the bucket that refused (of tokens, too) has one; 0 when none did. */
  readonly retryAfterSeconds: number;
}
