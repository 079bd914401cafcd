/**
 * What the gateway asks of its shared state, in plain values. Behind it stands Redis (`redis-store.ts`); nobody outside
 * this folder names a Redis key. Each function is one atomic step on one organization's slot unless it says otherwise.
 *
 * When Redis is out of reach every function rejects (fast: no queue, nothing is sent again); what that means is decided
 * by the caller. A rejected write may or may not have happened: `hold`, `charge`, `renew`, `close` and `forget` may be
 * repeated, `admit` must not.
 *
 * Units: money spent is microcents as bigint, caps and budgets are whole cents, times are Unix milliseconds.
 */
import type { AdmitInput, Admission } from "./types/admission.ts";
import type {
  ChargeInput,
  ChargeResult,
  CloseOutcome,
  HoldInput,
  HoldResult,
  OverdueRequest,
  RenewInput,
  RenewOutcome,
} from "./types/settlement.ts";
import type { AlertStore } from "./types/alerts.ts";
import type { AuditInput, AuditStore } from "./types/audit.ts";
import type { ManagementStore } from "./types/management.ts";
import type { SessionStore } from "./types/sessions.ts";
import type { TokenStore } from "./types/tokens.ts";
import type {
  BucketFill,
  CorrectInput,
  CorrectResult,
  Page,
  PageInput,
  RaiseUsageResult,
  RecentRequest,
  RecordedRequest,
  SpendFigures,
  UsageRow,
} from "./types/reporting.ts";

/** Which record a key's hash belongs to. The pair never changes, so it may be cached for ever. */
export interface KeyReference {
  readonly organizationId: string;
  readonly keyId: string;
}

export interface Store extends ManagementStore, TokenStore, SessionStore, AuditStore, AlertStore {
  /** @param sha256Hex 64 lower-case hexadecimal digits. */
  lookUpKey(sha256Hex: string): Promise<KeyReference | null>;
  /**
   * Key record, bucket, concurrency and caps in one step. Never sent twice, except after the answer `month_changed`,
   * before which nothing was changed.
   */
  admit(input: AdmitInput): Promise<Admission>;

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
  /** Closes another's request that is past its deadline, at max(charged, prompt floor). May be repeated. */
  close(request: OverdueRequest): Promise<CloseOutcome>;
  /**
   * Deletes the closed records among these. Only by the owner, and only once every command of these requests was
   * answered: a charge that comes after it would be counted again. Returns how many were deleted.
   */
  forget(organizationId: string, requestIds: readonly string[]): Promise<number>;

  /** Adds an entry to the recent requests: for requests that were refused after their admission. */
  recordRequest(request: RecordedRequest): Promise<void>;
  /** One request by its id, or null; with `keyId` only that key's. Bounded scan of the recent requests. */
  findRequest(organizationId: string, requestId: string, keyId: string | null): Promise<RecentRequest | null>;
  /** Newest first. */
  listRequests(organizationId: string, page: PageInput): Promise<Page<RecentRequest>>;

  /**
   * Spend of one month; this month's (by Redis's clock) when `month` is null. Of these keys, or of all when left out;
   * a key that spent nothing has no entry.
   */
  readSpend(
    organizationId: string,
    month: string | null,
    keyIds?: readonly string[] | null,
  ): Promise<SpendFigures>;
  /** How full the buckets of these keys are now. Takes nothing; a key that is not there has no entry. */
  readBuckets(organizationId: string, keyIds: readonly string[]): Promise<ReadonlyMap<string, BucketFill>>;
  /** Usage of one month by day, key and model, in this order; this month's when `month` is null. */
  readUsage(organizationId: string, month: string | null): Promise<{ month: string; rows: UsageRow[] }>;
  /** Adds a signed amount to this month's spend, and to its usage. May be repeated with the same id. */
  correct(input: CorrectInput, audit?: (month: string) => AuditInput): Promise<CorrectResult>;

  /**
   * Raises a usage row, and its month's spend with it, to what the log of requests says; lowers nothing. Nothing while
   * requests of the organization are in flight. May be repeated.
   */
  raiseUsage(
    organizationId: string,
    row: UsageRow & { readonly keyId: string; readonly model: string },
  ): Promise<RaiseUsageResult>;

  /** Redis's clock. */
  timeMs(): Promise<number>;
  /**
   * Says that a worker is there, for so long from now on (0: that it goes), on a slot of its own. Returns how many there
   * are over all hosts. May be repeated.
   */
  announceWorker(workerId: string, countsForMs: number): Promise<number>;
}
