import { isAscii } from "node:buffer";
import { atOnce, type Steps } from "../../../shared/event-loop/steps.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyOwner } from "./body-owner.ts";

/** Memory that work on a body needs, as a multiple of its bytes: text, parsed values, and the upstream's body. */
const ASCII_WORK = 3;
/** Text that is not ASCII has two bytes per character. */
const OTHER_WORK = 5;
/** A smaller body is read within milliseconds, whatever it contains. */
const STEPPED_BYTES = 1024 ** 2;

/** Memory that one request uses in its worker's budget, from its complete body to its end. */
export class CountedBody {
  readonly #budget: BodyBudget;
  readonly #owner: BodyOwner;
  #retainedBytes = 0;
  #workBytes = 0;

  constructor(budget: BodyBudget, owner: BodyOwner) {
    this.#budget = budget;
    this.#owner = owner;
  }

  /**
   * Begins to read the client's complete body. Returns a promise if it has to wait for other bodies.
   * @throws GatewayError 413 `request_too_large`, 429 `buffer_limit_exceeded`, 503 `gateway_overloaded`
   */
  begin(body: Uint8Array): Promise<void> | undefined {
    const bytes = body.byteLength;
    this.#budget.checkBody(bytes);
    this.#budget.take(this.#owner, bytes);
    this.#retainedBytes = bytes;
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

  /** Works on a large body step by step, with other requests served in between, and only then returns a promise. */
  work<Result>(steps: Steps<Result>): Result | Promise<Result> {
    return this.#retainedBytes >= STEPPED_BYTES ? this.#budget.steps.run(steps) : atOnce(steps);
  }

  /** Counts bytes made from the body, in addition to the body. */
  made(bytes: number): void {
    this.#budget.work.change(bytes - this.#workBytes);
    this.#workBytes = bytes;
  }

  /** Releases all but this many bytes. */
  release(retainedBytes: number): void {
    const retained = Math.min(retainedBytes, this.#retainedBytes + this.#workBytes);
    this.#budget.count(this.#owner, retained - this.#retainedBytes);
    this.#retainedBytes = retained;
    if (this.#workBytes === 0) return;
    this.#budget.work.end(this.#workBytes);
    this.#workBytes = 0;
  }
}
