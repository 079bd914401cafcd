/**
 * What this worker has counted, and what of it is in Redis's figures: the part of spend that caps must see while Redis is
 * out of reach, once and not twice. The one place where that is known. It hears of charges before they are sent and of
 * replies in the order in which Redis executed the commands (`OwnSpend`), so that what it says at an admission's reply is
 * what that admission's spend has in it.
 */
import { dropCount } from "../set-bounded.ts";
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

/** Of a key or an organization. */
interface SubjectSums extends Sums {
  /** Its requests whose last charge is not acknowledged. */
  open: number;
}

interface RequestSums extends Sums {
  readonly subjects: readonly SubjectSums[];
  /** Of the acknowledged charge. */
  sequence: number;
  /** Of the latest charge that was not answered. */
  unansweredSequence: number;
}

type Subject = Pick<RequestIdentity, "organizationId" | "keyId" | "month">;

/**
 * Sums are only held against each other, so it is all the same where they begin. One that is forgotten begins again at the
 * most that a forgotten one had come to: what is added to what was last known of it is never too little, and a cap refuses
 * too early rather than too late, until the key's next admission.
 */
interface Month {
  readonly sums: Map<string, SubjectSums>;
  beginning: bigint;
}

/** Keys and organizations; those that were charged longest ago are forgotten when nothing of theirs is open. */
const MAX_SUBJECTS = 100_000;

export class GraceSpend implements OwnSpend {
  /** Requests whose last charge is not acknowledged: in flight, or in the spool. */
  readonly #requests = new ShortLivedMap<string, RequestSums>();
  /** By month, of each key and organization. */
  readonly #months = new Map<string, Month>();
  readonly #maxSubjects: number;
  #subjects = 0;
  #forgetAbove: number;

  constructor({ maxSubjects = MAX_SUBJECTS } = {}) {
    this.#maxSubjects = maxSubjects;
    this.#forgetAbove = maxSubjects;
  }

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
    if (final === null) return;
    this.#requests.delete(requestId);
    for (const subject of sums.subjects) subject.open -= 1;
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
    const organization = this.#read(month, organizationId);
    return {
      keyMicrocents: this.#read(month, keyId).inRedis,
      organizationMicrocents: organization.inRedis,
      isBehind: organization.counted !== organization.acknowledged,
    };
  }

  /** Microcents that this worker has counted for a key and for its organization in a month. */
  of({ organizationId, keyId, month }: Subject): { key: bigint; organization: bigint } {
    return { key: this.#read(month, keyId).counted, organization: this.#read(month, organizationId).counted };
  }

  #requestSums({ requestId, organizationId, keyId, month }: Subject & { requestId: string }): RequestSums {
    let sums = this.#requests.get(requestId);
    if (sums === undefined) {
      const subjects = [this.#openSubject(month, keyId), this.#openSubject(month, organizationId)];
      sums = { subjects, counted: 0n, inRedis: 0n, acknowledged: 0n, sequence: -1, unansweredSequence: -1 };
      this.#requests.set(requestId, sums);
    }
    return sums;
  }

  #read(month: string, id: string): Readonly<Sums> {
    const known = this.#months.get(month);
    if (known === undefined) return NOTHING;
    return known.sums.get(id) ?? begin(known);
  }

  /** A request of it begins. */
  #openSubject(month: string, id: string): SubjectSums {
    let ofMonth = this.#months.get(month);
    if (ofMonth === undefined) this.#months.set(month, (ofMonth = { sums: new Map(), beginning: 0n }));
    const known = ofMonth.sums.get(id);
    if (known !== undefined) {
      known.open += 1;
      // Up to half of them, no order is kept: see set-bounded.ts.
      if (this.#subjects > this.#maxSubjects / 2) {
        ofMonth.sums.delete(id);
        ofMonth.sums.set(id, known);
      }
      return known;
    }
    const sums = begin(ofMonth);
    sums.open = 1;
    ofMonth.sums.set(id, sums);
    this.#subjects += 1;
    if (this.#subjects > this.#forgetAbove) this.#forgetOldest();
    return sums;
  }

  /** Some at once; where the others all have open requests, it is tried again when as many more have come. */
  #forgetOldest(): void {
    const count = dropCount(this.#maxSubjects);
    this.#forget(this.#maxSubjects + 1 - count);
    this.#forgetAbove = Math.max(this.#maxSubjects, this.#subjects + count);
  }

  /** Until so many are left. */
  #forget(left: number): void {
    for (const ofMonth of this.#months.values()) {
      for (const [id, { counted, open }] of ofMonth.sums) {
        if (this.#subjects <= left) return;
        if (open > 0) continue;
        ofMonth.sums.delete(id);
        if (counted > ofMonth.beginning) ofMonth.beginning = counted;
        this.#subjects -= 1;
      }
    }
  }
}

const NOTHING: Readonly<Sums> = { counted: 0n, inRedis: 0n, acknowledged: 0n };

function begin({ beginning }: Month): SubjectSums {
  return { counted: beginning, inRedis: beginning, acknowledged: beginning, open: 0 };
}

/** Sets one sum of a request, and moves its key's and its organization's by as much. */
function move(sums: RequestSums, name: keyof Sums, totalMicrocents: bigint): void {
  const difference = totalMicrocents - sums[name];
  if (difference === 0n) return;
  sums[name] = totalMicrocents;
  for (const subject of sums.subjects) subject[name] += difference;
}
