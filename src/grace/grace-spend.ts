/**
 * What this worker has counted, and what of it is in Redis's figures: the part of spend that caps must see while Redis is
 * out of reach, once and not twice. The one place where that is known. It hears of charges before they are sent and of
 * replies in the order in which Redis executed the commands (`OwnSpend`), so that what it says at an admission's reply is
 * what that admission's spend has in it.
 */
import { ShortLivedMap } from "../short-lived-map.ts";
import type { OwnInReply, OwnSpend } from "../store/types/own-spend.ts";
import type { ChargeInput, RequestIdentity } from "../store/types/settlement.ts";

/** Microcents, since this worker started. */
interface Sums {
  counted: bigint;
  /** The part that Redis has, or may have where a charge was not answered: nothing is refused for its double. */
  inRedis: bigint;
  acknowledged: bigint;
}

interface RequestSums extends Sums {
  readonly subjects: readonly Sums[];
  /** Of the acknowledged charge. */
  sequence: number;
  /** Of the latest charge that was not answered. */
  unansweredSequence: number;
}

type Subject = Pick<RequestIdentity, "organizationId" | "keyId" | "month">;

/** Keys and organizations; the oldest are forgotten when nothing of theirs is open. */
const MAX_SUBJECTS = 100_000;

export class GraceSpend implements OwnSpend {
  /** Requests whose last charge is not acknowledged: in flight, or in the spool. */
  readonly #requests = new ShortLivedMap<string, RequestSums>();
  /** By month, of each key and organization. */
  readonly #months = new Map<string, Map<string, Sums>>();
  #subjects = 0;

  /** A charge is about to be sent: the request's total so far. */
  counted(request: Subject & { readonly requestId: string }, totalMicrocents: bigint): void {
    move(this.#requestSums(request), "counted", totalMicrocents);
  }

  /** @see OwnSpend.acknowledged */
  acknowledged({ requestId, sequence, totalMicrocents, final }: ChargeInput): void {
    const sums = this.#requests.get(requestId);
    // What an earlier process had left in the spool was never counted here.
    if (sums === undefined || sequence < sums.sequence) return;
    sums.sequence = sequence;
    move(sums, "acknowledged", totalMicrocents);
    const isLast = sequence >= sums.unansweredSequence;
    if (isLast || totalMicrocents > sums.inRedis) move(sums, "inRedis", totalMicrocents);
    if (final !== null) this.#requests.delete(requestId);
  }

  /** @see OwnSpend.unanswered */
  unanswered({ requestId, sequence, totalMicrocents }: ChargeInput): void {
    const sums = this.#requests.get(requestId);
    if (sums === undefined || sequence <= sums.sequence) return;
    sums.unansweredSequence = Math.max(sums.unansweredSequence, sequence);
    if (totalMicrocents > sums.inRedis) move(sums, "inRedis", totalMicrocents);
  }

  /** @see OwnSpend.inReply */
  inReply({ organizationId, keyId, month }: Subject): OwnInReply {
    const sums = this.#months.get(month);
    const organization = sums?.get(organizationId);
    return {
      keyMicrocents: sums?.get(keyId)?.inRedis ?? 0n,
      organizationMicrocents: organization?.inRedis ?? 0n,
      isBehind: organization !== undefined && organization.counted !== organization.acknowledged,
    };
  }

  /** Microcents that this worker has counted for a key and for its organization in a month. */
  of({ organizationId, keyId, month }: Subject): { key: bigint; organization: bigint } {
    const sums = this.#months.get(month);
    return { key: sums?.get(keyId)?.counted ?? 0n, organization: sums?.get(organizationId)?.counted ?? 0n };
  }

  #requestSums({ requestId, organizationId, keyId, month }: Subject & { requestId: string }): RequestSums {
    let sums = this.#requests.get(requestId);
    if (sums === undefined) {
      const subjects = [this.#subjectSums(month, keyId), this.#subjectSums(month, organizationId)];
      sums = { subjects, counted: 0n, inRedis: 0n, acknowledged: 0n, sequence: -1, unansweredSequence: -1 };
      this.#requests.set(requestId, sums);
    }
    return sums;
  }

  #subjectSums(month: string, id: string): Sums {
    let ofMonth = this.#months.get(month);
    if (ofMonth === undefined) this.#months.set(month, (ofMonth = new Map<string, Sums>()));
    let sums = ofMonth.get(id);
    if (sums !== undefined) return sums;
    sums = { counted: 0n, inRedis: 0n, acknowledged: 0n };
    ofMonth.set(id, sums);
    this.#subjects += 1;
    if (this.#subjects > MAX_SUBJECTS) this.#dropOldest();
    return sums;
  }

  #dropOldest(): void {
    for (const ofMonth of this.#months.values()) {
      for (const [id, { counted, acknowledged }] of ofMonth) {
        if (counted !== acknowledged) continue;
        ofMonth.delete(id);
        this.#subjects -= 1;
        return;
      }
    }
  }
}

/** Sets one sum of a request, and moves its key's and its organization's by as much. */
function move(sums: RequestSums, name: keyof Sums, totalMicrocents: bigint): void {
  const difference = totalMicrocents - sums[name];
  if (difference === 0n) return;
  sums[name] = totalMicrocents;
  for (const subject of sums.subjects) subject[name] += difference;
}
