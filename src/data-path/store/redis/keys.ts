/**
 * Names of all keys in Redis. Keys of an organization have its id as hash tag, so that one script sees
 * bucket, caps and spend, and Redis Cluster keeps them on one node.
 */

import type { AuditLog } from "../../../shared/stored/audit.ts";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";

/** String: version of the stored schema. */
export const SCHEMA_KEY = "igw:schema";
/** Sorted set, all scores 0, so in the order of ids: every organization. */
export const ORGANIZATIONS_KEY = "igw:organizations";
/** Sorted set: deleted organizations with figures, by the time (ms) until which these are kept. */
export const DELETED_ORGANIZATIONS_KEY = "igw:deleted-organizations";
/** Hash: folded name → organization. `lua/claim-name.lua` has the format. */
export const ORGANIZATION_NAMES_KEY = "igw:organization-names";
/** Sorted set: running workers, by the time until which they count. */
export const WORKERS_KEY = "igw:workers";

const LOOK_UP_PREFIX = "igw:key:";
/** Pattern of all look-ups, for a scan. */
export const LOOK_UP_PATTERN = `${LOOK_UP_PREFIX}*`;

/** String: "<organization id> <key id>". */
export const lookUpKey = (sha256Hex: string): string => LOOK_UP_PREFIX + sha256Hex;
/** Returns the hash in the name of a look-up. */
export const hashOfLookUp = (key: string): string => key.slice(LOOK_UP_PREFIX.length);

/** Hash. */
export const organizationKey = (organizationId: string): string => `igw:{${organizationId}}:organization`;
/** Sorted set, all scores 0: ids of the keys that are not deleted. */
export const keyListKey = (organizationId: string): string => `igw:{${organizationId}}:keys`;
/** Hash. */
export const keyRecordKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:key:${keyId}`;
/**
 * Hash: units and time of the last write; with token limits per minute also their buckets, see
 * `lua/include/token-buckets.lua`. Separate from the record, whose version it must not change.
 */
export const requestBucketKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:bucket:${keyId}`;
/**
 * Hash: token buckets of users, groups and organizations, see `lua/include/token-buckets.lua`. @param owner
 * "organization", "user:<id>", "group:<id>"
 */
export const tokenBucketsKey = (organizationId: string, owner: string): string =>
  `igw:{${organizationId}}:tokens:${owner}`;
export const countBucketKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:count-bucket:${keyId}`;
/**
 * Hash: `organization`, `key:<id>`, `user:<id>`, `group:<id>` and `held:…` of each, in microcents;
 * `fired:<subject> <kind> <amount> <percent>` of each alert that has fired.
 * @param window "2026-11", or another name as in `windows.ts`.
 */
export const spendKey = (organizationId: string, window: string): string =>
  `igw:{${organizationId}}:spend:${window}`;
/**
 * Hash, while an organization starts to count a period: `<window of a day> <usage row>` → spend that was
 * charged since, `done …` → spend that was added.
 */
export const windowSeedKey = (organizationId: string, period: string): string =>
  `igw:{${organizationId}}:window-seed:${period}`;
/**
 * Hash: `<key id>:<model>:<figure>`; `<key id>.<owners>` for requests of a user or group, `<model>#<tag row>`
 * for those with tags.
 */
export const usageKey = (organizationId: string, day: string): string =>
  `igw:{${organizationId}}:usage:${day}`;
/** Hash: user id → sums of the rows of a past day, see `usage-sums.ts`. Scripts append the suffix too. */
export const usageSumsKey = (organizationId: string, day: string): string =>
  `${usageKey(organizationId, day)}:sums`;
/** Hash: tag row → its combination of tags; `other` → '' once that row is in use. */
export const tagCombinationsKey = (organizationId: string, month: string): string =>
  `igw:{${organizationId}}:tags:${month}`;
/** Hash: a request in flight or closed recently. */
export const requestKey = (organizationId: string, requestId: string): string =>
  `igw:{${organizationId}}:request:${requestId}`;
/** Pattern of the records of all organizations, for a scan. */
export const REQUEST_PATTERN = "igw:{*}:request:*";
/** Returns the organization of a request's record. */
export const organizationOfRequest = (key: string): string =>
  key.slice(key.indexOf("{") + 1, key.indexOf("}"));
