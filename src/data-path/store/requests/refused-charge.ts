/**
 * Returns whether a charge failed permanently: Redis or the store read it and will never apply it. Its record
 * has another key, month, day or model, the organization has another currency, or a figure is invalid. All
 * other errors are worth a retry.
 */
export function isRefusedCharge(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return error instanceof Error && error.message.startsWith("MISMATCH");
}
