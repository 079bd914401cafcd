/** So long nobody wonders. */
export const TOLD_AFTER_MS = 2_000;

/** For the person in front of the terminal: what the start waits for. The address has no password in it. */
export function tellOfWaiting(address: string): void {
  process.stderr.write(`waiting for Redis at ${address} …\n`);
}
