/** Cost of a request: the transitions of its record. See `lua/` for the rules. */
import type { LimitPeriod } from "../settings/limits.ts";
import type { LimitScope } from "./decision.ts";
import type { Check, RequestTrace } from "./reporting.ts";
import type { TakenTokens, UsedTokens } from "./token-rate.ts";
import type { TokenUsage } from "../usage/token-usage.ts";

/** Identity of a request, the same in each of its commands. */
export interface RequestIdentity {
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** Month and day of the admission, as in `KnownKeyResult`: "2026-11" and "2026-11-21". */
  readonly month: string;
  readonly day: string;
  /** Catalog id. */
  readonly model: string;
  /** Model name in the request: the catalog id or an alias. Only for the log. Omitted: unknown. */
  readonly requestedModel?: string | undefined;
  /** "POST /v1/messages" */
  readonly route: string;
  /** Currency of the cost: the organization's at admission. Omitted: unknown. */
  readonly currency?: string | undefined;
  /** In the form of `tags.ts`. Omitted: none. */
  readonly tags?: string | undefined;
  /** In the form of `owner-ids.ts`. Omitted: only the key and organization. */
  readonly owners?: string | undefined;
  /** In the form of `readSessionName`. Omitted: none. */
  readonly session?: string | undefined;
  /** True if its session may have a cap, so that the store has to count it. */
  readonly isSessionCapped?: true | undefined;
  /**
   * Usage row that it counts in, as `openRecord` replied. Omitted: the store has not reported it yet, or there
   * are no tags.
   */
  readonly tagRow?: string | undefined;
}

/** Request as known to its owner, who has its admission. */
export interface BilledRequest extends RequestIdentity {
  readonly currency: string;
}

export interface OpenRecordInput extends Omit<RequestIdentity, "tagRow"> {
  /** Maximum cost of the request; required with strict caps, otherwise null. */
  readonly worstCaseMicrocents: bigint | null;
  /** Amount charged if no charge is ever reported: the estimate of the prompt. */
  readonly floorMicrocents: bigint;
  readonly floorInputTokens: number;
  /**
   * Tokens taken from token limits, which `openRecord` corrects by `floorInputTokens`. Omitted or null: no token
   * limits.
   */
  readonly takenTokens?: TakenTokens | null;
  /** Its price, for the list of recent requests. Omitted: unknown. */
  readonly price?: Check;
  /** Cap in cents that the client sent for its session. */
  readonly sessionBudgetCents?: number | undefined;
}

/** Cap of a session with its spend and reserved amount. */
export type SessionFigures = Pick<CapFigures, "spentMicrocents" | "heldMicrocents" | "capCents">;

/** Cap with its spend and reserved amount. */
export interface CapFigures {
  readonly spentMicrocents: bigint;
  /** Reserved worst cases of requests in flight; 0 without strict caps. */
  readonly heldMicrocents: bigint;
  /** Includes active temporary increases. */
  readonly capCents: number;
  readonly raisedCents: number;
  readonly period: LimitPeriod;
  /** Name of the key, user or group; '' if only the caller knows it. */
  readonly ownerName: string;
  /** True if the organization hides amounts from clients. */
  readonly areAmountsHidden: boolean;
}

export type OpenRecordResult =
  /** "exists": the record existed, and nothing was changed. `tagRow`: see RequestIdentity. */
  | { readonly outcome: "opened"; readonly tagRow?: string }
  | { readonly outcome: "exists"; readonly tagRow?: string }
  /** The organization has strict caps: repeat with a worst case. Nothing was changed. */
  | { readonly outcome: "worst_case_required" }
  /**
   * The organization's currency has changed since the admission, so the request has no price in it. Nothing
   * was changed.
   */
  | { readonly outcome: "currency_changed"; readonly currency: string }
  /** The key's limit of concurrent requests is reached. */
  | { readonly outcome: "concurrency_limited"; readonly limit: number }
  | { readonly outcome: "session_cap_reached"; readonly figures: SessionFigures }
  | {
      readonly outcome: `${LimitScope}_cap_reached`;
      /** Figures of the reported cap. */
      readonly figures: CapFigures;
    };

export interface ChargeInput extends RequestIdentity {
  /**
   * Total cost of the request since its start, not since the last charge; counts as spend. The final charge
   * has the exact cost or the best estimate; earlier charges have a lower bound that no later charge should
   * have to take back.
   */
  readonly totalMicrocents: bigint;
  /** Part of the total for tools that ran at the model server. Omitted: none. */
  readonly toolMicrocents?: bigint | undefined;
  /** Starts at 1 and increases with every charge of this request. */
  readonly sequence: number;
  /** Totals, like the cost. */
  readonly tokens: TokenUsage;
  /** 1 once the request counts in the usage (it was sent upstream), otherwise 0. */
  readonly requests: 0 | 1;
  readonly estimated: boolean;
  /** Before the final charge: amount at which the request is closed if its owner dies. Null with the final charge. */
  readonly estimate: RequestEstimate | null;
  /** Set on the last charge: closes the record and adds the request to the list of recent requests. */
  readonly final: FinalFigures | null;
  /**
   * Set by a process that does not own the request and cannot know whether its record was deleted: the charge
   * applies only if a record exists or the request is still entered as its admission left it.
   */
  readonly onlyIfEntered?: true;
  /**
   * True if the charge is final and, as far as the owner knows, the request has no record yet: it can share a
   * command with others of its turn. If it does have one, the charge takes a second command.
   */
  readonly isSingleCharge?: true | undefined;
  /** Tokens used of its token limits. Omitted: no token limits, or their minute is long over. */
  readonly usedTokens?: UsedTokens | undefined;
}

