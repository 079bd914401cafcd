/** What a request costs: the transitions of its record. See `lua/` for the rules. */
import type { LimitPeriod } from "../../../shared/settings/limits.ts";
import type { LimitScope } from "./decision.ts";
import type { Check, RequestWay } from "./reporting.ts";
import type { TakenTokens, UsedTokens } from "./token-rate.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";

/** What every command of one request says, the same each time. */
export interface RequestIdentity {
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** Of the admission, as `KnownKeyResult` says: "2026-11" and "2026-11-21". */
  readonly month: string;
  readonly day: string;
  /** Catalog id. */
  readonly model: string;
  /** What the client wrote: the id, or a name that stands for it. For the log alone. Left out: not known. */
  readonly requestedModel?: string | undefined;
  /** "POST /v1/messages" */
  readonly route: string;
  /** That its cost is in: the organization's at its admission. Left out: not known. */
  readonly currency?: string | undefined;
  /** In the form of `tags.ts`. Left out: none. */
  readonly tags?: string | undefined;
  /** In the form of `owner-ids.ts`. Left out: it is nobody's but its key's and its organization's. */
  readonly owners?: string | undefined;
  /** As `readSessionName` has it. Left out: it names none. */
  readonly session?: string | undefined;
  /** A cap may hold for its session, which the store has to count. */
  readonly isSessionCapped?: true | undefined;
  /** Which row of usage it counts in, as the hold replied. Left out: the store has not said it yet, or there are no tags. */
  readonly tagRow?: string | undefined;
}

/** A request as its owner knows it, who has its admission. */
export interface BilledRequest extends RequestIdentity {
  readonly currency: string;
}

export interface HoldInput extends Omit<RequestIdentity, "tagRow"> {
  /** What the request can cost at most; needed with strict caps, null otherwise. */
  readonly worstCaseMicrocents: bigint | null;
  /** What is charged when nobody ever reports a charge: the prompt's estimate. */
  readonly floorMicrocents: bigint;
  readonly floorInputTokens: number;
  /** Of the limits of tokens that it meets, which the hold puts right by `floorInputTokens`. Left out, or null: it meets none. */
  readonly takenTokens?: TakenTokens | null;
  /** The price of it, for the list of recent requests; left out where it is not known. */
  readonly price?: Check;
  /** Cents, that the client has sent for its session. */
  readonly sessionBudgetCents?: number | undefined;
}

/** The cap of a session and what stands against it. */
export type SessionFigures = Pick<CapFigures, "spentMicrocents" | "heldMicrocents" | "capCents">;

/** A cap and what stands against it. */
export interface CapFigures {
  readonly spentMicrocents: bigint;
  /** Worst cases of requests in flight; 0 without strict caps. */
  readonly heldMicrocents: bigint;
  /** With live raises. */
  readonly capCents: number;
  readonly raisedCents: number;
  readonly period: LimitPeriod;
  /** Of the key, the user or the group; '' where only the caller knows it. */
  readonly ownerName: string;
  /** The organization hides amounts from clients. */
  readonly areAmountsHidden: boolean;
}

export type HoldResult =
  /** "exists": the record was there before, and nothing was changed. `tagRow`: see RequestIdentity. */
  | { readonly outcome: "held"; readonly tagRow?: string }
  | { readonly outcome: "exists"; readonly tagRow?: string }
  /** The organization has strict caps: repeat with a worst case. Nothing was changed. */
  | { readonly outcome: "worst_case_required" }
  /** The organization is billed in another currency since its admission: it has no price in that. Nothing was changed. */
  | { readonly outcome: "currency_changed"; readonly currency: string }
  /** As many requests of the key as it may have are in flight. */
  | { readonly outcome: "concurrency_limited"; readonly limit: number }
  | { readonly outcome: "session_cap_reached"; readonly figures: SessionFigures }
  | {
      readonly outcome: `${LimitScope}_cap_reached`;
      /** Of the cap that is named. */
      readonly figures: CapFigures;
    };

export interface ChargeInput extends RequestIdentity {
  /**
   * The request's cost from its beginning, not since the last charge: what counts as spend. Exact, or the best estimate,
   * with the final charge; before it a lower bound, which no later charge should have to take back.
   */
  readonly totalMicrocents: bigint;
  /** What of it is for tools that ran at the model's server. Left out: nothing. */
  readonly toolMicrocents?: bigint | undefined;
  /** From 1, larger with every charge of this request. */
  readonly sequence: number;
  /** Totals, like the cost. */
  readonly tokens: TokenUsage;
  /** 1 once the request counts in the usage (it was sent upstream), else 0. */
  readonly requests: 0 | 1;
  readonly estimated: boolean;
  /** Before the final charge: what the request is closed at when its owner dies. Null with the final charge. */
  readonly estimate: RequestEstimate | null;
  /** Set on the last charge; closes the record and puts the request on the list of recent ones. */
  readonly final: FinalFigures | null;
  /**
   * By another than the request's owner, who cannot know whether it has ended and its record was deleted: only where there
   * is a record, or the request is still entered as its admission left it.
   */
  readonly onlyIfEntered?: true;
  /**
   * It is final and, as far as the request's owner knows, nothing of the request is on record yet: it can share a command
   * with others of its turn. Where it is not so, it takes a command more.
   */
  readonly isBrief?: true | undefined;
  /** Of the limits of tokens that it meets. Left out: it meets none, or they are long behind. */
  readonly usedTokens?: UsedTokens | undefined;
}

