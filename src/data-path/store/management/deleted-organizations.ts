/**
 * Deletion of organizations. The record decides: once it is marked as deleted, no key of the organization is
 * admitted. Data on other slots and in other records follows (name, keys, tokens, users, groups, the list),
 * in steps that the next start repeats if a crash interrupted them (`repair.ts`).
 */
import { expiryOf, monthAt } from "../../../shared/time/calendar.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { auditArguments } from "./audit.ts";
import { keyOperations } from "./api-keys.ts";
import { timeMs } from "../redis/clock.ts";
import type { StoreContext } from "../context.ts";
import { isId } from "../ids.ts";
import {
  alertListKey,
  alertOutboxKey,
  alertsReadKey,
  auditKey,
  DELETED_ORGANIZATIONS_KEY,
  organizationKey,
  ORGANIZATIONS_KEY,
  ownerKey,
  ownerKeysKey,
  ownerListKey,
  ownerTextsKey,
  ownerUsersKey,
  recentKey,
  refusedKey,
  usersByIdentityKey,
} from "../redis/keys.ts";
import { releaseName } from "./organization-names.ts";
import { expireCouriers, organizationOperations, readIds } from "./organizations.ts";
import { parseArray, parseFields, textAt } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";
import { formatOrganizationSettings, parseOrganizationRecord } from "./records.ts";
import { tokenOperations } from "./tokens.ts";
import type { DeletedOrganizationStore, OrganizationRecord } from "../../../shared/stored/management.ts";
import { AUDIT_LOGS } from "../../../shared/stored/audit.ts";
import { OWNER_KINDS, type OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type { Operations } from "../run.ts";

const TOKENS_AT_ONCE = 200;
const OWNERS_AT_ONCE = 500;

export const deletedOrganizationOperations: Operations<DeletedOrganizationStore> = {
  async deleteOrganization(context, organizationId, expectedVersion, audit = null) {
    if (!isId("org", organizationId)) return { outcome: "not_found" };
    const reply = parseArray(
      await context.client.igwDeleteOrganization({
        organization: organizationKey(organizationId),
        outbox: alertOutboxKey(organizationId),
        ...auditArguments(organizationId, audit),
        furtherKeys: [
          recentKey(organizationId),
          refusedKey(organizationId),
          alertListKey(organizationId),
          alertsReadKey(organizationId),
          ...AUDIT_LOGS.map((log) => auditKey(organizationId, log)),
        ],
        expectedVersion: expectedVersion === null ? "" : String(expectedVersion),
        expiresAtMs: await expiryOfDeleted(context),
        furtherArguments: formatOrganizationSettings({
          notifications: ORGANIZATION_SETTINGS.notifications.default,
        }),
      }),
    );
    const outcome = textAt(reply, OUTCOME);
    if (outcome === "not_found") return { outcome };
    const recordAt = (position: number) =>
      parseOrganizationRecord(organizationId, parseFields(reply[position]));
    if (outcome === "version_conflict") return { outcome, current: recordAt(AT.organizationConflict.record) };
    const before = recordAt(AT.organizationDeleted.before);
    const after = recordAt(AT.organizationDeleted.after);
    await expireCouriers(context, before, after);
    await finishDeletion(context, after);
    return { outcome: "changed", before, after };
  },

  async listDeletedOrganizations(context, { limit, after }) {
    const ids = (await context.client.zrange(DELETED_ORGANIZATIONS_KEY, "0", "-1"))
      .filter((id) => after === null || id > after)
      .sort();
    const page = ids.slice(0, limit);
    const records = await Promise.all(page.map((id) => organizationOperations.getOrganization(context, id)));
    return {
      items: records.filter((record) => record !== null),
      next: ids.length > limit ? (page.at(-1) ?? null) : null,
    };
  },
};

/**
 * Deletes everything that belongs to an organization marked as deleted. The list entry is last, since
 * interrupted deletions are found by it.
 */
export async function finishDeletion(
  context: StoreContext,
  { id, name }: Pick<OrganizationRecord, "id" | "name">,
): Promise<void> {
  const { client } = context;
  await releaseName(context, id, name, Number.MAX_SAFE_INTEGER);
  await keyOperations.revokeAllKeys(context, id);
  await deleteTokens(context, id);
  for (const kind of OWNER_KINDS) await endOwners(context, id, kind);
  await client.zremrangebyscore(DELETED_ORGANIZATIONS_KEY, "-inf", String(await timeMs(context)));
  await client.zadd(DELETED_ORGANIZATIONS_KEY, "NX", await expiryOfDeleted(context), id);
  await client.zrem(ORGANIZATIONS_KEY, id);
}

async function deleteTokens(context: StoreContext, organizationId: string): Promise<void> {
  for (;;) {
    // Deleted tokens leave the list, so the first page is always the next one.
    const page = { limit: TOKENS_AT_ONCE, after: null };
    const { items } = await tokenOperations.listTokens(context, organizationId, page);
    if (items.length === 0) return;
    await Promise.all(items.map(({ id }) => tokenOperations.deleteToken(context, organizationId, id)));
  }
}

/** Marks users or groups as deleted; their records are kept as long as the organization's. */
async function endOwners(context: StoreContext, organizationId: string, kind: OwnerKind): Promise<void> {
  const list = ownerListKey(organizationId, kind);
  const expiresAt = await expiryOfDeleted(context);
  for (;;) {
    const { ids } = await readIds(context, list, { limit: OWNERS_AT_ONCE, after: null });
    const furtherKeys = ids.flatMap((id) =>
      listOf["ended-owner"]({
        record: ownerKey(organizationId, kind, id),
        itsKeys: ownerKeysKey(organizationId, kind, id),
        itsUsers: ownerUsersKey(organizationId, kind, id),
      }),
    );
    const remaining = await context.client.igwEndOwners({
      list,
      foundBy: ownerTextsKey(organizationId, kind),
      byIdentity: usersByIdentityKey(organizationId),
      expiresAtMs: expiresAt,
      furtherKeys,
      furtherArguments: ids,
    });
    if (remaining === 0 || ids.length === 0) return;
  }
}

/** Returns the time when the last figures of this month expire. */
async function expiryOfDeleted(context: StoreContext): Promise<string> {
  return String(expiryOf(monthAt(await timeMs(context)).name, context.usageMonths));
}
