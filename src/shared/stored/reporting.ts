/** Figures for people and clients: spend, usage and rejections. */
import type { TokenBucketState } from "./token-rate.ts";
import type { Limit, LimitPeriod } from "../settings/limits.ts";
import type { AdmissionDecision, LimitScope } from "./decision.ts";
import type { TokenUsage } from "../usage/token-usage.ts";
import type { UsageAmounts, UsageFigures } from "../usage/usage-figures.ts";
import type { AuditFields, AuditInput } from "./audit.ts";
import type { Page, PageInput } from "./page.ts";

/** One check of a request with the figures that decided it. */
export interface Check {
  /** "key", "organization", "rate_limit", "concurrency", "key_hard_cap", "organization_hard_cap", "model", … */
  readonly name: string;
  readonly passed: boolean;
  readonly figures: Readonly<Record<string, string | number | boolean | null>>;
}

/** Milestones of a request, in whole milliseconds since its admission. Null: not reached. */
export interface RequestTimeline {
  /** The whole body had arrived. */
  readonly bodyMs: number | null;
  /** The request had its record and was handed to the upstream. */
  readonly routedMs: number | null;
  /** The upstream's response began. */
  readonly upstreamMs: number | null;
  /** The first piece of a streamed response was sent to the client. */
  readonly firstTokenMs: number | null;
  /** The cost, or the reason of the rejection, was known. */
  readonly endMs: number;
}

/** Outcome of a request at its upstream. */
export interface UpstreamEnd {
  /** Name of the upstream in `gateway.yaml`. */
  readonly name: string;
  /** Status; null: the upstream never responded. */
  readonly status: number | null;
  /** Failure, in Envoy's words or ours; null: none. */
  readonly cause: string | null;
}

/** Timeline and upstream outcome of a request. `timeline` is null if it was not measured. */
export interface RequestTrace {
  readonly timeline: RequestTimeline | null;
  /** Null: the request was not handed to an upstream. */
  readonly upstream: UpstreamEnd | null;
  /** Model name in the request, if it is not a catalog id. Omitted: it is one, or it is unknown. */
  readonly requestedModel?: string | undefined;
  /** Header or field whose session kept the request on one server of its upstream. Omitted: none. */
  readonly pinnedBy?: string | undefined;
}

export const UNKNOWN_TRACE: RequestTrace = { timeline: null, upstream: null };

export interface RecentRequest extends TokenUsage, UsageAmounts {
  readonly trace: RequestTrace;
  readonly requestId: string;
  readonly keyId: string;
  /** Redis's clock when the entry was written: the end of the request. */
  readonly recordedAtMs: number;
  readonly route: string;
  readonly model: string | null;
  /** Tags in the form of `tags.ts`; '' also if the admission rejected them. */
  readonly tags: string;
  /** Owners at admission, in the form of `owner-ids.ts`. */
  readonly owners: string;
  /** Session that the request named; null also if the admission rejected it. */
  readonly session: string | null;
  /**
   * Reason for a rejection at admission, or null. With a reason, limits/reports/client-outcome.ts derives the
   * client's response from the entry.
   */
  readonly refusal: AdmissionDecision | null;
  /** HTTP status; null with a rejection, or if the request's worker died and another closed its record. */
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly estimated: boolean;
  readonly checks: readonly Check[];
}

/** Entry for a request that is only listed: its cost is 0, or counted elsewhere. */
export interface RecordedRequest {
  /** End and figures of a request that ended earlier; later than that of the newest entry. Omitted: now, no figures. */
  readonly ended?: { readonly atMs: number; readonly figures: UsageFigures } | undefined;
  /** Omitted: not measured. */
  readonly trace?: RequestTrace | undefined;
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly route: string;
  readonly model: string | null;
  /** In the form of `tags.ts`. Omitted: none. */
  readonly tags?: string | undefined;
  /** In the form of `owner-ids.ts`. Omitted: none. */
  readonly owners?: string | undefined;
  /** Omitted: none. */
  readonly session?: string | undefined;
  readonly status: number;
  readonly errorCode: string | null;
  readonly checks: readonly Check[];
}

/** Another outcome of a request that is in the list of recent requests. */
export type ChangedOutcome = Pick<
  RecordedRequest,
  "organizationId" | "requestId" | "status" | "errorCode" | "checks"
>;