/** Above every charge of a request's owner: of a final charge that the log of requests tells of. */
export const LOGGED_SEQUENCE = 2 ** 52;

/** The best estimate of what a request in flight has come to. */
export interface RequestEstimate {
  readonly totalMicrocents: bigint;
  /** As of a charge. */
  readonly toolMicrocents?: bigint | undefined;
  readonly tokens: TokenUsage;
  /** The price that it was made with, for the list of recent requests; left out where it is not known. */
  readonly price?: Check;
}

/**
 * Why spend as it is shown went down. "interim": a request came to less than its own upstream had reported before;
 * "reaped": to less than it was closed at while its owner was silent; "correction": by a person.
 */
export type SpendFall = "interim" | "reaped" | "correction";

/** What the list of recent requests shows beside the cost. */
export interface FinalFigures {
  /** Left out: nobody measured it. */
  readonly way?: RequestWay | undefined;
  /** HTTP status that the client got. */
  readonly status: number;
  readonly errorCode: string | null;
  readonly checks: readonly Check[];
}

export interface ChargeResult {
  /**
   * "repeated": this charge or a later one was there already. "ended": the request has had its final charge, or will
   * never have one (`onlyIfEntered`). Nothing was changed after both.
   */
  readonly outcome: "applied" | "repeated" | "ended";
}

export interface RenewInput {
  readonly requestId: string;
  readonly keyId: string;
  readonly month: string;
}

/** "ended": it has had its final charge. "missing": there is no record; the next charge makes it again. */
export type RenewOutcome = "renewed" | "reopened" | "ended" | "missing";

/** Found by `listOverdue`; the fields of a record that is gone are null. */
export interface OverdueRequest {
  readonly organizationId: string;
  readonly requestId: string;
  readonly record: { readonly keyId: string; readonly month: string; readonly day: string } | null;
}

/** "not_due": renewed or ended meanwhile. "gone": there is no record (any more). */
export type CloseOutcome = "closed" | "not_due" | "gone";

/** A request as its admission enters it. */
export interface EnteredRequest extends Pick<RequestIdentity, "requestId" | "keyId" | "owners"> {
  /** What it took of limits of tokens. Left out, or null: nothing, or nobody knows. */
  readonly takenTokens?: TakenTokens | null | undefined;
}

export interface RequestStore {
  /**
   * Before a request goes upstream: its record, deadline, place among the key's requests in flight and, with strict
   * caps, its worst case. May be repeated.
   */
  hold(input: HoldInput): Promise<HoldResult>;
  /** Sets a request's total so far. May be repeated, late and out of order. */
  charge(input: ChargeInput): Promise<ChargeResult>;
  /** Moves the deadlines of an owner's open requests of one organization. */
  renew(organizationId: string, requests: readonly RenewInput[]): Promise<readonly RenewOutcome[]>;
  /** Open requests of one organization that are past their deadline, at most `limit`. */
  listOverdue(organizationId: string, limit: number): Promise<readonly OverdueRequest[]>;
  /** Closes another's request that is past its deadline, at the best estimate that it left. May be repeated. */
  close(request: OverdueRequest): Promise<CloseOutcome>;
  /**
   * Deletes the closed records among these. Only by the owner, and only once every command of these requests was
   * answered: a charge that comes after it would be counted again. Returns how many were deleted.
   */
  forget(organizationId: string, requestIds: readonly string[]): Promise<number>;
  /**
   * Looks at requests of one organization that the log has as ended, by their final charges, and gives those back that have
   * a record without one: closed by another, or their charge is still under way. With `mark` those without a record get
   * one, so that a final charge which comes later is a repeat; null: not while requests of the organization are in flight.
   * May be repeated.
   */
  markLogged(
    organizationId: string,
    charges: readonly ChargeInput[],
    options: { readonly mark: boolean },
  ): Promise<readonly ChargeInput[] | null>;
  /** Takes requests out that their admission entered and that will not go upstream. Only by the owner. */
  leave(organizationId: string, requests: readonly EnteredRequest[]): Promise<void>;
}
