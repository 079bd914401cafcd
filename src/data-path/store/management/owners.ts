/**
 * Users and groups: creation, change and deletion. Each change is one step on the organization's slot: the
 * record, its lists, its search entries and its entry in the audit log. The lists to leave follow from the
 * record as read, so a change requires that version, and is retried on the next version if others were
 * faster.
 */
import { expiryOf, monthAt } from "../../../shared/time/calendar.ts";
import { countFiredAlerts, inputOfMonth, runInMonth, type StoreContext } from "../context.ts";
import { isId } from "../ids.ts";
import { timeMs } from "../redis/clock.ts";
import { ensureWindows } from "../usage/windows.ts";
import {
  organizationKey,
  ownerKey,
  ownerKeysKey,
  ownerListKey,
  ownerTextsKey,
  ownerUsersKey,
  usersByIdentityKey,
} from "../redis/keys.ts";
import { parseArray, parseFields, textAt, unknownOutcome } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { type Operations, storeOf } from "../run.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import { OWNER_KINDS, type OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type {
  KeysOfDeleted,
  OwnedCounts,
  OwnerChangeResult,
  OwnerDeletionResult,
  OwnerRecord,
  OwnerStore,
} from "../../../shared/stored/owners.ts";
import { auditArguments } from "./audit.ts";
import { createOwner, findExternalUser, findOrCreateExternalUser, withoutKnown } from "./create-owner.ts";
import { digestExternal } from "./records.ts";
import { entriesOf, GROUPS, listOfGroup, namesOfGroup, type Owners, USERS } from "./users-and-groups.ts";
import { getOwner, listOwners } from "./owner-lists.ts";
import { compareEntries } from "./owner-search.ts";

/** Attempts if others change the owner at the same time: each retries on the new version. */
const CHANGE_ATTEMPTS = 5;
/** Names per read, so that 100,000 names are not read at once. */
const NAMES_TOGETHER = 500;

export const createOwnerStore = storeOf<OwnerStore>({
  createUser: async (context, organizationId, settings, audit) =>
    withoutKnown(await createOwner(USERS, context, { organizationId, external: null }, settings, audit)),
  findExternalUser,
  findOrCreateExternalUser,
  getUser: (context, ...input) => getOwner(USERS, context, ...input),
  listUsers: (context, ...input) => listOwners(USERS, context, ...input),
  changeUser: (context, organizationId, id, ...change) =>
    changeOwner(USERS, context, { organizationId, id }, ...change),
  deleteUser: (context, organizationId, id, ...deletion) =>
    deleteOwner(USERS, context, { organizationId, id }, ...deletion),
  createGroup: async (context, organizationId, settings, audit) =>
    withoutKnown(await createOwner(GROUPS, context, { organizationId, external: null }, settings, audit)),
  getGroup: (context, ...input) => getOwner(GROUPS, context, ...input),
  listGroups: (context, ...input) => listOwners(GROUPS, context, ...input),
  changeGroup: (context, organizationId, id, ...change) =>
    changeOwner(GROUPS, context, { organizationId, id }, ...change),
  deleteGroup: (context, organizationId, id, ...deletion) =>
    deleteOwner(GROUPS, context, { organizationId, id }, ...deletion),
  readOwnerNames,
  countOwned,
} satisfies Operations<OwnerStore>);

interface OwnerReference {
  readonly organizationId: string;
  readonly id: string;
}

async function changeOwner<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  reference: OwnerReference,
  changes: Partial<Settings>,
  expectedVersion: number | null,
  audit: AuditInput | null = null,
): Promise<OwnerChangeResult<Item>> {
  const { kind } = owners;
  const { organizationId, id } = reference;
  if (isId("org", organizationId)) {
    await ensureWindows(context, organizationId, owners.periodsOf(changes));
  }
  const result = await changeAsRead(owners, context, reference, expectedVersion, async (current) => {
    const after: Settings = { ...current, ...changes };
    const { removed, added } = compareEntries(entriesOf(owners, id, current), entriesOf(owners, id, after));
    const groupId = owners.groupOf(after);
    const isMoved = groupId !== owners.groupOf(current);
    if (isMoved && groupId !== null && !isId("group", groupId)) return ["group_missing"];
    const previousLists = isMoved ? listOfGroup(organizationId, owners.groupOf(current)) : [];
    const newLists = isMoved ? namesOfGroup(organizationId, groupId) : [];
    const reply = await runInMonth(context, (month) =>
      context.client.igwChangeOwner({
        record: ownerKey(organizationId, kind, id),
        foundBy: ownerTextsKey(organizationId, kind),
        ...auditArguments(organizationId, audit),
        organization: organizationKey(organizationId),
        furtherKeys: [...previousLists, ...newLists],
        expectedVersion: String(current.version),
        id,
        previousLists: String(previousLists.length),
        removedTexts: String(removed.length),
        newTexts: String(added.length),
        furtherArguments: [...removed, ...added, ...owners.format(changes)],
        ...inputOfMonth(month),
      }),
    );
    if (reply[OUTCOME] === "changed") countFiredAlerts(context, reply, AT.ownerChanged.alertsFired);
    return reply;
  });
  if (result.outcome === "has_keys") throw unknownOutcome(result.outcome);
  return result;
}

