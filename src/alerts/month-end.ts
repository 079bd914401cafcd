import { parseMonth } from "../calendar.ts";

/** When the spend of an alert's month no longer counts. @throws RangeError */
export function monthEndMs(month: string): number {
  const parsed = parseMonth(month);
  if (parsed === null) throw new RangeError(`"${month}" is not a month like "2026-11"`);
  return parsed.endMs;
}
