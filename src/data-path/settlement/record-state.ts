/**
 * State machine of the records of this worker's requests: the states and all transitions. No other file
 * writes a state.
 * A request's record is what Redis stores of its cost. This worker must always know what would remain if the
 * worker died now (an entry in Redis, a line in the journal, an entry in the spool, a record), whether the
 * request is in flight, and whether its record may be deleted at its end. docs/internals/settlement.md has a
 * diagram of the states.
 */
import { ShortLivedMap } from "../../shared/collections/short-lived-map.ts";
import type { JournalFile, RequestJournal } from "../spool/request-journal.ts";
import type { EnteredRequest } from "../../shared/stored/settlement.ts";
import type { RequestAccount } from "./request-account.ts";

/**
 * The admission has entered the request among its organization's open requests in Redis, or may have. It has no other
 * trace and has not gone upstream. Not in this worker's collection yet.
 */
export interface Entered {
  readonly kind: "entered";
}

/**
 * The request may go upstream: Redis has its entry but no record, and the journal has its line. If this
 * worker dies, its successor creates the record from that line.
 */
export interface Begun {
  readonly kind: "begun";
  readonly account: RequestAccount;
  /** File of the journal with its line. */
  readonly line: JournalFile;
}

/** Redis has the record, and every command was answered: the record may be deleted at the end. */
export interface Recorded {
  readonly kind: "recorded";
  readonly account: RequestAccount;
}

/**
 * `openRecord` was not answered, and the grace period applies: the request has its slot, and goes upstream once
 * the spool's disk has it.
 */
export interface Spooling {
  readonly kind: "spooling";
  readonly account: RequestAccount;
}

/**
 * The request went upstream on its line of the journal, and a charge was not answered: it is unknown whether
 * a record exists. The line is needed until Redis or the spool has taken a charge or entry.
 */
export interface Unanswered {
  readonly kind: "unanswered";
  readonly account: RequestAccount;
  readonly line: JournalFile;
}

/**
 * The request is on record, in Redis or in the spool, or Redis rejected its final charge. One of its commands was not
 * answered and may still be executed, so the record stays for repeats; Redis deletes it after seven days.
 */
export interface Retained {
  readonly kind: "retained";
  readonly account: RequestAccount;
}

/**
 * The client has the end of the response, but neither Redis nor the spool has taken the final charge in time: it is in
 * this worker's memory and is retried. Until then, the line of the journal is needed.
 */
export interface PendingInMemory {
  readonly kind: "pendingInMemory";
  readonly line: JournalFile;
}

/**
 * The request was rejected because `openRecord` was not answered. A final charge of zero is on its way, which
 * removes the record, if it exists, and reports the rejection.
 */
export interface Withdrawn {
  readonly kind: "withdrawn";
}

/** The request will not go upstream: its entry among the open requests is removed in the next batch. */
export interface Abandoned {
  readonly kind: "abandoned";
  readonly organizationId: string;
  readonly request: EnteredRequest;
}

/** The final charge was applied and every command was answered: the record is deleted in the next batch. */
export interface Closed {
  readonly kind: "closed";
  readonly organizationId: string;
  readonly requestId: string;
}

export type RecordState =
  | Entered
  | Begun
  | Recorded
  | Spooling
  | Unanswered
  | Retained
  | PendingInMemory
  | Withdrawn
  | Abandoned
  | Closed;

export type RecordStateName = RecordState["kind"];

/** Allowed next states of each state. Forgotten requests are no longer in this worker's collection. */
export const TRANSITIONS = {
  entered: ["begun", "recorded", "spooling", "withdrawn", "abandoned"],
  begun: ["recorded", "unanswered"],
  recorded: ["retained", "closed"],
  spooling: ["retained", "withdrawn"],
  unanswered: ["retained", "pendingInMemory"],
  retained: ["forgotten"],
  pendingInMemory: ["forgotten"],
  withdrawn: ["forgotten"],
  abandoned: ["forgotten"],
  closed: ["forgotten"],
} as const satisfies Record<RecordStateName, readonly (RecordStateName | "forgotten")[]>;

type Names = typeof TRANSITIONS;
/** States that may follow `From`. */
type After<From extends RecordState> = Extract<RecordState, { kind: Names[From["kind"]][number] }>;
/** States that may be forgotten. */
type Forgettable = Extract<
  RecordState,
  {
    kind: {
      [Name in RecordStateName]: "forgotten" extends Names[Name][number] ? Name : never;
    }[RecordStateName];
  }
>;

const ENTERED: Entered = { kind: "entered" };

/** Records of this worker's requests, by request id. */
export class RequestRecords {
  readonly #journal: Pick<RequestJournal, "release">;
  readonly #states = new ShortLivedMap<string, RecordState>();

  constructor(journal: Pick<RequestJournal, "release">) {
    this.#journal = journal;
  }

  stateOf(requestId: string): RecordState {
    return this.#states.get(requestId) ?? ENTERED;
  }

