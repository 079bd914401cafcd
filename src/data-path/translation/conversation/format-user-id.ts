import { createHash } from "node:crypto";

/** OpenAI's limit; Claude Code sends more than twice as much. */
const MAX_CHARACTERS = 64;

/** Shortens a user id that exceeds the limit to its SHA-256 in hex, which is exactly as long as the limit. */
export function formatUserId(userId: string): string {
  return userId.length <= MAX_CHARACTERS ? userId : createHash("sha256").update(userId).digest("hex");
}
