/**
 * The names of everything in Redis. Whatever belongs to an organization has its id as hash tag, so that one script sees
 * bucket, both caps and spend, and Redis Cluster keeps them on one node.
 */

import type { AuditLog } from "../types/audit.ts";
import type { OwnerKind } from "../types/owner-kinds.ts";

/** Schema version of what is stored. */
export const SCHEMA_KEY = "igw:schema";
/** Sorted set, all scores 0, so in the order of the ids: every organization. */
export const ORGANIZATIONS_KEY = "igw:organizations";
/** Sorted set: deleted organizations whose figures are kept, by the time (ms) until which they are. */
export const DELETED_ORGANIZATIONS_KEY = "igw:deleted-organizations";
/** Hash: folded name → who has it. `lua/claim-name.lua` says how. */
export const ORGANIZATION_NAMES_KEY = "igw:organization-names";
/** Sorted set: workers that are there, by the time until which they count as such. */
export const WORKERS_KEY = "igw:workers";

const LOOK_UP_PREFIX = "igw:key:";
/** Pattern of all look-ups, for a scan. */
export const LOOK_UP_PATTERN = `${LOOK_UP_PREFIX}*`;

/** String: "<organization id> <key id>". */
export const lookUpKey = (sha256Hex: string): string => LOOK_UP_PREFIX + sha256Hex;
/** The hash that a look-up is for. */
export const hashOfLookUp = (key: string): string => key.slice(LOOK_UP_PREFIX.length);

/** Hash. */
export const organizationKey = (organizationId: string): string => `igw:{${organizationId}}:organization`;
/** Sorted set, all scores 0: ids of the keys that are not deleted. */
export const keyListKey = (organizationId: string): string => `igw:{${organizationId}}:keys`;
/** Hash. */
export const keyRecordKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:key:${keyId}`;
/**
 * Hash: units and time of the last write; where the key has limits of tokens per minute their buckets, see
 * `lua/include/token-buckets.lua`. Apart from the record, whose version it must not change.
 */
export const requestBucketKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:bucket:${keyId}`;
/** Hash, of owners that are no keys: see `lua/include/token-buckets.lua`. @param owner "organization", "user:<id>", "group:<id>" */
export const tokenBucketsKey = (organizationId: string, owner: string): string =>
  `igw:{${organizationId}}:tokens:${owner}`;
export const countBucketKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:count-bucket:${keyId}`;
/**
 * Hash: `organization`, `key:<id>`, `user:<id>`, `group:<id>` and `held:…` of each, in microcents; `fired:<subject> <kind>
 * <amount> <percent>` of each alert that has fired.
 * @param window "2026-11", or another name by `windows.ts`.
 */
export const spendKey = (organizationId: string, window: string): string =>
  `igw:{${organizationId}}:spend:${window}`;
/** Hash, while an organization begins to count a period: `<window of a day> <usage row>` → what has moved since, `done …` → added. */
export const windowSeedKey = (organizationId: string, period: string): string =>
  `igw:{${organizationId}}:window-seed:${period}`;
/** Hash: `<key id>:<model>:<figure>`; `<key id>.<owners>` for requests that are a user's or a group's, `<model>#<tag row>` for those with tags. */
export const usageKey = (organizationId: string, day: string): string =>
  `igw:{${organizationId}}:usage:${day}`;
/** Hash: tag row → the combination of tags that counts there; `other` → '' once that one is in use. */
export const tagCombinationsKey = (organizationId: string, month: string): string =>
  `igw:{${organizationId}}:tags:${month}`;
/** Hash: a request in flight or just closed. */
export const requestKey = (organizationId: string, requestId: string): string =>
  `igw:{${organizationId}}:request:${requestId}`;
/** Pattern of the records of all organizations, for a scan. */
export const REQUEST_PATTERN = "igw:{*}:request:*";
/** The organization whose such a record is. */
export const organizationOfRequest = (key: string): string =>
  key.slice(key.indexOf("{") + 1, key.indexOf("}"));
/** Sorted set: open requests by deadline. */
export const holdsKey = (organizationId: string): string => `igw:{${organizationId}}:holds`;
/** Sorted set by deadline: requests in flight of a key that has a limit of them. */
export const inflightKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:inflight:${keyId}`;
/** Hash: what the requests of a key have spent that named one session. `lua/include/sessions.lua` says how. @param name Its SHA-1. */
export const sessionSpendKey = (organizationId: string, keyId: string, name: string): string =>
  `igw:{${organizationId}}:session:${keyId}:${name}`;
/** Sorted set by last use: SHA-1s of the names of a key's sessions. */
export const liveSessionsKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:sessions:${keyId}`;
/** Stream: the last requests that were not refused at admission. */
export const recentKey = (organizationId: string): string => `igw:{${organizationId}}:recent`;
/** Stream: the last requests that were refused at admission. */
export const refusedKey = (organizationId: string): string => `igw:{${organizationId}}:refused`;
/** String: a spend correction that was made. */
export const correctionKey = (organizationId: string, correctionId: string): string =>
  `igw:{${organizationId}}:correction:${correctionId}`;

