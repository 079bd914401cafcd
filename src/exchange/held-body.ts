import type { BodyBudget } from "./body-budget.ts";

/** What one request counts for in its worker's budget, from its whole body to its end. */
export class HeldBody {
  readonly #budget: Pick<BodyBudget, "reserve" | "hold" | "release">;
  #bytes = 0;

  constructor(budget: Pick<BodyBudget, "reserve" | "hold" | "release">) {
    this.#budget = budget;
  }

  /** The client's whole body. @throws GatewayError 413 `request_too_large`, 503 `gateway_overloaded` */
  reserve(bytes: number): void {
    this.#budget.reserve(bytes);
    this.#bytes += bytes;
  }

  /** What is made of it, beside it. @throws GatewayError 503 `gateway_overloaded` */
  add(bytes: number): void {
    this.#budget.hold(bytes, this.#bytes);
    this.#bytes += bytes;
  }

  /** From here on no more than so much is kept of it. */
  letGo(keptBytes: number): void {
    const kept = Math.min(keptBytes, this.#bytes);
    this.#budget.release(this.#bytes - kept);
    this.#bytes = kept;
  }
}
