import type { Context } from "hono";
import { AdminError } from "./admin-error.ts";
import { setBounded } from "../collections/set-bounded.ts";
import { addressOf } from "./address.ts";

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/**
 * Wrong tokens of the last minute by address: after so many of them nobody there is listened to until the minute is over,
 * with whichever token, so that an answer tells nothing about a guess.
 */
export class FailureLimit {
  readonly #maximum: number;
  readonly #failures = new Map<string, { count: number; endsAtMs: number }>();

  /** @param maximum Wrong tokens in a minute. */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Seconds to wait, 0 when one may try. */
  waitSeconds(address: string, nowMs: number): number {
    const entry = this.#failures.get(address);
    if (entry === undefined || entry.endsAtMs <= nowMs || entry.count < this.#maximum) return 0;
    return Math.ceil((entry.endsAtMs - nowMs) / 1000);
  }

  failed(address: string, nowMs: number): void {
    const entry = this.#failures.get(address);
    if (entry !== undefined && entry.endsAtMs > nowMs) {
      entry.count += 1;
      return;
    }
    setBounded(this.#failures, address, { count: 1, endsAtMs: nowMs + WINDOW_MS }, MAX_ADDRESSES);
  }
}

/**
 * Looks at a token, or refuses to where too many were wrong. A call without a token is no guess, and not counted.
 * @throws AdminError 429; what `look` throws.
 */
export async function withFailureLimit<Result>(
  context: Context,
  limit: FailureLimit,
  nowMs: number,
  look: () => Result | Promise<Result>,
): Promise<Result> {
  const address = addressOf(context);
  const wait = limit.waitSeconds(address, nowMs);
  if (wait > 0) throw new AdminError("too_many_wrong_tokens", { headers: { "retry-after": String(wait) } });
  try {
    return await look();
  } catch (thrown) {
    const hasToken = context.req.header("authorization") !== undefined;
    const isWrong = thrown instanceof AdminError && thrown.code === "invalid_token";
    if (hasToken && isWrong) limit.failed(address, nowMs);
    throw thrown;
  }
}