/** Sorted set: open requests by deadline. */
export const openRequestsKey = (organizationId: string): string => `igw:{${organizationId}}:open-requests`;
/** Sorted set by deadline: requests in flight of a key with a concurrency limit. */
export const inflightKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:inflight:${keyId}`;
/**
 * Hash: spend of a key's requests with one session name. `lua/include/sessions.lua` has the rules. @param
 * name SHA-1 of the name.
 */
export const sessionSpendKey = (organizationId: string, keyId: string, name: string): string =>
  `igw:{${organizationId}}:session:${keyId}:${name}`;
/** Sorted set by last use: SHA-1s of the session names of a key. */
export const liveSessionsKey = (organizationId: string, keyId: string): string =>
  `igw:{${organizationId}}:sessions:${keyId}`;
/** Stream: recent requests that passed admission. */
export const recentKey = (organizationId: string): string => `igw:{${organizationId}}:recent`;
/** Stream: recent requests that were rejected at admission. */
export const refusedKey = (organizationId: string): string => `igw:{${organizationId}}:refused`;
/** String: a spend correction. */
export const correctionKey = (organizationId: string, correctionId: string): string =>
  `igw:{${organizationId}}:correction:${correctionId}`;

/** Hash: a user or a group. */
export const ownerKey = (organizationId: string, kind: OwnerKind, id: string): string =>
  `igw:{${organizationId}}:${kind}:${id}`;
/** Sorted set, all scores 0: ids of the users or of the groups that are not deleted. */
export const ownerListKey = (organizationId: string, kind: OwnerKind): string =>
  `igw:{${organizationId}}:${kind}s`;
/** Sorted set, all scores 0: search entries of users or groups, see `owner-search.ts`. */
export const ownerTextsKey = (organizationId: string, kind: OwnerKind): string =>
  `igw:{${organizationId}}:${kind}-texts`;
/** Sorted set, all scores 0: ids of the keys that name a user or a group. */
export const ownerKeysKey = (organizationId: string, kind: OwnerKind, id: string): string =>
  `igw:{${organizationId}}:${kind}-keys:${id}`;
/** Sorted set, all scores 0: ids of the users of a group. Never exists for a user. */
export const ownerUsersKey = (organizationId: string, kind: OwnerKind, id: string): string =>
  `igw:{${organizationId}}:${kind}-users:${id}`;
/** Hash: digest of issuer and subject → id of the user. */
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
/** String: holder of a dashboard session; expires with it. */
export const sessionKey = (sha256Hex: string): string => `igw:session:${sha256Hex}`;
/**
 * Sorted set: hashes of sessions by the time (ms) at which they end at the latest, of an organization or the
 * operator.
 */
export const sessionListKey = (organizationId: string | null): string =>
  organizationId === null ? "igw:sessions" : `igw:{${organizationId}}:sessions`;
/**
 * Sorted set: the same for one person or token, on every host. @param holder `digestOf` in
 * `management/sessions.ts`.
 */
export const ownSessionsKey = (holder: string): string => `igw:own-sessions:${holder}`;
/** String: role of an identity at its last sign-in with an identity provider. */
export const knownRoleKey = (sha256Hex: string): string => `igw:known-role:${sha256Hex}`;
/** Stream: one audit log of an organization, or the operator's (null). */
export const auditKey = (organizationId: string | null, log: AuditLog): string =>
  organizationId === null ? `igw:audit:${log}` : `igw:{${organizationId}}:audit:${log}`;

/** Stream: alerts that some channel has not delivered. `lua/include/thresholds.lua` writes it and the list. */
export const alertOutboxKey = (organizationId: string): string => `igw:{${organizationId}}:outbox`;
/** Stream: recent alerts, for people. */
export const alertListKey = (organizationId: string): string => `igw:{${organizationId}}:alerts`;
/** Hash: forecasts, sudden spend and summaries of a month, "2026-11", that have fired. */
export const alertsRaisedKey = (organizationId: string, month: string): string =>
  `igw:{${organizationId}}:alerts-raised:${month}`;
/** String: a process is looking for such alerts; expires before the next look. */
export const alertsWatchedKey = (organizationId: string): string => `igw:{${organizationId}}:alerts-watched`;
/** Hash: person or token → the newest entry of the list that it has marked as read. */
export const alertsReadKey = (organizationId: string): string => `igw:{${organizationId}}:alerts-read`;
/** String: number of emails in an hour that starts with the first; expires with the hour. */
export const emailCountKey = (organizationId: string): string => `igw:{${organizationId}}:emails`;
/** Hash: cursor, lease and attempts of the delivery to one channel. */
export const alertCourierKey = (organizationId: string, channel: string): string =>
  `igw:{${organizationId}}:courier:${channel}`;
/** Hash: channel → delivery state of one message, JSON. */
export const alertDeliveriesKey = (organizationId: string, messageId: string): string =>
  `igw:{${organizationId}}:deliveries:${messageId}`;
/**
 * Channel (PUBLISH), not a key: ids of organizations with new entries in the outbox.
 * `lua/include/thresholds.lua` repeats the name.
 */
export const ALERT_CHANNEL = "igw:alerts";
/** Returns the keys that a charge changes in addition to its request's record. */
export function chargedKeys({
  organizationId,
  keyId,
  day,
}: Readonly<Record<"organizationId" | "keyId" | "day", string>>) {
  return {
    openRequests: openRequestsKey(organizationId),
    usage: usageKey(organizationId, day),
    inflight: inflightKey(organizationId, keyId),
    recent: recentKey(organizationId),
    keyRecord: keyRecordKey(organizationId, keyId),
    organization: organizationKey(organizationId),
  };
}
