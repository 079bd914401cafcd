import { createHash, timingSafeEqual } from "node:crypto";

/** Whether two texts are the same, in constant time: over hashes, so that the lengths tell nothing either. */
export function isSameText(first: string, second: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(first), digest(second));
}
