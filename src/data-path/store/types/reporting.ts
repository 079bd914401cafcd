/** What was spent, used and refused: the figures that people and clients read. */
import type { TokenBucketState } from "./token-rate.ts";
import type { Limit } from "../../../shared/settings/limits.ts";
import type { AdmissionDecision, LimitScope } from "./decision.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import type { UsageFigures } from "../../../shared/usage/usage-figures.ts";
import type { AuditFields, AuditInput } from "./audit.ts";
import type { Page, PageInput } from "./page.ts";

/** One check of a request and the figures it was decided by. */
export interface Check {
  /** "key", "organization", "rate_limit", "concurrency", "key_hard_cap", "organization_hard_cap", "model", … */
  readonly name: string;
  readonly passed: boolean;
  readonly figures: Readonly<Record<string, string | number | boolean | null>>;
}

/** How far a request came, in whole milliseconds from its admission on. Null: it did not come so far. */
export interface RequestTimeline {
  /** Its whole body was there. */
  readonly bodyMs: number | null;
  /** What it can cost was held, and it was handed to the upstream. */
  readonly routedMs: number | null;
  /** The upstream's answer began. */
  readonly upstreamMs: number | null;
  /** The first piece of a streamed answer went on to the client. */
  readonly firstTokenMs: number | null;
  /** What it cost, or why it was refused, was known. */
  readonly endMs: number;
}

/** What the upstream of a request did. */
export interface UpstreamEnd {
  /** As `gateway.yaml` calls it. */
  readonly name: string;
  /** Null: it never answered. */
  readonly status: number | null;
  /** What went wrong, in Envoy's words or ours; null: nothing. */
  readonly cause: string | null;
}

/** The way of a request. `timeline` is null where nobody measured it. */
export interface RequestWay {
  readonly timeline: RequestTimeline | null;
  /** Null: it was not handed to one. */
  readonly upstream: UpstreamEnd | null;
  /** What the client wrote as its model, where that is no catalog id. Left out: it is one, or nobody knows. */
  readonly requestedModel?: string | undefined;
}

export const UNKNOWN_WAY: RequestWay = { timeline: null, upstream: null };

export interface RecentRequest extends TokenUsage {
  readonly way: RequestWay;
  readonly requestId: string;
  readonly keyId: string;
  /** Redis's clock when the entry was made: the end of the request. */
  readonly recordedAtMs: number;
  readonly route: string;
  readonly model: string | null;
  /** In the form of `tags.ts`; '' also where the admission refused it. */
  readonly tags: string;
  /** In the form of `owner-ids.ts`: whose it was when it was admitted. */
  readonly owners: string;
  /** That it named; null also where the admission refused it. */
  readonly session: string | null;
  /** Why the admission refused it, or null: then it says by itself what its client was told (limits/told.ts). */
  readonly refusal: AdmissionDecision | null;
  /** HTTP status; null with a refusal, and when the request's worker died and another closed its record. */
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly estimated: boolean;
  readonly costMicrocents: bigint;
  readonly checks: readonly Check[];
}

/** An entry for a request that cost nothing. */
export interface RecordedRequest {
  /** Left out: nobody measured it. */
  readonly way?: RequestWay | undefined;
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly route: string;
  readonly model: string | null;
  /** In the form of `tags.ts`. Left out: none. */
  readonly tags?: string | undefined;
  /** In the form of `owner-ids.ts`. Left out: nobody's. */
  readonly owners?: string | undefined;
  /** Left out: none. */
  readonly session?: string | undefined;
  readonly status: number;
  readonly errorCode: string | null;
  readonly checks: readonly Check[];
}

/** Which of the recent requests are looked for. */
export interface RequestFilter {
  /** Requests that ended before are not read at all. */
  readonly fromMs: number | null;
  readonly matches: (request: RecentRequest) => boolean;
}

export interface SpendFigures {
  readonly month: string;
  readonly timeMs: number;
  readonly organizationMicrocents: bigint;
  /** Worst cases of requests in flight; 0 without strict caps. */
  readonly organizationHeldMicrocents: bigint;
  readonly keyMicrocents: ReadonlyMap<string, bigint>;
}

/** A limit in force, with what was spent in its window. */
export interface LimitStatus extends Limit {
  readonly scope: LimitScope;
  /** What live raises add to `cents`, which has them. */
  readonly raisedCents: number;
  readonly spentMicrocents: bigint;
}

export interface LimitReading {
  /** Redis's clock: the windows are those of this time. */
  readonly timeMs: number;
  /** The narrowest owner's first. */
  readonly limits: readonly LimitStatus[];
}

export interface UsageRow extends UsageFigures {
  readonly day: string;
  /** Null for a spend correction of the organization as a whole. */
  readonly keyId: string | null;
  /** In the form of `owner-ids.ts`: whose the requests were when they were admitted. */
  readonly owners: string;
  /** Null for a spend correction. */
  readonly model: string | null;
  /** In the form of `tags.ts`: its own combination, or `OTHER_TAGS`. */
  readonly tags: string;
}

/** What of a month's usage is looked at; what is left out leaves nothing out. */
export interface UsageOf {
  readonly keyId?: string | undefined;
  readonly userId?: string | undefined;
}

