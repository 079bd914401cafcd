/**
 * API keys: records, look-ups, rotation, deletion. Only the SHA-256 of a key is stored.
 * A record and its look-up are on different slots, so they cannot change in one step. The record decides:
 * admission compares the presented hash with it, so an extra look-up admits no request, and a missing one
 * only makes a key unknown. Hence the record is written before its look-up, and marked as deleted before its
 * look-up is removed. `repair.ts` repairs the rest after a crash in between.
 */
import { findKeyReference } from "../admission/admit.ts";
import { auditArguments } from "./audit.ts";
import { timeMs } from "../redis/clock.ts";
import { ensureWindows, periodsOf } from "../usage/windows.ts";
import { countFiredAlerts, inputOfMonth, runInMonth, type StoreContext } from "../context.ts";
import { createId, isId } from "../ids.ts";
import {
  countBucketKey,
  keyListKey,
  keyRecordKey,
  lookUpKey,
  organizationKey,
  ownerKeysKey,
  requestBucketKey,
} from "../redis/keys.ts";
import type { KeySettings } from "../../../shared/settings/key.ts";
import { expiryOf, monthAt } from "../../../shared/time/calendar.ts";
import { type KeyOwners, listsOfOwners, missingOwnerAt, namesOfOwners } from "./key-owners.ts";
import { readIds } from "./organizations.ts";
import { type Fields, formatKeySettings, parseKeyRecord, readFields } from "./records.ts";
import { integerAt, parseArray, parseFields, textAt } from "../redis/parse-reply.ts";
import type { KeyReference } from "../../../shared/stored/admission.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import { FullError, MAX_RECORDS } from "../../../shared/stored/max-records.ts";
import type { ChangeResult, KeyRecord, KeyStore } from "../../../shared/stored/management.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { SCRIPTS } from "../redis/script-layouts.ts";
import type { Operations } from "../run.ts";

/** Attempts if two rotations of one key run at the same time: each retries on the other's result. */
const ROTATION_ATTEMPTS = 5;
/** Attempts if others change the key at the same time: each retries on the new version. */
const CHANGE_ATTEMPTS = 5;
const LIST_PAGE = 500;
/** Reply of `create-key.lua` when the list is full. */
export const FULL_REPLY = -1;

