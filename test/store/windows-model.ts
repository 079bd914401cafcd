/**
 * What an organization has spent by window and owner, what its limits refuse and what they tell, as a plain model: all that
 * was ever spent, in integers, by owner and window, whether or not anybody counts it.
 */
import type { Limit, LimitPeriod } from "../../src/shared/settings/limits.ts";
import type { LimitScope } from "../../src/shared/stored/decision.ts";
import { DAY_MS, formatWindow, PERIODS, windowOf } from "./windows-calendar.ts";

export const HOLD_DEADLINE_MS = 30_000;
/** After that its counter is gone, or incomplete if something late has made it again. */
const RETENTION_MS = { day: 15 * DAY_MS, week: 22 * DAY_MS, month: Infinity, total: Infinity };
const MAX_CENTS = 9_000_000_000;
const CENT = 1_000_000n;
const SCOPES = ["key", "user", "group", "organization"] as const;
const PERCENTS = { budget: [80, 100], cap: [90, 100] } as const;

/** "organization", "key 0", "user 1", "group 0". */
export type Subject = string;

export interface ModelRaise {
  readonly id: string;
  readonly period: LimitPeriod;
  readonly cents: number;
  readonly expiresAtMs: number;
}

export interface ModelOwner {
  limits: readonly Limit[];
  /** Of groups and the organization. */
  memberLimits: readonly Limit[];
  raises: readonly ModelRaise[];
  /** Of keys. */
  user: number | null;
  /** Of keys and users. */
  group: number | null;
  /** Of users and groups. Whoever names it goes on without it. */
  isDeleted: boolean;
}

export interface ModelLimit {
  readonly scope: LimitScope;
  readonly subject: Subject;
  readonly period: LimitPeriod;
  readonly kind: Limit["kind"];
  /** In force. */
  readonly cents: number;
  readonly raised: number;
}

/** Against a cap. */
export interface ModelCap extends ModelLimit {
  readonly spent: bigint;
  readonly held: bigint;
}

export interface ModelRequest {
  readonly key: number;
  readonly user: number | null;
  readonly group: number | null;
  readonly admittedMs: number;
  /** `admitted`: without a record. */
  state: "admitted" | "open" | "closed";
  isFinal: boolean;
  sequence: number;
  charged: bigint;
  estimate: bigint | null;
  floor: bigint;
  worst: bigint;
  /** Periods that were counted when its record was opened. */
  heldIn: readonly LimitPeriod[];
  deadlineMs: number;
}

export interface Charge {
  readonly request: number;
  readonly sequence: number;
  readonly total: bigint;
  readonly estimate: bigint;
  readonly isFinal: boolean;
}

export interface ModelSettings {
  readonly keys: number;
  readonly users: number;
  readonly groups: number;
  readonly isStrict: boolean;
  /** Whose keys are, and of which groups users, from the start. */
  readonly members: Readonly<Record<Subject, Partial<ModelOwner>>>;
}

const newOwner = (): ModelOwner => ({
  limits: [],
  memberLimits: [],
  raises: [],
  user: null,
  group: null,
  isDeleted: false,
});
const scopeOf = (subject: Subject): LimitScope => SCOPES.find((scope) => subject.startsWith(scope))!;

export class WindowsModel {
  owners = new Map<Subject, ModelOwner>();
  requests: ModelRequest[] = [];
  /** By "<subject> <period> <start of the window>". */
  spent = new Map<string, bigint>();
  /** What is counted, and since which window all of it. */
  countedFrom = new Map<LimitPeriod, number>();
  /** What has fired. False: it may have, by the order in which two things came to Redis that were sent at once. */
  fired = new Map<string, boolean>();
  isStrict: boolean;
  areDayAlertsAll = false;
  nowMs: number;

  constructor({ keys, users, groups, isStrict }: ModelSettings, nowMs: number) {
    this.isStrict = isStrict;
    this.nowMs = nowMs;
    for (const [name, count] of Object.entries({ key: keys, user: users, group: groups })) {
      for (let index = 0; index < count; index += 1) this.owners.set(`${name} ${index}`, newOwner());
    }
    this.owners.set("organization", newOwner());
  }