/** Sequence of final charges that the request log reports; above every charge of a request's owner. */
export const LOGGED_SEQUENCE = 2 ** 52;

/** Best estimate of the cost so far of a request in flight. */
export interface RequestEstimate {
  readonly totalMicrocents: bigint;
  /** As in a charge. */
  readonly toolMicrocents?: bigint | undefined;
  readonly tokens: TokenUsage;
  /** Price of the estimate, for the list of recent requests. Omitted: unknown. */
  readonly price?: Check;
}

/**
 * Reason why displayed spend decreased. "interim": a request cost less than its own upstream had reported
 * earlier. "reaped": it cost less than the amount at which it was closed while its owner was silent.
 * "correction": a person corrected it.
 */
export type SpendFall = "interim" | "reaped" | "correction";

/** Figures that the list of recent requests shows in addition to the cost. */
export interface FinalFigures {
  /** Omitted: not measured. */
  readonly trace?: RequestTrace | undefined;
  /** HTTP status sent to the client. */
  readonly status: number;
  readonly errorCode: string | null;
  readonly checks: readonly Check[];
}

export interface ChargeResult {
  /**
   * "repeated": this charge or a later one was applied before. "ended": the request has had its final charge,
   * or will never have one (`onlyIfEntered`). Both change nothing.
   */
  readonly outcome: "applied" | "repeated" | "ended";
}

export interface RenewInput {
  readonly requestId: string;
  readonly keyId: string;
  readonly month: string;
}

/** "ended": it has had its final charge. "missing": the record does not exist; the next charge creates it again. */
export type RenewOutcome = "renewed" | "reopened" | "ended" | "missing";

/** Result of `listOverdue`; the fields are null if the record is gone. */
export interface OverdueRequest {
  readonly organizationId: string;
  readonly requestId: string;
  readonly record: { readonly keyId: string; readonly month: string; readonly day: string } | null;
}

/** "not_due": renewed or ended meanwhile. "gone": the record does not exist. */
export type CloseOutcome = "closed" | "not_due" | "gone";

/** Request as its admission enters it. */
export interface EnteredRequest extends Pick<RequestIdentity, "requestId" | "keyId" | "owners"> {
  /** Tokens taken from token limits. Omitted or null: none or unknown. */
  readonly takenTokens?: TakenTokens | null | undefined;
}

export interface RequestStore {
  /**
   * Prepares a request before it goes upstream: creates its record and deadline, takes a slot of the key's
   * concurrent requests and, with strict caps, reserves its worst case. May be repeated.
   */
  openRecord(input: OpenRecordInput): Promise<OpenRecordResult>;
  /** Sets the request's total so far. May be repeated, late and out of order. */
  charge(input: ChargeInput): Promise<ChargeResult>;
  /** Extends the deadlines of an owner's open requests of one organization. */
  renew(organizationId: string, requests: readonly RenewInput[]): Promise<readonly RenewOutcome[]>;
  /** Lists open requests of one organization past their deadline, at most `limit`. */
  listOverdue(organizationId: string, limit: number): Promise<readonly OverdueRequest[]>;
  /** Closes another owner's request past its deadline, at its last estimate. May be repeated. */
  close(request: OverdueRequest): Promise<CloseOutcome>;
  /**
   * Deletes the closed records among these. Only for the owner, and only after every command of these
   * requests was answered: a later charge would be counted again. Returns how many were deleted.
   */
  deleteRecords(organizationId: string, requestIds: readonly string[]): Promise<number>;
  /**
   * Compares requests of one organization that have ended in the request log, by their final charges. Returns
   * those with a record without a final charge: another worker closed it, or the charge is still on its way.
   * With `mark` the requests without a record get one, so that a later final charge is a repeat; null: not
   * possible while requests of the organization are in flight. May be repeated.
   */
  markLogged(
    organizationId: string,
    charges: readonly ChargeInput[],
    options: { readonly mark: boolean },
  ): Promise<readonly ChargeInput[] | null>;
  /** Removes requests that their admission entered and that will not go upstream. Only for the owner. */
  removeAbandoned(organizationId: string, requests: readonly EnteredRequest[]): Promise<void>;
}
