/**
 * Schedule of charges of requests in flight. We publish that a dying worker loses at most 2 s of a stream.
 * Charges of a request are at most 1.5 s apart, and the first comes after at most 1.25 s; the rest of the two
 * seconds is for the way from the upstream to Redis, and for late timers on a busy host. Each request has its
 * own schedule, so that charges are spread over time.
 */
import { batches } from "./organization-batches.ts";

/** Interval of the search for due charges. A charge may be late by this much. */
export const DUE_INTERVAL_MS = 250;
/** Age at which a request gets its first charge, which also creates its record. */
export const FIRST_CHARGE_AFTER_MS = 1_000;
export const NEXT_CHARGE_AFTER_MS = 1_250;

export interface Chargeable {
  /** Returns whether a charge is due, and schedules the next one. */
  takeDue(nowMs: number): boolean;
}

/** Charges all due accounts, in batches, so that an admission never waits for the charges of thousands of streams. */
export async function chargeDue<Account extends Chargeable>(
  accounts: Iterable<Account>,
  nowMs: number,
  charge: (account: Account) => Promise<void>,
): Promise<void> {
  const due: Account[] = [];
  for (const account of accounts) if (account.takeDue(nowMs)) due.push(account);
  for (const batch of batches(due)) await Promise.all(batch.map(charge));
}
