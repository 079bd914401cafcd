import { setBounded } from "../../set-bounded.ts";
const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
const MAX_ADDRESSES = 10_000;

/** Failed sign-ins of the last minute by address: after ten of them nobody there signs in until the minute is over. */
export class SignInLimit {
  readonly #failures = new Map<string, { count: number; endsAtMs: number }>();

  /** Seconds to wait, 0 when one may try. */
  waitSeconds(address: string, nowMs: number): number {
    const entry = this.#failures.get(address);
    if (entry === undefined || entry.endsAtMs <= nowMs || entry.count < MAX_FAILURES) return 0;
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
