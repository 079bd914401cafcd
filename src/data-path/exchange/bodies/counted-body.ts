import { isAscii } from "node:buffer";
import { atOnce, type Steps } from "../../../shared/event-loop/steps.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyOwner } from "./body-owner.ts";

/** Work on a body takes so many times its bytes: its text and what is parsed of it, and the body that goes upstream. */
const ASCII_WORK = 3;
/** Text that is not ASCII has two bytes a character. */
const OTHER_WORK = 5;
/** A smaller body is read in milliseconds, whatever it consists of. */
const STEPPED_BYTES = 1024 ** 2;

/** What one request counts for in its worker's budget, from its whole body to its end. */
export class CountedBody {
  readonly #budget: BodyBudget;
  readonly #owner: BodyOwner;
  #keptBytes = 0;
  #workBytes = 0;

  constructor(budget: BodyBudget, owner: BodyOwner) {
    this.#budget = budget;
    this.#owner = owner;
  }

  /**
   * The client's whole body is read next. It returns a promise where that has to wait for others.
   * @throws GatewayError 413 `request_too_large`, 429 `buffer_limit_exceeded`, 503 `gateway_overloaded`
   */
  begin(body: Uint8Array): Promise<void> | undefined {
    const bytes = body.byteLength;
    this.#budget.checkBody(bytes);
    this.#budget.take(this.#owner, bytes);
    this.#keptBytes = bytes;
    const workBytes = bytes * (isAscii(body) ? ASCII_WORK : OTHER_WORK);
    const turn = this.#budget.work.begin(this.#owner.organizationId, bytes, workBytes);
    if (turn === undefined) {
      this.#workBytes = workBytes;
      return undefined;
    }
    return this.#after(turn, workBytes);
  }

  async #after(turn: Promise<void>, workBytes: number): Promise<void> {
    await turn;
    this.#workBytes = workBytes;
  }

  /** It works on a large body step by step, and others are served between two of them; only then it returns a promise. */
  work<Result>(steps: Steps<Result>): Result | Promise<Result> {
    return this.#keptBytes >= STEPPED_BYTES ? this.#budget.steps.run(steps) : atOnce(steps);
  }

  /** So much has been made of the body, and is kept beside it. */
  made(bytes: number): void {
    this.#budget.work.change(bytes - this.#workBytes);
    this.#workBytes = bytes;
  }

  /** From here on no more than so much is kept of it. */
  letGo(keptBytes: number): void {
    const kept = Math.min(keptBytes, this.#keptBytes + this.#workBytes);
    this.#budget.keep(this.#owner, kept - this.#keptBytes);
    this.#keptBytes = kept;
    if (this.#workBytes === 0) return;
    this.#budget.work.end(this.#workBytes);
    this.#workBytes = 0;
  }
}