/** Filter of the recent requests. */
export interface RequestFilter {
  /** Requests that ended before this time are not read. */
  readonly fromMs: number | null;
  /** The only key whose requests match: entries of others are not parsed. */
  readonly keyId?: string | undefined;
  /** Entries that one call examines at most. Default: 2,000. */
  readonly maxExamined?: number;
  /** Oldest first; the page's `next` has no meaning then. Default: newest first. */
  readonly isOldestFirst?: boolean;
  readonly matches: (request: RecentRequest) => boolean;
}

export interface SpendFigures {
  readonly month: string;
  readonly timeMs: number;
  readonly organizationMicrocents: bigint;
  /** Reserved worst cases of requests in flight; 0 without strict caps. */
  readonly organizationHeldMicrocents: bigint;
  readonly keyMicrocents: ReadonlyMap<string, bigint>;
}

/** Limit in force, with the spend in its window. */
export interface LimitStatus extends Limit {
  readonly scope: LimitScope;
  /** Part of `cents` that comes from active temporary increases. */
  readonly raisedCents: number;
  readonly spentMicrocents: bigint;
}

export interface LimitReading {
  /** Redis's clock; the windows are those of this time. */
  readonly timeMs: number;
  /** Narrowest scope first. */
  readonly limits: readonly LimitStatus[];
}

export interface UsageRow extends UsageFigures {
  readonly day: string;
  /** Null for a spend correction of the whole organization. */
  readonly keyId: string | null;
  /** Owners at admission, in the form of `owner-ids.ts`. */
  readonly owners: string;
  /** Null for a spend correction. */
  readonly model: string | null;
  /** Tag combination in the form of `tags.ts`, or `OTHER_TAGS`. */
  readonly tags: string;
}

/** Filter of a month's usage; omitted fields match everything. */
export interface UsageOf {
  readonly keyId?: string | undefined;
  readonly userId?: string | undefined;
}

export interface MonthUsage extends TagCombinations {
  readonly month: string;
  readonly rows: UsageRow[];
}

export interface TagCombinations {
  /** Number of tag combinations that have rows of their own so far. */
  readonly tagCombinations: number;
  /** True if there were more combinations, which count as `OTHER_TAGS`. */
  readonly hasOtherTags: boolean;
}

/** Level of a key's bucket of requests, in whole requests, and of its own token limits. */
export interface BucketFill {
  /** Number of requests that would be admitted at once now. */
  readonly remaining: number;
  readonly capacity: number;
  readonly tokens: readonly TokenBucketState[];
  /** Time of the last admitted request, apart from those that count tokens; null: never. */
  readonly lastUsedMs: number | null;
}

/** Usage of one day, key, its owners and model in the request log: one row per tag combination. */
export interface LoggedUsageRows {
  readonly day: string;
  readonly keyId: string;
  readonly owners: string;
  readonly model: string;
  readonly rows: readonly UsageRow[];
}

export interface RaiseUsageResult {
  /** "enough": nothing was missing. "in_flight": requests are in flight, so nothing was changed. */
  readonly outcome: "raised" | "enough" | "in_flight";
  readonly addedMicrocents: bigint;
}

export interface CorrectInput {
  readonly organizationId: string;
  /** Null: not for a key. */
  readonly keyId: string | null;
  /** Further owners, in the form of `owner-ids.ts`. Omitted: none. */
  readonly owners?: string;
  /** Chosen by the caller, so that a repeat after a lost reply counts once. */
  readonly correctionId: string;
  /** Positive or negative. */
  readonly amountMicrocents: bigint;
  /** Stored with the correction, and returned to a caller who repeats it. */
  readonly details?: CorrectionDetails;
}

/** Details of a correction, as its caller provides them. */
export type CorrectionDetails = AuditFields;

export type CorrectResult =
  | { readonly outcome: "not_found" }
  | {
      readonly outcome: "applied" | "repeated";
      /** Month that the correction counts in; for a repeat, the month of the first one. */
      readonly month: string;
      readonly organizationMicrocents: bigint;
      readonly keyMicrocents: bigint | null;
      /** Details of the first correction with this id; null if it has none. */
      readonly details: CorrectionDetails | null;
    };

