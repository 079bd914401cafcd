/**
 * This worker's own charges, and which part of them Redis's figures include: the part that caps must add
 * while Redis is unreachable, exactly once. This is the only place with that information. It is notified of
 * charges before they are sent and of replies in the order in which Redis executed the commands (`OwnSpend`),
 * so its value at an admission's reply is exactly the part included in that reply's spend.
 */
import { dropCount, setBounded } from "../../shared/collections/set-bounded.ts";
import { ShortLivedMap } from "../../shared/collections/short-lived-map.ts";
import { parseOwnerIds } from "../../shared/stored/owner-ids.ts";
import { COUNTED_PERIODS, windowName } from "../store/usage/windows.ts";
import { ALWAYS_COUNTED } from "../../shared/time/periods.ts";
import type { OwnSpend, OwnWindow } from "../../shared/stored/own-spend.ts";
import type { ChargeInput, RequestIdentity } from "../../shared/stored/settlement.ts";

/** Microcents since this worker started. */
interface Sums {
  counted: bigint;
  /** Part that Redis has, or may have after an unanswered charge, so that nothing counts twice. */
  inRedis: bigint;
  acknowledged: bigint;
}

/** Sums of a key, user, group or organization in a window. */
interface SubjectSums extends Sums {
  /** Number of its requests whose last charge is unacknowledged. */
  open: number;
}

interface RequestSums extends Sums {
  readonly request: Counted;
  readonly subjects: SubjectSums[];
  /** True if it is counted in all windows, not only the month's. */
  hasWindows: boolean;
  /** Sequence of the last acknowledged charge. */
  sequence: number;
  /** Sequence of the latest unanswered charge. */
  unansweredSequence: number;
}

type Counted = Pick<RequestIdentity, "organizationId" | "keyId" | "requestId" | "day" | "owners">;

/**
 * Only differences between sums matter, so their starting value is arbitrary. An evicted sum restarts at the
 * largest value of any evicted one: the difference to a last known value is then never too small, and a cap
 * rejects too early rather than too late, until the key's next admission.
 */
interface Window {
  readonly sums: Map<string, SubjectSums>;
  beginning: bigint;
}

/** Bound of subjects of all windows; the ones charged longest ago are evicted if they have no open requests. */
const MAX_SUBJECTS = 100_000;
/** Bound of organizations whose other windows are counted. */
const MAX_WINDOWED = 20_000;

export class GraceSpend implements OwnSpend {
  /** Requests whose last charge is unacknowledged: in flight, or in the spool. */
  readonly #requests = new ShortLivedMap<string, RequestSums>();
  /** Sums by the window's name. */
  readonly #windows = new Map<string, Window>();
  readonly #windowed = new Map<string, true>();
  readonly #maxSubjects: number;
  #subjects = 0;
  #evictAbove: number;

  constructor({ maxSubjects = MAX_SUBJECTS } = {}) {
    this.#maxSubjects = maxSubjects;
    this.#evictAbove = maxSubjects;
  }

  /** Call before a charge is sent, with the request's total so far. */
  counted(request: Counted, totalMicrocents: bigint): void {
    move(this.#requestSums(request), "counted", totalMicrocents);
  }

  /** @see OwnSpend.acknowledged */
  acknowledged({ requestId, sequence, totalMicrocents, final }: ChargeInput): void {
    const sums = this.#requests.get(requestId);
    // Charges from an earlier process's spool were never counted here.
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

  /**
   * Returns the microcents that this worker has counted for a key, user, group or organization in the window
   * with this name.
   */
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

  /** Starts counting other windows of an organization, also for requests in flight. */
  #beginWindows(organizationId: string): void {
    setBounded(this.#windowed, organizationId, true, MAX_WINDOWED);
    for (const sums of this.#requests.values()) {
      if (sums.request.organizationId === organizationId && !sums.hasWindows) this.#openWindows(sums);
    }
  }

  /**
   * Adds a request in flight to the other windows. Its earlier charges count as included in Redis, because
   * the spend read from Redis already includes them.
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

  /** Counts a new request of a subject. */
  #openSubject(window: string, id: string): SubjectSums {
    let ofWindow = this.#windows.get(window);
    if (ofWindow === undefined) this.#windows.set(window, (ofWindow = { sums: new Map(), beginning: 0n }));
    const known = ofWindow.sums.get(id);
    if (known !== undefined) {
      known.open += 1;
      // Up to half of the bound the order is not maintained: see set-bounded.ts.
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
    if (this.#subjects > this.#evictAbove) this.#evictOldest();
    return sums;
  }

  /**
   * Evicts several subjects at once. If the others all have open requests, tries again after as many more were
   * added.
   */
  #evictOldest(): void {
    const count = dropCount(this.#maxSubjects);
    this.#evict(this.#maxSubjects + 1 - count);
    this.#evictAbove = Math.max(this.#maxSubjects, this.#subjects + count);
  }

  /** Evicts subjects without open requests until this many subjects remain. */
  #evict(remaining: number): void {
    for (const ofWindow of this.#windows.values()) {
      for (const [id, { counted, open }] of ofWindow.sums) {
        if (this.#subjects <= remaining) return;
        if (open > 0) continue;
        ofWindow.sums.delete(id);
        if (counted > ofWindow.beginning) ofWindow.beginning = counted;
        this.#subjects -= 1;
      }
    }
  }
}

/** Lists the subjects that a request counts for. */
function idsOf({ keyId, organizationId, owners = "" }: Counted): readonly string[] {
  const { userId, groupId } = parseOwnerIds(owners);
  return [keyId, organizationId, userId, groupId].filter((id) => id !== null);
}

const NOTHING: Readonly<Sums> = { counted: 0n, inRedis: 0n, acknowledged: 0n };

function begin({ beginning }: Window): SubjectSums {
  return { counted: beginning, inRedis: beginning, acknowledged: beginning, open: 0 };
}

/** Sets one sum of a request, and changes those of its subjects by the difference. */
function move(sums: RequestSums, name: keyof Sums, totalMicrocents: bigint): void {
  const difference = totalMicrocents - sums[name];
  if (difference === 0n) return;
  sums[name] = totalMicrocents;
  for (const subject of sums.subjects) subject[name] += difference;
}
