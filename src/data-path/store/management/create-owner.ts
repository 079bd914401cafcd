/**
 * Creation of users and groups: by hand, or of a user at sign-in. An identity (issuer and subject) is at most
 * one user of an organization, even if many calls arrive at once.
 */
import type { StoreContext } from "../context.ts";
import { createId, isId } from "../ids.ts";
import { timeMs } from "../redis/clock.ts";
import { organizationKey, ownerKey, ownerListKey, ownerTextsKey, usersByIdentityKey } from "../redis/keys.ts";
import { parseArray, textAt, unknownOutcome } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import { MAX_OWNERS } from "../../../shared/stored/owner-kinds.ts";
import type {
  ExternalIdentity,
  ExternalUserResult,
  OwnerCreationResult,
  OwnerRecord,
  UserRecord,
} from "../../../shared/stored/owners.ts";
import type { UserSettings } from "../../../shared/settings/user.ts";
import { ensureWindows } from "../usage/windows.ts";
import { auditArguments } from "./audit.ts";
import { getOwner } from "./owner-lists.ts";
import { digestExternal, formatExternal } from "./records.ts";
import { entriesOf, namesOfGroup, type Owners, USERS } from "./users-and-groups.ts";

/** Attempts if the user is deleted between the look-up and the read of the record. */
const FIND_ATTEMPTS = 5;
const MAX_CHARACTERS = 1_024;

interface NewOwner {
  readonly organizationId: string;
  readonly external: ExternalIdentity | null;
}

/** The identity already is a user. */
interface IdentityKnown {
  readonly outcome: "exists";
  readonly id: string;
}

/** Creates a user or a group, in one step once its windows exist. */
export async function createOwner<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  context: StoreContext,
  { organizationId, external }: NewOwner,
  settings: Settings,
  audit?: (record: Item) => AuditInput,
): Promise<OwnerCreationResult<Item> | IdentityKnown> {
  const { kind } = owners;
  if (!isId("org", organizationId)) return { outcome: "not_found" };
  const groupId = owners.groupOf(settings);
  if (groupId !== null && !isId("group", groupId)) return { outcome: "group_missing" };
  await ensureWindows(context, organizationId, owners.periodsOf(settings));
  const createdAtMs = await timeMs(context);
  const id = createId(kind, createdAtMs);
  const about = { id, organizationId, createdAtMs, deletedAtMs: null, version: 1 };
  const owner = owners.create(settings, about, external);
  const entries = entriesOf(owners, id, settings);
  const reply = await context.client.igwCreateOwner({
    organization: organizationKey(organizationId),
    record: ownerKey(organizationId, kind, id),
    list: ownerListKey(organizationId, kind),
    foundBy: ownerTextsKey(organizationId, kind),
    ...auditArguments(organizationId, audit?.(owner)),
    byIdentity: usersByIdentityKey(organizationId),
    furtherKeys: namesOfGroup(organizationId, groupId),
    id,
    most: String(MAX_OWNERS[kind]),
    identity: digestExternal(external),
    texts: String(entries.length),
    furtherArguments: [
      ...entries,
      ...owners.format(settings),
      ...formatExternal(external),
      ...Object.entries({ created_at: String(createdAtMs), version: "1" }).flat(),
    ],
  });
  const items = parseArray(reply);
  const outcome = textAt(items, OUTCOME);
  if (outcome === "created") return { outcome, owner };
  if (outcome === "exists") return { outcome, id: textAt(items, AT.identityKnown.id) };
  if (outcome === "not_found" || outcome === "full" || outcome === "group_missing") return { outcome };
  throw unknownOutcome(outcome);
}

/** Narrows the result for owners without an external identity, which cannot be known already. */
export function withoutKnown<Item>(
  result: OwnerCreationResult<Item> | IdentityKnown,
): OwnerCreationResult<Item> {
  if (result.outcome === "exists") throw unknownOutcome(result.outcome);
  return result;
}

/** @see OwnerStore.findExternalUser */
export async function findExternalUser(
  context: StoreContext,
  organizationId: string,
  external: ExternalIdentity,
): Promise<UserRecord | null> {
  if (!isId("org", organizationId)) return null;
  const id = await context.client.hget(usersByIdentityKey(organizationId), digestExternal(external));
  return id === null ? null : getExistingUser(context, organizationId, id);
}

/** @see OwnerStore.findOrCreateExternalUser */
export async function findOrCreateExternalUser(
  context: StoreContext,
  organizationId: string,
  external: ExternalIdentity,
  settings: UserSettings,
  audit?: (record: UserRecord) => AuditInput,
): Promise<ExternalUserResult> {
  requireIdentity(external);
  const known = await findExternalUser(context, organizationId, external);
  if (known !== null) return { outcome: "found", user: known };
  for (let attempt = 1; attempt <= FIND_ATTEMPTS; attempt += 1) {
    const result = await createOwner(USERS, context, { organizationId, external }, settings, audit);
    if (result.outcome === "created") return { outcome: "created", user: result.owner };
    if (result.outcome !== "exists") return result;
    const user = await getExistingUser(context, organizationId, result.id);
    if (user !== null) return { outcome: "found", user };
  }
  throw new Error("others delete this user as often as it is made");
}

async function getExistingUser(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<UserRecord | null> {
  const user = await getOwner(USERS, context, organizationId, id);
  return user === null || user.deletedAtMs !== null ? null : user;
}

function requireIdentity({ issuer, subject }: ExternalIdentity): void {
  for (const text of [issuer, subject]) {
    if (text === "" || text.length > MAX_CHARACTERS) {
      throw new RangeError(`issuer and subject are texts of 1 to ${MAX_CHARACTERS} characters`);
    }
  }
}