export interface RecentRequestStore {
  /** Adds an entry to the recent requests, for requests that were rejected after their admission. */
  recordRequest(request: RecordedRequest): Promise<void>;
  /**
   * Replaces the outcome of a request that has just been added to the recent ones; its cost stays. Does nothing if
   * it is not among the newest 2,000.
   */
  changeOutcome(outcome: ChangedOutcome): Promise<void>;
  /**
   * Finds a request by its id, or null; with `keyId` only a request of that key. Scans a bounded part of the
   * recent requests.
   */
  findRequest(organizationId: string, requestId: string, keyId: string | null): Promise<RecentRequest | null>;
  /**
   * Lists requests, by default newest first. With a filter one call examines at most 2,000: its page may have fewer
   * items than `limit`, even none, and still have a `next`.
   */
  listRequests(
    organizationId: string,
    page: PageInput,
    filter?: RequestFilter | null,
  ): Promise<Page<RecentRequest>>;
}

export interface UsageStore {
  /**
   * Reads the spend of one month; `month` null: the current month by Redis's clock. Covers these keys, or all
   * if omitted; keys without spend have no entry.
   */
  readSpend(
    organizationId: string,
    month: string | null,
    keyIds?: readonly string[] | null,
  ): Promise<SpendFigures>;
  /**
   * Reads the spend of subjects such as "key:<id>" and "group:<id>" in the current window of a period. Any number: they are
   * read in pieces. A subject without spend has no entry.
   */
  readSpendOf(
    organizationId: string,
    period: LimitPeriod,
    subjects: readonly string[],
  ): Promise<ReadonlyMap<string, bigint>>;
  /**
   * Reads the limits that apply to requests of a key (null: no key), of owners in the form of `owner-ids.ts`,
   * and of their organization.
   */
  readLimits(
    organizationId: string,
    of: { readonly keyId: string | null; readonly owners: string },
  ): Promise<LimitReading>;
  /**
   * Reads the usage of one month, sorted by day, key, model and tags; `month` null: the current month. Reads
   * the whole month at once: for commands.
   */
  readUsage(organizationId: string, month: string | null): Promise<MonthUsage>;
  /**
   * Reads the usage of one day, "2026-11-21", in pieces that delay neither Redis nor this process. With `of`,
   * only the rows of that key or user leave Redis.
   */
  readUsageOfDay(organizationId: string, day: string, of?: UsageOf): Promise<readonly UsageRow[]>;
  /**
   * Reads the sums of a day's rows over all tags, in no order; `tags` has the names of their tags,
   * "feature=,team=". Stores the sums of a past day, so that later calls do not read its rows. With `of`, reads
   * only the sums of that user; sums of other keys may be included.
   */
  readSumsOfDay(organizationId: string, day: string, of?: UsageOf): Promise<readonly UsageRow[]>;
  /** Reads the stored sums of a day; null: none are stored. */
  readStoredSums(organizationId: string, day: string): Promise<readonly UsageRow[] | null>;
  /** Deletes the stored sums of a month, "2026-11". */
  deleteSums(organizationId: string, month: string): Promise<void>;
  /** Counts the tag combinations of a month, "2026-11". */
  countTagCombinations(organizationId: string, month: string): Promise<TagCombinations>;
  /**
   * Adds a signed amount to the current month's spend and usage. May be repeated with the same id. Rejects
   * with a RangeError if the amount is 0 or beyond 2^53.
   */
  correct(input: CorrectInput, audit?: (month: string) => AuditInput): Promise<CorrectResult>;
  /** Returns the details of an earlier correction; null if it does not exist or has none. */
  findCorrection(organizationId: string, correctionId: string): Promise<CorrectionDetails | null>;
  /**
   * Reads the part of a month's usage from requests that another worker closed and that have had no final
   * charge since: one row per request, by organization. Covers requests whose records still exist, that is
   * seven days. Scans all records of requests.
   */
  readClosedUsage(month: string): Promise<ReadonlyMap<string, readonly UsageRow[]>>;
  /**
   * Raises the usage rows of a day, key, its owners and model, and their month's spend, to the figures of the
   * request log. Lowers nothing, and raises nothing above the log's sum. Does nothing while requests of the
   * organization are in flight. May be repeated.
   */
  raiseUsage(
    organizationId: string,
    logged: LoggedUsageRows,
    /** Tags of the rows that Redis has. */
    tagsInRedis: readonly string[],
  ): Promise<RaiseUsageResult>;
}
