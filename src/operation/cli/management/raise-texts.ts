/** Temporary raises as the command line shows them. */
import { formatAmount } from "./amounts.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatSecond } from "./times.ts";

/** Of an answer's `raises`, those that have not ended. */
export function liveRaisesOf(raises: unknown): readonly JsonObject[] {
  const all = raises as readonly JsonObject[];
  return all.filter(({ expires_at: expiresAt }) => Date.parse(String(expiresAt)) > Date.now());
}

/** "+50.00 USD a week until 2026-12-04T00:00:00Z" */
export function formatRaise(raise: JsonObject, currency: string): string {
  const { period, add_cents: cents, expires_at: expiresAt } = raise;
  const amount = formatAmount(cents, currency).trim();
  const window = period === "total" ? "in total" : `a ${String(period)}`;
  return `+${amount} ${window} until ${formatSecond(expiresAt)}`;
}
