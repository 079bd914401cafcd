import { createHash } from "node:crypto";

/** What OpenAI takes at most; Claude Code sends more than twice as much. */
const MAX_CHARACTERS = 64;

/** A user id that every upstream takes: itself, or its SHA-256 in hex, which is exactly as long as it may be. */
export function formatUserId(userId: string): string {
  return userId.length <= MAX_CHARACTERS ? userId : createHash("sha256").update(userId).digest("hex");
}
