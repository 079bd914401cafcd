/**
 * Dashboard sessions. They are only stored here, so that an ended session is over on every host. Only the
 * SHA-256 of a session's secret is stored. Losing data in Redis ends sessions, and never revives one.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { StoreContext } from "../context.ts";
import { isId } from "../ids.ts";
import { timeMs } from "../redis/clock.ts";
import { ownSessionsKey, knownRoleKey, sessionKey, sessionListKey } from "../redis/keys.ts";
import { type Operations, storeOf } from "../run.ts";
import {
  PERSON_ROLES,
  SESSION_MS,
  type SessionHolder,
  type SessionRecord,
  type SessionStore,
} from "../../../shared/stored/sessions.ts";

/** Idle time after which a session ends. */
export const SESSION_IDLE_MS = 8 * 3_600_000;
/** Precision of the time of last use, so that one write per minute is enough. */
const SEEN_MS = 60_000;
/** Sessions of one person or token; more end the oldest of the same holder. */
const MAX_SESSIONS = 20;
const KNOWN_ROLE_SECONDS = 400 * 86_400;
/** Position of a page after a deleted entry. */
const AFTER_ALL = 2 ** 31;

const organizationId = z.string();
const recordSchema = z.object({
  holder: z.discriminatedUnion("type", [
    z.object({ type: z.literal("operator"), proof: z.string() }),
    z.object({ type: z.literal("token"), tokenHash: z.string(), organizationId }),
    z.object({ type: z.literal("key"), keyHash: z.string(), organizationId }),
    z.object({
      type: z.literal("person"),
      provider: z.string(),
      issuer: z.string(),
      subject: z.string(),
      name: z.string(),
      groups: z.array(z.string()),
      role: z.enum(PERSON_ROLES),
      organizationId: organizationId.nullable(),
      userId: z.string().nullable(),
      sealedIdToken: z.string().nullable(),
    }),
  ]),
  createdAtMs: z.int(),
  seenAtMs: z.int(),
  endsAtMs: z.int(),
});
const roleSchema = z.object({ role: z.enum(PERSON_ROLES), organizationId: organizationId.nullable() });

const operations: Operations<SessionStore> = {
  async createSession(context, hash, holder) {
    const createdAtMs = await timeMs(context);
    const endsAtMs = createdAtMs + SESSION_MS;
    const record = { holder, createdAtMs, seenAtMs: createdAtMs, endsAtMs };
    // The list entry comes first: every session that is signed in can be seen and ended.
    const own = ownSessionsKey(digestOf(holder));
    await list(context, sessionListKey(organizationOf(holder)), { hash, endsAtMs, nowMs: createdAtMs });
    await list(context, own, { hash, endsAtMs, nowMs: createdAtMs });
    await context.client.set(sessionKey(hash), JSON.stringify(record), "PX", SESSION_IDLE_MS);
    const surplus = await context.client.zrange(own, "0", String(-1 - MAX_SESSIONS));
    for (const oldest of surplus) await operations.endSession(context, oldest);
    return { hash, ...record };
  },

  async useSession(context, hash) {
    const [record, nowMs] = await Promise.all([readSession(context, hash), timeMs(context)]);
    if (record === null || record.endsAtMs <= nowMs) return null;
    if (nowMs - record.seenAtMs < SEEN_MS) return record;
    const seen = { ...record, seenAtMs: nowMs };
    const remainingMs = Math.min(SESSION_IDLE_MS, record.endsAtMs - nowMs);
    const { hash: _, ...stored } = seen;
    // Writes only if it exists, so a session that was ended meanwhile stays ended.
    await context.client.set(sessionKey(hash), JSON.stringify(stored), "PX", remainingMs, "XX");
    return seen;
  },

  findSession: readSession,

  async endSession(context, hash) {
    const record = await readSession(context, hash);
    const ended = await context.client.del(sessionKey(hash));
    if (record !== null) {
      await context.client.zrem(sessionListKey(organizationOf(record.holder)), hash);
      await context.client.zrem(ownSessionsKey(digestOf(record.holder)), hash);
    }
    return ended === 1;
  },

  async listSessions(context, ofOrganization, { limit, after }) {
    if (ofOrganization !== null && !isId("org", ofOrganization)) return { items: [], next: null };
    const key = sessionListKey(ofOrganization);
    const items: SessionRecord[] = [];
    let offset = after === null ? 0 : await positionAfter(context, key, after);
    while (items.length <= limit) {
      const hashes = await context.client.zrevrange(key, offset, offset + limit);
      if (hashes.length === 0) break;
      offset += hashes.length;
      const records = await Promise.all(hashes.map((hash) => readSession(context, hash)));
      items.push(...records.filter((record) => record !== null));
    }
    const shown = items.slice(0, limit);
    return { items: shown, next: items.length > limit ? (shown.at(-1)?.hash ?? null) : null };
  },

  async rememberRole(context, identity, role) {
    const former = await context.client.set(
      knownRoleKey(digestOfIdentity(identity)),
      JSON.stringify(role),
      "EX",
      KNOWN_ROLE_SECONDS,
      "GET",
    );
    return former === null ? null : roleSchema.parse(JSON.parse(former));
  },
};

export const createSessionStore = storeOf<SessionStore>(operations);

/** Reads a session; null also if the record is unreadable. */
async function readSession({ client }: StoreContext, hash: string): Promise<SessionRecord | null> {
  const text = await client.get(sessionKey(hash));
  if (text === null || !text.startsWith("{")) return null;
  const parsed = recordSchema.safeParse(JSON.parse(text));
  return parsed.success ? { hash, ...parsed.data } : null;
}

function organizationOf(holder: SessionHolder): string | null {
  return holder.type === "operator" ? null : holder.organizationId;
}

/** Returns a digest of the holder: a person at an issuer, an organization's token, an API key, or the operator's token. */
function digestOf(holder: SessionHolder): string {
  if (holder.type === "person") return digestOfIdentity(holder);
  if (holder.type === "key") return holder.keyHash;
  return holder.type === "token" ? holder.tokenHash : "operator";
}

function digestOfIdentity({ issuer, subject }: { issuer: string; subject: string }): string {
  return createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest("hex");
}

/** Lists sessions, and removes expired ones from the list. */
async function list(
  { client }: StoreContext,
  key: string,
  { hash, endsAtMs, nowMs }: { hash: string; endsAtMs: number; nowMs: number },
): Promise<void> {
  await client.zadd(key, endsAtMs, hash);
  await client.zremrangebyscore(key, "-inf", nowMs);
  await client.pexpire(key, SESSION_MS);
}

/** Returns where a page starts. After a deleted entry: an empty page, so that no page repeats. */
async function positionAfter({ client }: StoreContext, key: string, hash: string): Promise<number> {
  const rank = await client.zrevrank(key, hash);
  return rank === null ? AFTER_ALL : rank + 1;
}