export interface MonthUsage extends TagCombinations {
  readonly month: string;
  readonly rows: UsageRow[];
}

export interface TagCombinations {
  /** Combinations of tags that are kept apart so far. */
  readonly tagCombinations: number;
  /** Whether there were more, which count as `OTHER_TAGS`. */
  readonly hasOtherTags: boolean;
}

/** A key's bucket of requests, in whole requests, and those of its own limits of tokens. */
export interface BucketFill {
  /** What would pass at once now. */
  readonly remaining: number;
  readonly capacity: number;
  readonly tokens: readonly TokenBucketState[];
}

/** What the log of requests says of one day, key, its owners and model: a row for each combination of tags. */
export interface LoggedUsageRows {
  readonly day: string;
  readonly keyId: string;
  readonly owners: string;
  readonly model: string;
  readonly rows: readonly UsageRow[];
}

export interface RaiseUsageResult {
  /** "enough": nothing was missing. "in_flight": requests are under way, nothing was changed. */
  readonly outcome: "raised" | "enough" | "in_flight";
  readonly addedMicrocents: bigint;
}

export interface CorrectInput {
  readonly organizationId: string;
  /** Null: no key's. */
  readonly keyId: string | null;
  /** Whose it is besides, in the form of `owner-ids.ts`; left out: nobody's. */
  readonly owners?: string;
  /** Made by the caller, so that a repeat after a lost answer counts once. */
  readonly correctionId: string;
  /** Signed. */
  readonly amountMicrocents: bigint;
  /** Kept with the correction, and given back to who repeats it. */
  readonly details?: CorrectionDetails;
}

/** What a correction was made of, as its caller knows it. */
export type CorrectionDetails = AuditFields;

export type CorrectResult =
  | { readonly outcome: "not_found" }
  | {
      readonly outcome: "applied" | "repeated";
      /** That it counts in: of a repeat that of the first one. */
      readonly month: string;
      readonly organizationMicrocents: bigint;
      readonly keyMicrocents: bigint | null;
      /** Of the first one with this id; null where it kept none. */
      readonly details: CorrectionDetails | null;
    };

export interface RecentRequestStore {
  /** Adds an entry to the recent requests: for requests that were refused after their admission. */
  recordRequest(request: RecordedRequest): Promise<void>;
  /** One request by its id, or null; with `keyId` only that key's. Bounded scan of the recent requests. */
  findRequest(organizationId: string, requestId: string, keyId: string | null): Promise<RecentRequest | null>;
  /**
   * Newest first. With a filter one call looks through 2,000 at most: its page may then hold fewer than `limit`, none
   * even, and have a `next` all the same.
   */
  listRequests(
    organizationId: string,
    page: PageInput,
    filter?: RequestFilter | null,
  ): Promise<Page<RecentRequest>>;
}

export interface UsageStore {
  /**
   * Spend of one month; this month's (by Redis's clock) when `month` is null. Of these keys, or of all when left out;
   * a key that spent nothing has no entry.
   */
  readSpend(
    organizationId: string,
    month: string | null,
    keyIds?: readonly string[] | null,
  ): Promise<SpendFigures>;
  /**
   * The limits that count for requests of a key (null: none is meant), of owners in the form of `owner-ids.ts` and of their
   * organization.
   */
  readLimits(
    organizationId: string,
    of: { readonly keyId: string | null; readonly owners: string },
  ): Promise<LimitReading>;
  /** Usage of one month by day, key, model and tags, in this order; this month's when `month` is null. Whole: for commands. */
  readUsage(organizationId: string, month: string | null): Promise<MonthUsage>;
  /**
   * The same of one day, "2026-11-21": read in pieces, so that neither Redis nor this process keeps others waiting. Of a
   * key or a user only those rows leave Redis.
   */
  readUsageOfDay(organizationId: string, day: string, of?: UsageOf): Promise<readonly UsageRow[]>;
  /** How many combinations of tags a month, "2026-11", has. */
  countTagCombinations(organizationId: string, month: string): Promise<TagCombinations>;
  /**
   * Adds a signed amount to this month's spend, and to its usage. May be repeated with the same id.
   * Rejects with a RangeError when the amount is 0 or beyond 2^53.
   */
  correct(input: CorrectInput, audit?: (month: string) => AuditInput): Promise<CorrectResult>;
  /** What a correction was made of that was made already; null where there is none, or it kept nothing. */
  findCorrection(organizationId: string, correctionId: string): Promise<CorrectionDetails | null>;
  /**
   * The part of a month's usage that requests have which another than their owner has closed, and which have had no final
   * charge since: of each request a row of its own, by organization. As far as there are records of them: seven days.
   * Looks through all records of requests.
   */
  readClosedUsage(month: string): Promise<ReadonlyMap<string, readonly UsageRow[]>>;
  /**
   * Raises the usage rows of a day, key, its owners and model, and their month's spend with them, to what the log of requests says;
   * lowers nothing, and raises nothing above what the log says of all of them. Nothing while requests of the organization
   * are in flight. May be repeated.
   */
  raiseUsage(
    organizationId: string,
    logged: LoggedUsageRows,
    /** Of those rows that Redis has. */
    tagsInRedis: readonly string[],
  ): Promise<RaiseUsageResult>;
}