  clone(): WindowsModel {
    const copy = new WindowsModel(
      { keys: 0, users: 0, groups: 0, isStrict: this.isStrict, members: {} },
      this.nowMs,
    );
    return Object.assign(copy, structuredClone(Object.fromEntries(Object.entries(this))));
  }

  owner(subject: Subject): ModelOwner {
    return this.owners.get(subject)!;
  }

  #ifThere(kind: "user" | "group", place: number | null): number | null {
    return place === null || this.owner(`${kind} ${place}`).isDeleted ? null : place;
  }

  #groupOf(subject: Subject): number | null {
    return this.#ifThere("group", this.owner(subject).group);
  }

  /** Whose a request of a key is that is admitted now: a key's group is its own, else its user's. */
  ownersOf(key: number): { user: number | null; group: number | null } {
    const user = this.#ifThere("user", this.owner(`key ${key}`).user);
    return {
      user,
      group: this.#groupOf(`key ${key}`) ?? (user === null ? null : this.#groupOf(`user ${user}`)),
    };
  }

  subjectsOf({ key, user, group }: Pick<ModelRequest, "key" | "user" | "group">): Subject[] {
    const named = [user === null ? [] : [`user ${user}`], group === null ? [] : [`group ${group}`]];
    return [`key ${key}`, ...named.flat(), "organization"];
  }

  /** All that hold for these owners now, the narrowest first. */
  limitsOf(subjects: readonly Subject[]): ModelLimit[] {
    return subjects.flatMap((subject) => {
      const { limits, raises, isDeleted } = this.owner(subject);
      if (isDeleted) return [];
      const group = this.#groupOf(subject);
      const giver = group === null ? "organization" : `group ${group}`;
      const given = subject.startsWith("user") ? this.owner(giver).memberLimits : [];
      const isOwn = ({ period, kind }: Limit) =>
        limits.some((limit) => limit.period === period && limit.kind === kind);
      return [...limits, ...given.filter((limit) => !isOwn(limit))].map(({ period, kind, cents }) => {
        const live = raises.filter((raise) => raise.period === period && this.nowMs < raise.expiresAtMs);
        const wanted = live.reduce((sum, raise) => sum + raise.cents, cents);
        const inForce = kind === "cap" ? Math.min(wanted, MAX_CENTS) : cents;
        return { scope: scopeOf(subject), subject, period, kind, cents: inForce, raised: inForce - cents };
      });
    });
  }

  spentIn(subject: Subject, period: LimitPeriod, timeMs: number): bigint {
    return this.spent.get(`${subject} ${period} ${windowOf(period, timeMs).startMs}`) ?? 0n;
  }

  /** Of requests in flight, what their worst cases have left. */
  heldIn(subject: Subject, period: LimitPeriod, timeMs: number): bigint {
    const { startMs } = windowOf(period, timeMs);
    return this.requests
      .filter((request) => {
        return (
          request.state === "open" &&
          request.heldIn.includes(period) &&
          this.subjectsOf(request).includes(subject) &&
          windowOf(period, request.admittedMs).startMs === startMs
        );
      })
      .reduce((sum, { worst, charged }) => sum + (worst > charged ? worst - charged : 0n), 0n);
  }

  /** The caps of these owners, with what stands against them in the windows of a time. */
  capsOf(subjects: readonly Subject[], timeMs: number): ModelCap[] {
    const caps = this.limitsOf(subjects).filter(({ kind }) => kind === "cap");
    return caps.map((cap) => ({
      ...cap,
      spent: this.spentIn(cap.subject, cap.period, timeMs),
      held: this.isStrict ? this.heldIn(cap.subject, cap.period, timeMs) : 0n,
    }));
  }

  /** The cap that refuses a request of a key now, null when none does. Who is refused has been told. */
  admit(key: number): ModelCap | null {
    const subjects = this.subjectsOf({ key, ...this.ownersOf(key) });
    const named = nameReached(this.capsOf(subjects, this.nowMs), this.nowMs);
    if (named !== null) this.fire(this.limitsOf(subjects), this.nowMs);
    return named;
  }

  enter(key: number): number {
    const admitted = { key, ...this.ownersOf(key), admittedMs: this.nowMs, state: "admitted" as const };
    const nothing = { isFinal: false, sequence: -1, charged: 0n, estimate: null, floor: 0n, worst: 0n };
    return this.requests.push({ ...admitted, ...nothing, heldIn: [], deadlineMs: Infinity }) - 1;
  }

  /** "opened", "exists", or the caps that may be named: more than one only where they leave the same room. */
  openRecord(index: number, worst: bigint, floor: bigint): "opened" | "exists" | readonly ModelCap[] {
    const request = this.requests[index]!;
    if (request.state !== "admitted") return "exists";
    const caps = this.capsOf(this.subjectsOf(request), request.admittedMs);
    const named = nameReached(caps, request.admittedMs) ?? [];
    const refused = this.isStrict ? this.#tooTight(caps, worst) : [named].flat();
    if (refused.length > 0) this.fire(this.limitsOf(this.subjectsOf(request)), request.admittedMs);
    if (refused.length > 0) return refused;
    const heldIn = ["month", ...this.countedFrom.keys()];
    const deadlineMs = this.nowMs + HOLD_DEADLINE_MS;
    const opened = {
      state: "open",
      floor,
      worst: this.isStrict ? worst : 0n,
      sequence: 0,
      heldIn,
      deadlineMs,
    };
    Object.assign(request, opened);
    return "opened";
  }

  /** Of the caps that have no room for a request those with the least. */
  #tooTight(caps: readonly ModelCap[], worst: bigint): readonly ModelCap[] {
    const room = ({ cents, spent, held }: ModelCap) => BigInt(cents) * CENT - spent - held;
    const refusing = caps.filter((cap) => cap.spent >= BigInt(cap.cents) * CENT || room(cap) < worst);
    const least = refusing.reduce<bigint | null>(
      (sum, cap) => (sum === null || room(cap) < sum ? room(cap) : sum),
      null,
    );
    const tightest = refusing.filter((cap) => room(cap) === least);
    return tightest.filter(({ subject }) => subject === tightest[0]!.subject);
  }

  /** What a charge makes of its request's total; null when it is a repeat. */
  totalAfter({ request: index, sequence, total, estimate, isFinal }: Charge): bigint | null {
    const request = this.requests[index]!;
    if (sequence <= request.sequence) return null;
    return request.state === "closed" && !isFinal && estimate > total ? estimate : total;
  }

  /** @param isCertain Of each limit: whether it is the one that the charge meets. */
  charge(charge: Charge, isCertain?: (limit: ModelLimit) => boolean): "applied" | "repeated" {
    const request = this.requests[charge.request]!;
    const total = this.totalAfter(charge);
    if (total === null) return "repeated";
    if (request.state === "admitted") {
      request.state = "open";
      request.deadlineMs = this.nowMs + HOLD_DEADLINE_MS;
    }
    const isMore = total > request.charged;
    request.sequence = charge.sequence;
    request.estimate = charge.isFinal ? null : charge.estimate;
    this.#setTotal(request, total);
    if (charge.isFinal) Object.assign(request, { isFinal: true, state: "closed", deadlineMs: Infinity });
    if (charge.isFinal || isMore) {
      this.fire(this.limitsOf(this.subjectsOf(request)), request.admittedMs, isCertain);
    }
    return "applied";
  }

  renew(index: number): "missing" | "ended" | "renewed" | "reopened" {
    const request = this.requests[index]!;
    if (request.state === "admitted") return "missing";
    if (request.isFinal) return "ended";
    const outcome = request.state === "open" ? "renewed" : "reopened";
    Object.assign(request, { state: "open", deadlineMs: this.nowMs + HOLD_DEADLINE_MS });
    return outcome;
  }

  overdue(): number[] {
    return [...this.requests.keys()].filter((index) => this.requests[index]!.deadlineMs <= this.nowMs);
  }

  /** Whether something is in flight that was admitted at this time or before. */
  hasOpenSince(timeMs: number): boolean {
    return this.requests.some(({ state, admittedMs }) => state === "open" && admittedMs <= timeMs);
  }

  /** As whoever finds that its owner is gone: at the best that is known of it. */
  close(index: number): void {
    const request = this.requests[index]!;
    const known = [request.charged, request.estimate ?? 0n, request.floor];
    const total = known.reduce((most, each) => (each > most ? each : most));
    this.#setTotal(request, total);
    Object.assign(request, { state: "closed", deadlineMs: Infinity });
    this.fire(this.limitsOf(this.subjectsOf(request)), request.admittedMs);
  }

  /** By a person, now. */
  correct(key: number | null, amount: bigint): void {
    const subjects = key === null ? ["organization"] : [`key ${key}`, "organization"];
    this.#move(subjects, this.nowMs, amount);
    this.fire(this.limitsOf(subjects), this.nowMs);
  }

  /** A change of an owner. What it has of its own now may be under what is spent; its members are told with their next request. */
  change(subject: Subject, changes: Partial<ModelOwner>): void {
    Object.assign(this.owner(subject), changes);
    this.count(changes);
    this.fire(this.limitsOf([...new Set([subject, "organization"])]), this.nowMs);
  }

  /**
   * A period other than the month is counted from the first limit of it on, in all owners' windows: those of now and those
   * just before.
   */
  count({ limits = [], memberLimits = [] }: Partial<ModelOwner>): void {
    for (const { period } of [...limits, ...memberLimits]) {
      if (period === "month" || this.countedFrom.has(period)) continue;
      const { startMs } = windowOf(period, this.nowMs);
      this.countedFrom.set(period, period === "total" ? startMs : windowOf(period, startMs - 1).startMs);
    }
  }

  /** Whether an owner's counter in this window has all that was spent, as long as it is kept. */
  isWhole(period: LimitPeriod, startMs: number, timeMs = this.nowMs): boolean {
    if (period !== "total" && timeMs >= startMs + RETENTION_MS[period]) return false;
    if (period === "month") return true;
    const from = this.countedFrom.get(period);
    return from !== undefined && startMs >= from;
  }

  /** @param timeMs In the windows of this time. */
  fire(limits: readonly ModelLimit[], timeMs: number, isCertain?: (limit: ModelLimit) => boolean): void {
    for (const limit of limits) {
      const { subject, kind, period, cents } = limit;
      const { startMs } = windowOf(period, timeMs);
      if (cents === 0 || !this.isWhole(period, startMs)) continue;
      for (const percent of PERCENTS[kind]) {
        const isTold = percent === 100 || period !== "day" || this.areDayAlertsAll;
        const isReached = this.spentIn(subject, period, timeMs) >= BigInt(cents * percent) * (CENT / 100n);
        if (!isTold || !isReached) continue;
        const alert = `${percent} % of ${cents}, ${kind} of ${subject}, ${formatWindow(period, startMs)}`;
        const isSo = isCertain === undefined || isCertain(limit) || this.fired.get(alert) === true;
        this.fired.set(alert, isSo);
      }
    }
  }

  #setTotal(request: ModelRequest, total: bigint): void {
    this.#move(this.subjectsOf(request), request.admittedMs, total - request.charged);
    request.charged = total;
  }

  #move(subjects: readonly Subject[], timeMs: number, difference: bigint): void {
    for (const subject of subjects) {
      for (const period of PERIODS) {
        const name = `${subject} ${period} ${windowOf(period, timeMs).startMs}`;
        this.spent.set(name, (this.spent.get(name) ?? 0n) + difference);
      }
    }
  }
}

/** Of the caps that are reached the one that resets last; of those the narrowest owner's; of its own the longest period's. */
function nameReached(caps: readonly ModelCap[], timeMs: number): ModelCap | null {
  const resets = ({ period }: ModelCap) => windowOf(period, timeMs).endMs;
  const reached = caps.filter(({ cents, spent }) => spent >= BigInt(cents) * CENT);
  const last = Math.max(...reached.map(resets));
  const [narrowest] = reached.filter((cap) => resets(cap) === last);
  const its = reached.filter((cap) => resets(cap) === last && cap.subject === narrowest?.subject);
  return its.toSorted((one, other) => PERIODS.indexOf(other.period) - PERIODS.indexOf(one.period))[0] ?? null;
}