export const keyOperations: Operations<Omit<KeyStore, "repair">> = {
  async createKey(context, organizationId, settings, key, audit) {
    if (!isId("org", organizationId)) return null;
    const created = await insertKey(context, organizationId, settings, {
      display: key.display,
      hashOf: () => key.hash,
      audit,
    });
    if (created === null || typeof created === "string") return null;
    await context.client.set(lookUpKey(key.hash), `${organizationId} ${created.id}`);
    return created;
  },

  async getKey(context, reference) {
    const fields = await readKey(context, reference);
    return fields === null ? null : parseKeyRecord(reference.organizationId, reference.keyId, fields);
  },

  async findPresentedKey(context, hash) {
    const reference = await findKeyReference(context, hash);
    const fields = reference === null ? null : await readKey(context, reference);
    if (reference === null || fields === null) return null;
    // The look-up alone decides nothing: see above.
    const isFormer =
      fields["former_hash"] === hash && (await timeMs(context)) < Number(fields["former_until"]);
    if (fields["hash"] !== hash && !isFormer) return null;
    return parseKeyRecord(reference.organizationId, reference.keyId, fields);
  },

  async listKeys(context, organizationId, page, owners = {}) {
    if (!isId("org", organizationId)) return { items: [], next: null };
    const [list = keyListKey(organizationId)] = listsOfOwners(organizationId, owners);
    const { ids, next } = await readIds(context, list, page);
    const records = await Promise.all(
      ids.map((keyId) => keyOperations.getKey(context, { organizationId, keyId })),
    );
    const existing = records.filter((record) => record !== null);
    return { items: existing.filter((record) => isListed(record, owners)), next };
  },

  async changeKey(context, reference, changes, expectedVersion, audit = null) {
    if (changes.limits !== undefined && isReference(reference)) {
      await ensureWindows(context, reference.organizationId, periodsOf(changes.limits));
    }
    if (changes.userId === undefined && changes.groupId === undefined) {
      return setFields(context, reference, formatKeySettings(changes), { expectedVersion, audit });
    }
    // The lists that the key leaves follow from the record as read, so the change requires that version.
    for (let attempt = 1; ; attempt += 1) {
      const current = await keyOperations.getKey(context, reference);
      if (current === null) return { outcome: "not_found" };
      const result = await setFields(context, reference, formatKeySettings(changes), {
        expectedVersion: expectedVersion ?? current.version,
        audit,
        move: { from: current, to: { ...current, ...changes } },
      });
      const isOvertaken = result.outcome === "version_conflict" && expectedVersion === null;
      if (!isOvertaken || attempt === CHANGE_ATTEMPTS) return result;
    }
  },

  async rotateKey(context, reference, key, graceMs, audit) {
    for (let attempt = 1; ; attempt += 1) {
      const fields = await readKey(context, reference);
      if (fields === null) return { outcome: "not_found" };
      const untilMs = (await timeMs(context)) + graceMs;
      const former = await chooseFormer(context, fields, untilMs);
      const changed = await setFields(
        context,
        reference,
        Object.entries({
          hash: key.hash,
          display: key.display,
          former_hash: former.hash,
          former_until: former.untilMs,
        }).flat(),
        {
          expectedVersion: Number(fields["version"]),
          audit: audit?.(parseKeyRecord(reference.organizationId, reference.keyId, fields)) ?? null,
        },
      );
      if (changed.outcome === "version_conflict" && attempt < ROTATION_ATTEMPTS) continue;
      if (changed.outcome === "changed") {
        await context.client.set(lookUpKey(key.hash), `${reference.organizationId} ${reference.keyId}`);
        await removeLater(context, fields, former);
      }
      return changed;
    }
  },

  async deleteKey(context, reference, audit, expectedVersion = null) {
    const { organizationId, keyId } = reference;
    if (!isReference(reference)) return { outcome: "not_found" };
    const [current, nowMs] = await Promise.all([keyOperations.getKey(context, reference), timeMs(context)]);
    if (current === null) return { outcome: "not_found" };
    const thisMonth = monthAt(nowMs);
    const lists = listsOfOwners(organizationId, current);
    const reply = await context.client.igwDeleteKey({
      keyRecord: keyRecordKey(organizationId, keyId),
      keyList: keyListKey(organizationId),
      requestBucket: requestBucketKey(organizationId, keyId),
      countBucket: countBucketKey(organizationId, keyId),
      ...auditArguments(organizationId, audit),
      furtherKeys: lists,
      keyId,
      expiresAtMs: String(expiryOf(thisMonth.name, context.usageMonths)),
      expectedVersion: expectedVersion === null ? "" : String(expectedVersion),
    });
    const result = parseChange(reference, reply);
    if (result.outcome === "changed") {
      const before = parseFields(parseArray(reply)[AT.keyDeleted.before]);
      await removeLookUps(context, before, "");
    }
    return result;
  },

  async deleteKeysOf(context, organizationId, kind, ownerId, audit) {
    if (!isId("org", organizationId) || !isId(kind, ownerId)) return [];
    const list = ownerKeysKey(organizationId, kind, ownerId);
    const deleted: KeyRecord[] = [];
    for (;;) {
      // Deleted keys leave the list, so the first page is always the next one.
      const { ids } = await readIds(context, list, { limit: LIST_PAGE, after: null });
      if (ids.length === 0) return deleted;
      const results = await Promise.all(
        ids.map((keyId) => deleteKeyOf(context, { organizationId, keyId }, { kind, ownerId, list, audit })),
      );
      deleted.push(...results.filter((record) => record !== null));
    }
  },

  async revokeAllKeys(context, organizationId) {
    const revoked: KeyRecord[] = [];
    for (;;) {
      // Deleted keys leave the list, so the first page is always the next one.
      const { items } = await keyOperations.listKeys(context, organizationId, {
        limit: LIST_PAGE,
        after: null,
      });
      if (items.length === 0) return revoked;
      const results = await Promise.all(
        items.map(({ id }) => keyOperations.deleteKey(context, { organizationId, keyId: id })),
      );
      const deleted = results.filter((result) => result.outcome === "changed");
      revoked.push(...deleted.map((result) => result.before));
      if (deleted.length === 0) return revoked;
    }
  },
};

