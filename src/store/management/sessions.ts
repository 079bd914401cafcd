/**
 * Sessions of the dashboard: here and nowhere else, so that a session which is ended is over on every host. Only the
 * SHA-256 of a session's secret is ever here. What is lost with Redis is a session less, never one more.
 */
import type { StoreContext } from "../context.ts";
import { sessionKey } from "../redis/keys.ts";
import type { SessionHolder } from "../types/sessions.ts";

/** @see SessionStore.createSession */
export async function createSession(
  { client }: StoreContext,
  sha256Hex: string,
  holder: SessionHolder,
  lifetimeMs: number,
): Promise<void> {
  const value = holder.type === "operator" ? `operator ${holder.proof}` : `token ${holder.tokenHash}`;
  await client.set(sessionKey(sha256Hex), value, "PX", lifetimeMs);
}

/** @see SessionStore.findSession */
export async function findSession(
  { client }: StoreContext,
  sha256Hex: string,
): Promise<SessionHolder | null> {
  const [type, value] = (await client.get(sessionKey(sha256Hex)))?.split(" ") ?? [];
  if (value === undefined) return null;
  if (type === "operator") return { type, proof: value };
  return type === "token" ? { type, tokenHash: value } : null;
}

/** @see SessionStore.endSession */
export async function endSession({ client }: StoreContext, sha256Hex: string): Promise<void> {
  await client.del(sessionKey(sha256Hex));
}
