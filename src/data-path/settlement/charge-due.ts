/**
 * This says when requests in flight are charged. It is published that a worker that dies loses at most 2 s of a stream. From
 * one charge of a request to the next go 1.5 s at most, and to the first 1.25 s; what is left of the two seconds is for the
 * way from the upstream to Redis, and for timers, which come late on a busy machine. Each request has its own time, so that
 * the charges of many do not come all at once.
 */
import { batches } from "./organization-batches.ts";

/** The worker looks so often for what is due; a charge may be as much late. */
export const DUE_INTERVAL_MS = 250;
/** The first charge makes the request's record, too. */
export const FIRST_CHARGE_AFTER_MS = 1_000;
export const NEXT_CHARGE_AFTER_MS = 1_250;

export interface Chargeable {
  /** Whether a charge is due; the next one is due later then. */
  takeDue(nowMs: number): boolean;
}

/** It charges in batches, so that an admission never waits for the charges of thousands of streams. */
export async function chargeDue<Account extends Chargeable>(
  accounts: Iterable<Account>,
  nowMs: number,
  charge: (account: Account) => Promise<void>,
): Promise<void> {
  const due: Account[] = [];
  for (const account of accounts) if (account.takeDue(nowMs)) due.push(account);
  for (const batch of batches(due)) await Promise.all(batch.map(charge));
}
