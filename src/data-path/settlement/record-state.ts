/**
 * This is where the record of each request stands: the states, and every way from one to the next. No other file writes one.
 *
 * A request's record is what Redis keeps of its cost. This worker must know at any moment what would be left of it if the
 * worker died now (an entry in Redis, a line in the journal, an entry in the spool, a record), whether it is in flight, and
 * whether its record may be deleted at its end. The picture of the states is in docs/internals/settlement.md.
 */
import { ShortLivedMap } from "../../shared/collections/short-lived-map.ts";
import type { JournalFile, OpenJournal } from "../spool/open-journal.ts";
import type { EnteredRequest } from "../store/types/settlement.ts";
import type { RequestAccount } from "./request-account.ts";

/**
 * Its admission has entered it among its organization's holds in Redis, or may have, and nothing else of it is anywhere: it
 * has not gone upstream. This worker's collection has nothing of it yet.
 */
export interface Entered {
  readonly kind: "entered";
}

/**
 * It may go upstream: Redis has it entered and has no record of it, and the journal has its line. Should this worker die,
 * its successor makes the record from that line.
 */
export interface Begun {
  readonly kind: "begun";
  readonly account: RequestAccount;
  /** The file of the journal that has its line. */
  readonly line: JournalFile;
}

/** Its record is in Redis, and every command of it was answered: its record may be deleted at its end. */
export interface Held {
  readonly kind: "held";
  readonly account: RequestAccount;
}

/**
 * Its hold was not answered, and the grace period lets it go on: it has its place among the key's requests in flight, and
 * goes upstream once the spool's disk has it.
 */
export interface Spooling {
  readonly kind: "spooling";
  readonly account: RequestAccount;
}

/**
 * It has gone upstream on its line of the journal, and Redis did not answer a charge of it: nobody knows whether there is a
 * record. The line is needed until Redis or the spool has taken something of it.
 */
export interface Unanswered {
  readonly kind: "unanswered";
  readonly account: RequestAccount;
  readonly line: JournalFile;
}

/**
 * It is on record, in Redis or in the spool, and a command of it was once not answered: it may still be executed, so the
 * record stays for the repeats, and Redis deletes it after seven days by itself.
 */
export interface Kept {
  readonly kind: "kept";
  readonly account: RequestAccount;
}

/**
 * Its client has the end of its answer, and neither Redis nor the spool has taken its final charge in time: this worker's
 * memory has it and goes on trying.
 */
export interface Owed {
  readonly kind: "owed";
  /** The file of the journal that still has its line; null: the request was on record before. */
  readonly line: JournalFile | null;
}

/**
 * It was refused because its hold was not answered. A final charge of nothing is on its way, which takes the hold back, if
 * it is there, and tells of the refusal.
 */
export interface Withdrawn {
  readonly kind: "withdrawn";
}

/** It will not go upstream: its entry among the holds is taken out with the next ones that are. */
export interface Left {
  readonly kind: "left";
  readonly organizationId: string;
  readonly request: EnteredRequest;
}

/** It has its final charge, and every command of it was answered: its record is deleted with the next ones that are. */
export interface Closed {
  readonly kind: "closed";
  readonly organizationId: string;
  readonly requestId: string;
}

export type RecordState =
  | Entered
  | Begun
  | Held
  | Spooling
  | Unanswered
  | Kept
  | Owed
  | Withdrawn
  | Left
  | Closed;

export type RecordStateName = RecordState["kind"];

/** The states that follow each one. What is forgotten is not in this worker's collection any more. */
export const TRANSITIONS = {
  entered: ["begun", "held", "spooling", "withdrawn", "left"],
  begun: ["held", "unanswered"],
  held: ["kept", "closed"],
  spooling: ["kept", "withdrawn"],
  unanswered: ["kept", "owed"],
  kept: ["owed", "forgotten"],
  owed: ["forgotten"],
  withdrawn: ["forgotten"],
  left: ["forgotten"],
  closed: ["forgotten"],
} as const satisfies Record<RecordStateName, readonly (RecordStateName | "forgotten")[]>;

type Names = typeof TRANSITIONS;
/** The states that may follow one. */
type After<From extends RecordState> = Extract<RecordState, { kind: Names[From["kind"]][number] }>;
/** The states that may be forgotten. */
type Forgettable = Extract<
  RecordState,
  {
    kind: {
      [Name in RecordStateName]: "forgotten" extends Names[Name][number] ? Name : never;
    }[RecordStateName];
  }
>;

const ENTERED: Entered = { kind: "entered" };

/** The records of this worker's requests, by request id. */
export class RequestRecords {
  readonly #journal: Pick<OpenJournal, "release">;
  readonly #states = new ShortLivedMap<string, RecordState>();

  constructor(journal: Pick<OpenJournal, "release">) {
    this.#journal = journal;
  }

  stateOf(requestId: string): RecordState {
    return this.#states.get(requestId) ?? ENTERED;
  }