interface NewKey {
  readonly display: string;
  /** Returns what the record stores as the hash of its secret. */
  readonly hashOf: (id: string) => string;
  readonly audit: ((record: KeyRecord) => AuditInput) | undefined;
  /** Field of the user's record that names the key, and its previous value. Omitted: no record names it. */
  readonly named?: { readonly field: string; readonly replaced: string };
}

/**
 * Writes the key's record and list entries, without a look-up. Returns the key, or the id of the key that
 * another caller created under its name, or null if the organization does not exist.
 * @throws MissingOwnerError if its user or group does not exist; FullError
 */
export async function insertKey(
  context: StoreContext,
  organizationId: string,
  settings: KeySettings,
  { display, hashOf, audit, named = { field: "", replaced: "" } }: NewKey,
): Promise<KeyRecord | string | null> {
  await ensureWindows(context, organizationId, periodsOf(settings.limits));
  const createdAtMs = await timeMs(context);
  const id = createId("key", createdAtMs);
  const stored = { id, createdAtMs, deletedAtMs: null, version: 1 };
  const record: KeyRecord = { ...settings, ...stored, organizationId, display, formerKeyUntilMs: null };
  const written = { hash: hashOf(id), display, created_at: String(createdAtMs), version: "1" };
  const created = await context.client.igwCreateKey({
    organization: organizationKey(organizationId),
    keyRecord: keyRecordKey(organizationId, id),
    keyList: keyListKey(organizationId),
    ...auditArguments(organizationId, audit?.(record)),
    furtherKeys: namesOfOwners(organizationId, settings),
    keyId: id,
    namedBy: named.field,
    replaced: named.replaced,
    // A key without a secret belongs to a user, and users have a limit of their own.
    most: String(named.field === "" ? MAX_RECORDS.key : Number.MAX_SAFE_INTEGER),
    furtherArguments: [...formatKeySettings(settings), ...Object.entries(written).flat()],
  });
  if (created === 0) return null;
  if (created === FULL_REPLY) throw new FullError("key");
  if (typeof created === "string") return created;
  if (created !== 1) throw missingOwnerAt(settings, Number(created) - SCRIPTS.igwCreateKey.keys.length - 1);
  return record;
}

/**
 * Chooses the key that keeps working after the rotation: the current one. If the current one has no look-up,
 * the previous rotation broke off and its key was never given out: then it is the one before, for its
 * remaining time.
 */
async function chooseFormer(
  context: StoreContext,
  fields: Fields,
  untilMs: number,
): Promise<{ hash: string; untilMs: string }> {
  const hash = fields["hash"] ?? "";
  const wasGivenOut = (await context.client.exists(lookUpKey(hash))) === 1;
  return wasGivenOut
    ? { hash, untilMs: String(untilMs) }
    : { hash: fields["former_hash"] ?? "", untilMs: fields["former_until"] ?? "" };
}

/** Removes look-ups of keys that stopped working: at once, or for the previous key after its grace. */
async function removeLater(
  context: StoreContext,
  before: Fields,
  former: { hash: string; untilMs: string },
): Promise<void> {
  const { hash, untilMs } = former;
  await removeLookUps(context, before, hash);
  if (hash !== "") await context.client.pexpireat(lookUpKey(hash), Number(untilMs));
}

/** Removes the look-ups of a record. @param exceptHash Hash whose look-up stays. */
async function removeLookUps({ client }: StoreContext, fields: Fields, exceptHash: string): Promise<void> {
  const hashes = [fields["hash"] ?? "", fields["former_hash"] ?? ""];
  const removed = hashes.filter((hash) => hash !== "" && hash !== exceptHash);
  await Promise.all(removed.map((hash) => client.del(lookUpKey(hash))));
}

interface OwnedKeys {
  readonly kind: OwnerKind;
  readonly ownerId: string;
  /** List of the owner's keys. */
  readonly list: string;
  readonly audit: ((record: KeyRecord) => AuditInput) | undefined;
}

/**
 * Deletes a listed key. Returns its record before the deletion; null if the key belongs to another owner, or
 * was changed meanwhile and stays for now.
 */