async function deleteOwner<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  reference: OwnerReference,
  keys: KeysOfDeleted,
  expectedVersion: number | null,
  audit: AuditInput | null = null,
): Promise<OwnerDeletionResult<Item>> {
  const { kind } = owners;
  const { organizationId, id } = reference;
  const thisMonth = monthAt(await timeMs(context));
  const result = await changeAsRead(owners, context, reference, expectedVersion, async (current) => {
    const reply = await context.client.igwDeleteOwner({
      record: ownerKey(organizationId, kind, id),
      list: ownerListKey(organizationId, kind),
      foundBy: ownerTextsKey(organizationId, kind),
      ...auditArguments(organizationId, audit),
      itsKeys: ownerKeysKey(organizationId, kind, id),
      itsUsers: ownerUsersKey(organizationId, kind, id),
      byIdentity: usersByIdentityKey(organizationId),
      furtherKeys: listOfGroup(organizationId, owners.groupOf(current)),
      expectedVersion: String(current.version),
      id,
      expiresAtMs: String(expiryOf(thisMonth.name, context.usageMonths)),
      isWithoutKeys: keys === "none",
      identity: digestExternal(owners.externalOf(current)),
      furtherArguments: entriesOf(owners, id, current),
    });
    return parseArray(reply);
  });
  if (result.outcome === "group_missing") throw unknownOutcome(result.outcome);
  return result;
}

/** @see OwnerStore.readOwnerNames */
async function readOwnerNames(
  { client }: StoreContext,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = ids.flatMap((id) => {
    const kind = OWNER_KINDS.find((known) => isId(known, id));
    return kind === undefined ? [] : [{ id, record: ownerKey(organizationId, kind, id) }];
  });
  const names = new Map<string, string>();
  for (let start = 0; start < wanted.length; start += NAMES_TOGETHER) {
    const batch = wanted.slice(start, start + NAMES_TOGETHER);
    const read = await Promise.all(batch.map(({ record }) => client.hget(record, "name")));
    for (const [position, { id }] of batch.entries()) {
      const name = read[position] ?? null;
      if (name !== null) names.set(id, name);
    }
  }
  return names;
}

async function countOwned(
  { client }: StoreContext,
  organizationId: string,
  kind: OwnerKind,
  ids: readonly string[],
): Promise<OwnedCounts[]> {
  return Promise.all(
    ids.map(async (id) => {
      const [keys, users] = await Promise.all([
        client.zcard(ownerKeysKey(organizationId, kind, id)),
        kind === "group" ? client.zcard(ownerUsersKey(organizationId, kind, id)) : 0,
      ]);
      return { keys, users };
    }),
  );
}

/** Changes the current version; retries on a newer one if any version is accepted. */
async function changeAsRead<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  { organizationId, id }: OwnerReference,
  expectedVersion: number | null,
  tryChange: (current: Item) => Promise<readonly unknown[]>,
): Promise<OwnerChangeResult<Item> | OwnerDeletionResult<Item>> {
  for (let attempt = 1; ; attempt += 1) {
    const current = await getOwner(owners, context, organizationId, id);
    if (current === null || current.deletedAtMs !== null) return { outcome: "not_found" };
    if (expectedVersion !== null && expectedVersion !== current.version) {
      return { outcome: "version_conflict", current };
    }
    const reply = await tryChange(current);
    const outcome = textAt(reply, OUTCOME);
    const recordAt = (position: number) => owners.parse(organizationId, id, parseFields(reply[position]));
    if (outcome === "not_found" || outcome === "group_missing" || outcome === "has_keys") return { outcome };
    if (outcome === "changed") {
      const { before, after } = AT.ownerChanged;
      return { outcome, before: recordAt(before), after: recordAt(after) };
    }
    if (outcome !== "version_conflict") throw unknownOutcome(outcome);
    if (expectedVersion === null && attempt < CHANGE_ATTEMPTS) continue;
    return { outcome, current: recordAt(AT.ownerConflict.record) };
  }
}
