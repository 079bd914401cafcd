/**
 * Whether Redis, or the store before it, has read a charge and will never take it: the record says another key, month,
 * day or model, the organization is billed in another currency, or a figure is none. Everything else is worth another try.
 */
export function isRefusedCharge(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return error instanceof Error && error.message.startsWith("MISMATCH");
}