async function deleteKeyOf(
  context: StoreContext,
  reference: KeyReference,
  { kind, ownerId, list, audit }: OwnedKeys,
): Promise<KeyRecord | null> {
  const record = await keyOperations.getKey(context, reference);
  const filter = kind === "user" ? { userId: ownerId } : { groupId: ownerId };
  const isOwned = record !== null && isListed(record, filter);
  const result = isOwned
    ? await keyOperations.deleteKey(context, reference, audit?.(record), record.version)
    : ({ outcome: "not_found" } as const);
  if (result.outcome === "not_found") await context.client.zrem(list, reference.keyId);
  return result.outcome === "changed" ? result.before : null;
}

/**
 * Returns whether the key still belongs to the owner. A deleted key is still listed if it was moved at the
 * same time.
 */
function isListed(record: KeyRecord, { userId, groupId }: Partial<KeyOwners>): boolean {
  return (
    record.deletedAtMs === null &&
    (userId === undefined || record.userId === userId) &&
    (groupId === undefined || record.groupId === groupId)
  );
}

interface FieldChange {
  readonly expectedVersion: number | null;
  readonly audit: AuditInput | null;
  /** Previous and new owners. Omitted: the owners stay. */
  readonly move?: { readonly from: KeyOwners; readonly to: KeyOwners };
}

async function setFields(
  context: StoreContext,
  reference: KeyReference,
  changes: readonly string[],
  { expectedVersion, audit, move }: FieldChange,
): Promise<ChangeResult<KeyRecord>> {
  const { organizationId, keyId } = reference;
  if (!isReference(reference)) return { outcome: "not_found" };
  const { previousLists, newLists, joins } = planMove(organizationId, move);
  const reply = await runInMonth(context, (month) =>
    context.client.igwSetLimits({
      keyRecord: keyRecordKey(organizationId, keyId),
      requestBucket: requestBucketKey(organizationId, keyId),
      countBucket: countBucketKey(organizationId, keyId),
      organization: organizationKey(organizationId),
      ...auditArguments(organizationId, audit),
      furtherKeys: [...previousLists, ...newLists],
      expectedVersion: expectedVersion === null ? "" : String(expectedVersion),
      keyId,
      previousLists: String(previousLists.length),
      furtherArguments: changes,
      ...inputOfMonth(month),
    }),
  );
  if (reply[OUTCOME] === "owner_missing") {
    const place =
      integerAt(reply, AT.ownerMissing.place) - SCRIPTS.igwSetLimits.keys.length - previousLists.length - 1;
    throw missingOwnerAt(joins, place);
  }
  const result = parseChange(reference, reply);
  if (result.outcome === "changed") countFiredAlerts(context, reply, AT.keyChanged.alertsFired);
  return result;
}

/** Returns the lists that the key leaves and the owners that it gets. */
function planMove(organizationId: string, move: FieldChange["move"]) {
  if (move === undefined) return { previousLists: [], newLists: [], joins: {} };
  const { from, to } = move;
  const pick = (wanted: KeyOwners, other: KeyOwners): KeyOwners => ({
    userId: wanted.userId === other.userId ? null : wanted.userId,
    groupId: wanted.groupId === other.groupId ? null : wanted.groupId,
  });
  const joins = pick(to, from);
  return {
    previousLists: listsOfOwners(organizationId, pick(from, to)),
    newLists: namesOfOwners(organizationId, joins),
    joins,
  };
}

function parseChange({ organizationId, keyId }: KeyReference, reply: unknown): ChangeResult<KeyRecord> {
  const items = parseArray(reply);
  const outcome = textAt(items, OUTCOME);
  if (outcome === "not_found") return { outcome };
  const recordAt = (position: number) => parseKeyRecord(organizationId, keyId, parseFields(items[position]));
  if (outcome === "version_conflict") return { outcome, current: recordAt(AT.keyConflict.record) };
  const { before, after } = AT.keyChanged;
  return { outcome: "changed", before: recordAt(before), after: recordAt(after) };
}

async function readKey(context: StoreContext, reference: KeyReference): Promise<Fields | null> {
  if (!isReference(reference)) return null;
  return readFields(context, keyRecordKey(reference.organizationId, reference.keyId));
}

function isReference({ organizationId, keyId }: KeyReference): boolean {
  return isId("org", organizationId) && isId("key", keyId);
}
