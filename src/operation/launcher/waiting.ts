/** Waits shorter than this need no notice. */
export const NOTICE_AFTER_MS = 2_000;

/** Prints what the start waits for. The address must not contain a password. */
export function printWaiting(address: string): void {
  process.stderr.write(`waiting for Redis at ${address} …\n`);
}
