/**
 * Sessions of the dashboard: here and nowhere else, so that a session which is ended is over on every host. Only the
 * SHA-256 of a session's secret is ever here. What is lost with Redis is a session less, never one more.
 */
import type { StoreContext } from "../context.ts";
import { sessionKey } from "../redis/keys.ts";
import type { SessionHolder } from "../types/sessions.ts";
import type { Run } from "../run.ts";
import type { SessionStore } from "../types/sessions.ts";

export function createSessionStore(run: Run): SessionStore {
  return {
    createSession: (sha256Hex, holder, lifetimeMs) =>
      run("createSession", (context) => createSession(context, sha256Hex, holder, lifetimeMs)),
    findSession: (sha256Hex) => run("findSession", (context) => findSession(context, sha256Hex)),
    endSession: (sha256Hex) => run("endSession", (context) => endSession(context, sha256Hex)),
  };
}

/** @see SessionStore.createSession */
async function createSession(
  { client }: StoreContext,
  sha256Hex: string,
  holder: SessionHolder,
  lifetimeMs: number,
): Promise<void> {
  const value = holder.type === "operator" ? `operator ${holder.proof}` : `token ${holder.tokenHash}`;
  await client.set(sessionKey(sha256Hex), value, "PX", lifetimeMs);
}

/** @see SessionStore.findSession */
async function findSession({ client }: StoreContext, sha256Hex: string): Promise<SessionHolder | null> {
  const [type, value] = (await client.get(sessionKey(sha256Hex)))?.split(" ") ?? [];
  if (value === undefined) return null;
  if (type === "operator") return { type, proof: value };
  return type === "token" ? { type, tokenHash: value } : null;
}

/** @see SessionStore.endSession */
async function endSession({ client }: StoreContext, sha256Hex: string): Promise<void> {
  await client.del(sessionKey(sha256Hex));
}