  /**
   * Iterates over the accounts of requests in flight: those that have gone upstream, or are about to, and are
   * not settled.
   */
  *inFlight(): Generator<RequestAccount, undefined> {
    for (const state of this.#states.values()) if ("account" in state) yield state.account;
  }

  get sizeInFlight(): number {
    let size = 0;
    for (const _account of this.inFlight()) size += 1;
    return size;
  }

  /** Counts a key's requests in flight. */
  countInFlight(keyId: string): number {
    let count = 0;
    for (const { identity } of this.inFlight()) if (identity.keyId === keyId) count += 1;
    return count;
  }

  /** Returns whether Redis may have no record of a request that has gone upstream. */
  isMissing(requestId: string): boolean {
    const { kind } = this.stateOf(requestId);
    return kind === "begun" || kind === "unanswered";
  }

  /** Call when the journal has the request's line. */
  begin(account: RequestAccount, line: JournalFile): void {
    const { requestId } = account.identity;
    this.#move(requestId, this.#entered(requestId), { kind: "begun", account, line });
  }

  /** Call when Redis has opened its record. */
  open(account: RequestAccount): void {
    const { requestId } = account.identity;
    this.#move(requestId, this.#entered(requestId), { kind: "recorded", account });
  }

  /** Call when `openRecord` was not answered: takes a slot before the spool has the request. */
  reserveSlot(account: RequestAccount): void {
    const { requestId } = account.identity;
    this.#move(requestId, this.#entered(requestId), { kind: "spooling", account });
  }

  /** Call when `openRecord` was not answered and the request is rejected. */
  withdraw(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "entered" || state.kind === "spooling") {
      this.#move(requestId, state, { kind: "withdrawn" });
    }
  }

  /**
   * Call when Redis or the spool has taken a charge, or an entry that creates its record, or when Redis will never take
   * its final charge.
   */
  recorded(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "begun") this.#move(requestId, state, { kind: "recorded", account: state.account });
    else if (state.kind === "unanswered" || state.kind === "spooling") {
      this.#move(requestId, state, { kind: "retained", account: state.account });
    } else if (state.kind === "pendingInMemory") this.#delete(requestId, state);
    else return;
    if ("line" in state) this.#journal.release(state.line);
  }

  /** Call when a charge was not answered. */
  missed(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "begun") {
      const { account, line } = state;
      this.#move(requestId, state, { kind: "unanswered", account, line });
    } else if (state.kind === "recorded") {
      this.#move(requestId, state, { kind: "retained", account: state.account });
    }
  }

  /** Call when all charges of the request have ended, or when its final charge is only in this worker's memory. */
  end(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "retained") this.#delete(requestId, state);
    else if (state.kind === "unanswered") {
      this.#move(requestId, state, { kind: "pendingInMemory", line: state.line });
    } else if (state.kind === "recorded") {
      const { organizationId } = state.account.identity;
      this.#move(requestId, state, { kind: "closed", organizationId, requestId });
    }
  }

  /**
   * Call when the request will not go upstream. If `openRecord` was not answered, the final charge removes all
   * traces.
   */
  abandon(organizationId: string, request: EnteredRequest): void {
    const { requestId } = request;
    const state = this.stateOf(requestId);
    if (state.kind === "entered") {
      this.#move(requestId, state, { kind: "abandoned", organizationId, request });
    }
  }

  /** Marks the rejection as reported. Returns true if the final charge has already reported it. */
  markRefusalReported(requestId: string): boolean {
    const state = this.stateOf(requestId);
    if (state.kind !== "withdrawn") return false;
    this.#delete(requestId, state);
    return true;
  }

  /** Returns ended requests whose traces must be removed from Redis, and forgets them. */
  takeEnded(): { readonly abandoned: Abandoned[]; readonly closed: Closed[] } {
    const ended = { abandoned: [] as Abandoned[], closed: [] as Closed[] };
    for (const state of this.#states.values()) {
      if (state.kind === "abandoned") ended.abandoned.push(state);
      else if (state.kind === "closed") ended.closed.push(state);
    }
    for (const state of ended.abandoned) this.#delete(state.request.requestId, state);
    for (const state of ended.closed) this.#delete(state.requestId, state);
    return ended;
  }

  /** @throws Error if the request already has a record, which must not be overwritten. */
  #entered(requestId: string): Entered {
    const state = this.stateOf(requestId);
    if (state.kind === "entered") return state;
    throw new Error(`the record of request ${requestId} is "${state.kind}", not "entered"`);
  }

  /** @param from Current state; the compiler checks the transition against `TRANSITIONS`. */
  #move<From extends RecordState>(requestId: string, from: From, to: After<From>): void {
    const next: RecordState = to;
    this.#require(requestId, from, next.kind);
    this.#states.set(requestId, next);
  }

  #delete(requestId: string, from: Forgettable): void {
    this.#require(requestId, from, "forgotten");
    this.#states.delete(requestId);
  }

  /** @throws Error if `from` is not the current state, or the transition is not allowed. */
  #require(requestId: string, from: RecordState, to: RecordStateName | "forgotten"): void {
    const following: readonly (RecordStateName | "forgotten")[] = TRANSITIONS[from.kind];
    if (this.stateOf(requestId) === from && following.includes(to)) return;
    throw new Error(`the record of request ${requestId} cannot go from "${from.kind}" to "${to}"`);
  }
}
