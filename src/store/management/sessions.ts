/**
 * Sessions of the dashboard: here and nowhere else, so that a session which is ended is over on every host. Only the
 * SHA-256 of a session's secret is ever here. What is lost with Redis is a session less, never one more.
 */
import { sessionKey } from "../redis/keys.ts";
import { storeOf } from "../run.ts";
import type { SessionStore } from "../types/sessions.ts";

export const createSessionStore = storeOf<SessionStore>({
  async createSession({ client }, sha256Hex, holder, lifetimeMs) {
    const value = holder.type === "operator" ? `operator ${holder.proof}` : `token ${holder.tokenHash}`;
    await client.set(sessionKey(sha256Hex), value, "PX", lifetimeMs);
  },

  async findSession({ client }, sha256Hex) {
    const [type, value] = (await client.get(sessionKey(sha256Hex)))?.split(" ") ?? [];
    if (value === undefined) return null;
    if (type === "operator") return { type, proof: value };
    return type === "token" ? { type, tokenHash: value } : null;
  },

  async endSession({ client }, sha256Hex) {
    await client.del(sessionKey(sha256Hex));
  },
});
