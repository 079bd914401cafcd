/**
 * What this worker has counted, and what of it is in Redis's figures: the part of spend that caps must see while Redis is
 * out of reach, once and not twice. The one place where that is known. It hears of charges before they are sent and of
 * replies in the order in which Redis executed the commands (`OwnSpend`), so that what it says at an admission's reply is
 * what that admission's spend has in it.
 */
import { dropCount, setBounded } from "../../shared/collections/set-bounded.ts";
import { ShortLivedMap } from "../../shared/collections/short-lived-map.ts";
import { parseOwnerIds } from "../store/types/owner-ids.ts";
import { ALWAYS_COUNTED, COUNTED_PERIODS, windowName } from "../store/usage/windows.ts";
import type { OwnSpend, OwnWindow } from "../store/types/own-spend.ts";
import type { ChargeInput, RequestIdentity } from "../store/types/settlement.ts";

/** Microcents, since this worker started. */
interface Sums {
  counted: bigint;
  /** The part that Redis has, or may have where a charge was not answered: nothing is refused for its double. */
  inRedis: bigint;
  acknowledged: bigint;
}

/** What a key, a user, a group or an organization has spent in a window. */
interface SubjectSums extends Sums {
  /** Its requests whose last charge is not acknowledged. */
  open: number;
}

interface RequestSums extends Sums {
  readonly request: Counted;
  readonly subjects: SubjectSums[];
  /** Its subjects are in all their windows, and not only in the month's. */
  hasWindows: boolean;
  /** The sequence of the charge that was acknowledged last. */
  sequence: number;
  /** The sequence of the latest charge that was not answered. */
  unansweredSequence: number;
}

type Counted = Pick<RequestIdentity, "organizationId" | "keyId" | "requestId" | "day" | "owners">;

/**
 * Sums are only held against each other, so it is all the same where they begin. One that is forgotten begins again at the
 * most that a forgotten one had come to: what is added to what was last known of it is never too little, and a cap refuses
 * too early rather than too late, until the key's next admission.
 */
interface Window {
  readonly sums: Map<string, SubjectSums>;
  beginning: bigint;
}

/** The bound of all windows' subjects; those charged longest ago are forgotten when nothing of theirs is open. */
const MAX_SUBJECTS = 100_000;
/** Organizations whose other windows are counted. */
const MAX_WINDOWED = 20_000;

export class GraceSpend implements OwnSpend {
  /** Requests whose last charge is not acknowledged: in flight, or in the spool. */
  readonly #requests = new ShortLivedMap<string, RequestSums>();
  /** Sums by the window's name. */
  readonly #windows = new Map<string, Window>();
  readonly #windowed = new Map<string, true>();
  readonly #maxSubjects: number;
  #subjects = 0;
  #forgetAbove: number;

  constructor({ maxSubjects = MAX_SUBJECTS } = {}) {
    this.#maxSubjects = maxSubjects;
    this.#forgetAbove = maxSubjects;
  }

  /** A charge is about to be sent: the request's total so far. */
  counted(request: Counted, totalMicrocents: bigint): void {
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

  /** @see OwnSpend.isBehind */
  isBehind(organizationId: string, day: string): boolean {
    const { counted, acknowledged } = this.#read(windowName(ALWAYS_COUNTED, day), organizationId);
    return counted !== acknowledged;
  }

  /** @see OwnSpend.inReply */
  inReply(organizationId: string, { period, day, subjectId }: OwnWindow): bigint {
    if (period !== ALWAYS_COUNTED && !this.#windowed.has(organizationId)) this.#beginWindows(organizationId);
    return this.#read(windowName(period, day), subjectId).inRedis;
  }

  /** Microcents that this worker has counted for a key, user, group or organization in a window of that name. */
  inWindow(window: string, subjectId: string): bigint {
    return this.#read(window, subjectId).counted;
  }

  #requestSums(request: Counted): RequestSums {
    const { requestId, organizationId, day } = request;
    let sums = this.#requests.get(requestId);
    if (sums === undefined) {
      const window = windowName(ALWAYS_COUNTED, day);
      const subjects = idsOf(request).map((id) => this.#openSubject(window, id));
      const none = { counted: 0n, inRedis: 0n, acknowledged: 0n };
      sums = { request, subjects, hasWindows: false, ...none, sequence: -1, unansweredSequence: -1 };
      this.#requests.set(requestId, sums);
    }
    if (!sums.hasWindows && this.#windowed.has(organizationId)) this.#openWindows(sums);
    return sums;
  }

  /** Those that are open already, too. */
  #beginWindows(organizationId: string): void {
    setBounded(this.#windowed, organizationId, true, MAX_WINDOWED);
    for (const sums of this.#requests.values()) {
      if (sums.request.organizationId === organizationId && !sums.hasWindows) this.#openWindows(sums);
    }
  }

  /**
   * A request that had begun before is in Redis already: who is told what is spent there hears nothing new by it.
   */
  #openWindows(sums: RequestSums): void {
    sums.hasWindows = true;
    for (const period of COUNTED_PERIODS) {
      for (const id of idsOf(sums.request)) {
        const subject = this.#openSubject(windowName(period, sums.request.day), id);
        subject.counted += sums.counted - sums.inRedis;
        sums.subjects.push(subject);
      }
    }
  }

  #read(window: string, id: string): Readonly<Sums> {
    const known = this.#windows.get(window);
    if (known === undefined) return NOTHING;
    return known.sums.get(id) ?? begin(known);
  }

  /** A request of it begins. */
  #openSubject(window: string, id: string): SubjectSums {
    let ofWindow = this.#windows.get(window);
    if (ofWindow === undefined) this.#windows.set(window, (ofWindow = { sums: new Map(), beginning: 0n }));
    const known = ofWindow.sums.get(id);
    if (known !== undefined) {
      known.open += 1;
      // Up to half of them, no order is kept: see set-bounded.ts.
      if (this.#subjects > this.#maxSubjects / 2) {
        ofWindow.sums.delete(id);
        ofWindow.sums.set(id, known);
      }
      return known;
    }
    const sums = begin(ofWindow);
    sums.open = 1;
    ofWindow.sums.set(id, sums);
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
    for (const ofWindow of this.#windows.values()) {
      for (const [id, { counted, open }] of ofWindow.sums) {
        if (this.#subjects <= left) return;
        if (open > 0) continue;
        ofWindow.sums.delete(id);
        if (counted > ofWindow.beginning) ofWindow.beginning = counted;
        this.#subjects -= 1;
      }
    }
  }
}

/** Whose windows a request counts in. */
function idsOf({ keyId, organizationId, owners = "" }: Counted): readonly string[] {
  const { userId, groupId } = parseOwnerIds(owners);
  return [keyId, organizationId, userId, groupId].filter((id) => id !== null);
}

const NOTHING: Readonly<Sums> = { counted: 0n, inRedis: 0n, acknowledged: 0n };

function begin({ beginning }: Window): SubjectSums {
  return { counted: beginning, inRedis: beginning, acknowledged: beginning, open: 0 };
}

/** Sets one sum of a request, and moves its key's and its organization's by as much. */
function move(sums: RequestSums, name: keyof Sums, totalMicrocents: bigint): void {
  const difference = totalMicrocents - sums[name];
  if (difference === 0n) return;
  sums[name] = totalMicrocents;
  for (const subject of sums.subjects) subject[name] += difference;
}
