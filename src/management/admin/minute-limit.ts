import { setBounded } from "../../shared/collections/set-bounded.ts";
import { AdminError, type AdminErrorCode } from "./admin-error.ts";
import type { Context } from "hono";
import { getConnInfo } from "@hono/node-server/conninfo";

const WINDOW_MS = 60_000;
const MAX_NAMES = 10_000;

/** Limit by name within a minute that starts with the first call: further calls must wait until it ends. */
export class MinuteLimit {
  readonly #maximum: number;
  readonly #counts = new Map<string, { count: number; endsAtMs: number }>();

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Returns the seconds to wait, 0 if allowed. */
  waitSeconds(name: string, nowMs: number): number {
    const entry = this.#counts.get(name);
    if (entry === undefined || entry.endsAtMs <= nowMs || entry.count < this.#maximum) return 0;
    return Math.ceil((entry.endsAtMs - nowMs) / 1000);
  }

  /** @throws AdminError with this code while the caller must wait. */
  requireBelowLimit(name: string, nowMs: number, code: AdminErrorCode): void {
    const wait = this.waitSeconds(name, nowMs);
    if (wait > 0) throw new AdminError(code, { headers: { "retry-after": String(wait) } });
  }

  /** Counts a call. @throws AdminError like `requireBelowLimit`, then without counting. */
  take(name: string, nowMs: number, code: AdminErrorCode): void {
    this.requireBelowLimit(name, nowMs, code);
    this.count(name, nowMs);
  }

  count(name: string, nowMs: number): void {
    const entry = this.#counts.get(name);
    if (entry !== undefined && entry.endsAtMs > nowMs) {
      entry.count += 1;
      return;
    }
    setBounded(this.#counts, name, { count: 1, endsAtMs: nowMs + WINDOW_MS }, MAX_NAMES);
  }
}

/**
 * Checks a token, or rejects it if its address had too many wrong ones, even if this one is right, so that
 * responses reveal nothing about guesses. A call without a token is not counted.
 * @throws AdminError 429; errors of `look`.
 */
export async function withFailureLimit<Result>(
  context: Context,
  limit: MinuteLimit,
  nowMs: number,
  look: () => Result | Promise<Result>,
): Promise<Result> {
  const address = addressOf(context);
  limit.requireBelowLimit(address, nowMs, "too_many_wrong_tokens");
  try {
    return await look();
  } catch (thrown) {
    const hasToken = context.req.header("authorization") !== undefined;
    const isWrong = thrown instanceof AdminError && thrown.code === "invalid_token";
    if (hasToken && isWrong) limit.count(address, nowMs);
    throw thrown;
  }
}

/** Returns the peer's address; behind a proxy that is the proxy's, and all its users share it. */
export function addressOf(context: Context): string {
  return getConnInfo(context).remote.address ?? "unknown";
}
