/**
 * What this worker has counted and Redis may not know: the part of spend that caps must see while Redis is out of reach.
 * Per key and per organization of a month it keeps what was counted in all and what of it is not acknowledged.
 */
import { ShortLivedMap } from "../short-lived-map.ts";
import type { ChargeInput, RequestIdentity } from "../store/types/settlement.ts";

/** Microcents. */
export interface CountedSpend {
  /** Everything that this worker has counted since it started. */
  readonly counted: bigint;
  /** The part that Redis has not acknowledged. */
  readonly unacknowledged: bigint;
}

interface Sums {
  counted: bigint;
  unacknowledged: bigint;
}

interface RequestSums {
  readonly subjects: readonly Sums[];
  total: bigint;
  acknowledged: bigint;
  /** Of the acknowledged charge. */
  sequence: number;
}

type Subject = Pick<RequestIdentity, "organizationId" | "keyId" | "month">;

const NOTHING: CountedSpend = { counted: 0n, unacknowledged: 0n };
/** Keys and organizations; the oldest are forgotten when nothing of theirs is open. */
const MAX_SUBJECTS = 100_000;

export class GraceSpend {
  /** Requests whose last charge is not acknowledged: in flight, or in the spool. */
  readonly #requests = new ShortLivedMap<string, RequestSums>();
  /** By month, of each key and organization. */
  readonly #months = new Map<string, Map<string, Sums>>();
  #subjects = 0;

  /** A charge is about to be sent, or a request was opened at its floor: its total so far. */
  counted(request: Subject & { readonly requestId: string }, totalMicrocents: bigint): void {
    const sums = this.#requestSums(request);
    const difference = totalMicrocents - sums.total;
    sums.total = totalMicrocents;
    if (difference === 0n) return;
    for (const subject of sums.subjects) {
      subject.counted += difference;
      subject.unacknowledged += difference;
    }
  }

  /** Redis has acknowledged this charge. */
  acknowledged(charge: ChargeInput): void {
    const sums = this.#requests.get(charge.requestId);
    // What an earlier process had left in the spool was never counted here.
    if (sums === undefined || charge.sequence < sums.sequence) return;
    sums.sequence = charge.sequence;
    const difference = charge.totalMicrocents - sums.acknowledged;
    sums.acknowledged = charge.totalMicrocents;
    for (const subject of sums.subjects) subject.unacknowledged -= difference;
    if (charge.final !== null) this.#requests.delete(charge.requestId);
  }

  /** What this worker counted for a key and for its organization in a month. */
  of({ organizationId, keyId, month }: Subject): { key: CountedSpend; organization: CountedSpend } {
    const sums = this.#months.get(month);
    return { key: sums?.get(keyId) ?? NOTHING, organization: sums?.get(organizationId) ?? NOTHING };
  }

  #requestSums({ requestId, organizationId, keyId, month }: Subject & { requestId: string }): RequestSums {
    let sums = this.#requests.get(requestId);
    if (sums === undefined) {
      const subjects = [this.#subjectSums(month, keyId), this.#subjectSums(month, organizationId)];
      sums = { subjects, total: 0n, acknowledged: 0n, sequence: -1 };
      this.#requests.set(requestId, sums);
    }
    return sums;
  }

  #subjectSums(month: string, id: string): Sums {
    let ofMonth = this.#months.get(month);
    if (ofMonth === undefined) this.#months.set(month, (ofMonth = new Map<string, Sums>()));
    let sums = ofMonth.get(id);
    if (sums !== undefined) return sums;
    sums = { counted: 0n, unacknowledged: 0n };
    ofMonth.set(id, sums);
    this.#subjects += 1;
    if (this.#subjects > MAX_SUBJECTS) this.#dropOldest();
    return sums;
  }

  #dropOldest(): void {
    for (const ofMonth of this.#months.values()) {
      for (const [id, sums] of ofMonth) {
        if (sums.unacknowledged !== 0n) continue;
        ofMonth.delete(id);
        this.#subjects -= 1;
        return;
      }
    }
  }
}