  /** The accounts of the requests in flight: those that have gone upstream, or are about to, and are not settled. */
  *inFlight(): Generator<RequestAccount, undefined> {
    for (const state of this.#states.values()) if ("account" in state) yield state.account;
  }

  get sizeInFlight(): number {
    let size = 0;
    for (const _account of this.inFlight()) size += 1;
    return size;
  }

  /** So many requests of a key are in flight. */
  countInFlight(keyId: string): number {
    let count = 0;
    for (const { identity } of this.inFlight()) if (identity.keyId === keyId) count += 1;
    return count;
  }

  /** Whether Redis may have no record of a request that has gone upstream. */
  isMissing(requestId: string): boolean {
    const { kind } = this.stateOf(requestId);
    return kind === "begun" || kind === "unanswered";
  }

  /** The journal has its line. */
  begin(account: RequestAccount, line: JournalFile): void {
    const { requestId } = account.identity;
    this.#move(requestId, this.#entered(requestId), { kind: "begun", account, line });
  }

  /** Its hold was placed. */
  hold(account: RequestAccount): void {
    const { requestId } = account.identity;
    this.#move(requestId, this.#entered(requestId), { kind: "held", account });
  }

  /** Its hold was not answered, and it takes its place among the requests in flight before the spool has it. */
  takePlace(account: RequestAccount): void {
    const { requestId } = account.identity;
    this.#move(requestId, this.#entered(requestId), { kind: "spooling", account });
  }

  /** Its hold was not answered, and it is refused. */
  withdraw(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "entered" || state.kind === "spooling") {
      this.#move(requestId, state, { kind: "withdrawn" });
    }
  }

  /** Something of it is in Redis or in the spool: a charge, or an entry that makes its record. */
  recorded(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "begun") this.#move(requestId, state, { kind: "held", account: state.account });
    else if (state.kind === "unanswered" || state.kind === "spooling") {
      this.#move(requestId, state, { kind: "kept", account: state.account });
    } else if (state.kind === "owed") this.#forget(requestId, state);
    else return;
    if ("line" in state && state.line !== null) this.#journal.release(state.line);
  }

  /** A charge of it was not answered. */
  missed(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "begun") {
      const { account, line } = state;
      this.#move(requestId, state, { kind: "unanswered", account, line });
    } else if (state.kind === "held") this.#move(requestId, state, { kind: "kept", account: state.account });
  }

  /** Its answer's end has waited long enough for its final charge, which is in this worker's memory alone. */
  owe(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "unanswered") this.#move(requestId, state, { kind: "owed", line: state.line });
    else if (state.kind === "kept") this.#move(requestId, state, { kind: "owed", line: null });
  }

  /**
   * Its final charge contradicts what is on record, or no record could take it, and nothing more is tried. Its line stays in
   * the journal, for this worker's successor.
   */
  giveUp(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "unanswered") this.#move(requestId, state, { kind: "kept", account: state.account });
    else if (state.kind === "owed") this.#forget(requestId, state);
  }

  /** All of its charges have come to their end. */
  end(requestId: string): void {
    const state = this.stateOf(requestId);
    if (state.kind === "kept") this.#forget(requestId, state);
    else if (state.kind === "held") {
      const { organizationId } = state.account.identity;
      this.#move(requestId, state, { kind: "closed", organizationId, requestId });
    }
  }

  /** It will not go upstream. Where its hold was not answered, its final charge alone takes away all that may be there. */
  leave(organizationId: string, request: EnteredRequest): void {
    const { requestId } = request;
    const state = this.stateOf(requestId);
    if (state.kind === "entered") this.#move(requestId, state, { kind: "left", organizationId, request });
  }

  /** Its client is told of its refusal. True: its final charge tells of it already. */
  tellRefusal(requestId: string): boolean {
    const state = this.stateOf(requestId);
    if (state.kind !== "withdrawn") return false;
    this.#forget(requestId, state);
    return true;
  }

  /** Requests that are over and that Redis is to be told of; they are forgotten here. */
  takeEnded(): { readonly left: Left[]; readonly closed: Closed[] } {
    const ended = { left: [] as Left[], closed: [] as Closed[] };
    for (const state of this.#states.values()) {
      if (state.kind === "left") ended.left.push(state);
      else if (state.kind === "closed") ended.closed.push(state);
    }
    for (const state of ended.left) this.#forget(state.request.requestId, state);
    for (const state of ended.closed) this.#forget(state.requestId, state);
    return ended;
  }

  /** @throws Error if the request has a record already, which must not be overwritten. */
  #entered(requestId: string): Entered {
    const state = this.stateOf(requestId);
    if (state.kind === "entered") return state;
    throw new Error(`the record of request ${requestId} is "${state.kind}", not "entered"`);
  }

  /** @param from The state that is there: the compiler compares it with `TRANSITIONS`. */
  #move<From extends RecordState>(requestId: string, from: From, to: After<From>): void {
    const next: RecordState = to;
    this.#require(requestId, from, next.kind);
    this.#states.set(requestId, next);
  }

  #forget(requestId: string, from: Forgettable): void {
    this.#require(requestId, from, "forgotten");
    this.#states.delete(requestId);
  }

  /** @throws Error if `from` is not the state that is there, or `to` must not follow on it. */
  #require(requestId: string, from: RecordState, to: RecordStateName | "forgotten"): void {
    const following: readonly (RecordStateName | "forgotten")[] = TRANSITIONS[from.kind];
    if (this.stateOf(requestId) === from && following.includes(to)) return;
    throw new Error(`the record of request ${requestId} cannot go from "${from.kind}" to "${to}"`);
  }
}