/** Hash: a user or a group. */
export const ownerKey = (organizationId: string, kind: OwnerKind, id: string): string =>
  `igw:{${organizationId}}:${kind}:${id}`;
/** Sorted set, all scores 0: ids of the users or of the groups that are not deleted. */
export const ownerListKey = (organizationId: string, kind: OwnerKind): string =>
  `igw:{${organizationId}}:${kind}s`;
/** Sorted set, all scores 0: what users or groups are found by. `owner-search.ts` says what that is. */
export const ownerTextsKey = (organizationId: string, kind: OwnerKind): string =>
  `igw:{${organizationId}}:${kind}-texts`;
/** Sorted set, all scores 0: ids of the keys that name a user or a group. */
export const ownerKeysKey = (organizationId: string, kind: OwnerKind, id: string): string =>
  `igw:{${organizationId}}:${kind}-keys:${id}`;
/** Sorted set, all scores 0: ids of the users of a group. Of a user there never is one. */
export const ownerUsersKey = (organizationId: string, kind: OwnerKind, id: string): string =>
  `igw:{${organizationId}}:${kind}-users:${id}`;
/** Hash: digest of issuer and subject → id of the user who that is. */
export const usersByIdentityKey = (organizationId: string): string =>
  `igw:{${organizationId}}:users-by-identity`;

const TOKEN_LOOK_UP_PREFIX = "igw:token:";
/** String: "<organization id> <token id>" of an organization token. */
export const tokenLookUpKey = (sha256Hex: string): string => TOKEN_LOOK_UP_PREFIX + sha256Hex;
/** Hash: an organization token. */
export const tokenRecordKey = (organizationId: string, tokenId: string): string =>
  `igw:{${organizationId}}:token:${tokenId}`;
/** Sorted set, all scores 0: ids of the organization's tokens. */
export const tokenListKey = (organizationId: string): string => `igw:{${organizationId}}:tokens`;
/** String: who is signed in to the dashboard with this session; gone when it is over. */
export const sessionKey = (sha256Hex: string): string => `igw:session:${sha256Hex}`;
/** Sorted set: hashes of sessions by the time (ms) at which they end at the latest, of an organization or the operator's. */
export const sessionListKey = (organizationId: string | null): string =>
  organizationId === null ? "igw:sessions" : `igw:{${organizationId}}:sessions`;
/** Sorted set: the same of one person or token, wherever it has signed in. @param holder `digestOf` in `management/sessions.ts`. */
export const heldSessionsKey = (holder: string): string => `igw:held-sessions:${holder}`;
/** String: the role that somebody had at the last sign-in with an identity provider. */
export const knownRoleKey = (sha256Hex: string): string => `igw:known-role:${sha256Hex}`;
/** Stream: one audit log of an organization, or of what belongs to none (null). */
export const auditKey = (organizationId: string | null, log: AuditLog): string =>
  organizationId === null ? `igw:audit:${log}` : `igw:{${organizationId}}:audit:${log}`;

/** Stream: alerts that some channel is still owed. `lua/include/thresholds.lua` writes it and the list. */
export const alertOutboxKey = (organizationId: string): string => `igw:{${organizationId}}:outbox`;
/** Stream: the last alerts, for people. */
export const alertListKey = (organizationId: string): string => `igw:{${organizationId}}:alerts`;
/** String: the newest entry of the list that was marked as read. */
export const alertsReadKey = (organizationId: string): string => `igw:{${organizationId}}:alerts-read`;
/** String: emails of an hour that begins with the first; expires with it. */
export const emailCountKey = (organizationId: string): string => `igw:{${organizationId}}:emails`;
/** Hash: cursor, lease and attempts of the delivery to one channel. */
export const alertCourierKey = (organizationId: string, channel: string): string =>
  `igw:{${organizationId}}:courier:${channel}`;
/** Hash: channel → how the delivery of one message stands, JSON. */
export const alertDeliveriesKey = (organizationId: string, messageId: string): string =>
  `igw:{${organizationId}}:deliveries:${messageId}`;
/** No key but a channel (PUBLISH): ids of organizations whose outbox has got something. `lua/include/thresholds.lua` says it too. */
export const ALERT_CHANNEL = "igw:alerts";
/** What a charge moves beside its request's record. */
export function chargedKeys({
  organizationId,
  keyId,
  day,
}: Readonly<Record<"organizationId" | "keyId" | "day", string>>) {
  return {
    holds: holdsKey(organizationId),
    usage: usageKey(organizationId, day),
    inflight: inflightKey(organizationId, keyId),
    recent: recentKey(organizationId),
    keyRecord: keyRecordKey(organizationId, keyId),
    organization: organizationKey(organizationId),
  };
}
