/** Records of organizations and the list of all. */
import { listChannels } from "../alerts/channels.ts";
import { executeWithAudit, auditArguments } from "./audit.ts";
import { timeMs } from "../redis/clock.ts";
import { ensureWindows, periodsOf } from "../usage/windows.ts";
import { countFiredAlerts, inputOfMonth, runInMonth, type StoreContext } from "../context.ts";
import { createId, isId } from "../ids.ts";
import {
  alertCourierKey,
  DELETED_ORGANIZATIONS_KEY,
  openRequestsKey,
  organizationKey,
  ORGANIZATIONS_KEY,
  spendKey,
} from "../redis/keys.ts";
import { monthsBackFrom } from "../../../shared/time/calendar.ts";
import { formatOrganizationSettings, parseOrganizationRecord, readFields } from "./records.ts";
import { claimName, foldCase, foldName, releaseName } from "./organization-names.ts";
import { parseFields, textAt } from "../redis/parse-reply.ts";
import { listNeededLimits } from "../../../shared/settings/limit-settings.ts";
import type { OrganizationSettings } from "../../../shared/settings/organization.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import type {
  OrganizationChangeResult,
  OrganizationRecord,
  OrganizationStore,
} from "../../../shared/stored/management.ts";
import type { PageInput } from "../../../shared/stored/page.ts";
import type { Operations } from "../run.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

/** Pages that one search examines: 2,000 organizations. */
const SEARCHED_PAGES = 10;
const SEARCH_PAGE = 200;
/** Attempts if others change the organization at the same time: each retries on the new version. */
const CHANGE_ATTEMPTS = 5;
const REMOVED_COURIER_MS = 86_400_000;

export const organizationOperations: Operations<OrganizationStore> = {
  /** Writes the name, then the record, then the list. After a crash, the next claim of the name repairs the rest. */
  async createOrganization(context, settings, audit) {
    const now = await timeMs(context);
    const id = createId("org", now);
    const periods = periodsOf(listNeededLimits(settings));
    const claim = await claimName(context, id, settings.name);
    if (claim.outcome === "name_taken") return claim;
    const fields = [...formatOrganizationSettings(settings), "created_at", String(now), "version", "1"];
    const organization = { ...settings, id, createdAtMs: now, deletedAtMs: null, version: 1 };
    const key = organizationKey(id);
    if (audit === undefined) {
      await context.client.hset(key, ...fields);
    } else {
      const entry = auditArguments(id, audit(organization));
      await executeWithAudit(context, entry, (change) => change.hset(key, ...fields));
    }
    // No key exists yet, so nothing can be spent before its limits are counted.
    await ensureWindows(context, id, periods);
    await context.client.zadd(ORGANIZATIONS_KEY, 0, id);
    return { outcome: "created", organization };
  },

  async getOrganization(context, organizationId) {
    if (!isId("org", organizationId)) return null;
    const fields = await readFields(context, organizationKey(organizationId));
    return fields === null ? null : parseOrganizationRecord(organizationId, fields);
  },

  async listOrganizations(context, page) {
    const { ids, next } = await readIds(context, ORGANIZATIONS_KEY, page);
    const records = await Promise.all(ids.map((id) => organizationOperations.getOrganization(context, id)));
    // Deleted organizations are only listed after a crash.
    const isActive = (record: OrganizationRecord | null): record is OrganizationRecord =>
      record?.deletedAtMs === null;
    return { items: records.filter(isActive), next };
  },

  async searchOrganizations(context, text, { limit, after }) {
    const found: OrganizationRecord[] = [];
    let next = after;
    for (let page = 0; page < SEARCHED_PAGES; page += 1) {
      const batch = await organizationOperations.listOrganizations(context, {
        limit: SEARCH_PAGE,
        after: next,
      });
      for (const record of batch.items) {
        if (!isOrganizationFound(record, text)) continue;
        // One more than requested: there is a next page.
        if (found.length === limit) return { items: found, next: found.at(-1)?.id ?? null };
        found.push(record);
      }
      next = batch.next;
      if (next === null) break;
    }
    return { items: found, next };
  },

  async listOrganizationIds(context) {
    const [deleted, active] = await Promise.all([
      context.client.zrange(DELETED_ORGANIZATIONS_KEY, "0", "-1"),
      context.client.zrange(ORGANIZATIONS_KEY, "0", "-1"),
    ]);
    return deleted.length === 0 ? active : [...new Set([...active, ...deleted])];
  },

  async changeOrganization(context, organizationId, changes, expectedVersion, audit = null) {
    if (!isId("org", organizationId)) return { outcome: "not_found" };
    await ensureWindows(context, organizationId, periodsOf(listNeededLimits(changes)));
    const { name } = changes;
    if (name === undefined) return setFields(context, organizationId, { changes, expectedVersion, audit });
    for (let attempt = 1; ; attempt += 1) {
      const current = await organizationOperations.getOrganization(context, organizationId);
      if (current === null || current.deletedAtMs !== null) return { outcome: "not_found" };
      const change = { changes, expectedVersion: expectedVersion ?? current.version, audit };
      const result = await setName(context, current, name, change);
      const isOvertaken = result.outcome === "version_conflict" && expectedVersion === null;
      if (!isOvertaken || attempt === CHANGE_ATTEMPTS) return result;
    }
  },
};

/** Returns whether a search for this text finds the organization. */
export function isOrganizationFound(record: Pick<OrganizationRecord, "id" | "name">, text: string): boolean {
  return record.id === text || foldCase(record.name).includes(foldCase(text));
}

interface OrganizationChange {
  readonly changes: Partial<OrganizationSettings>;
  readonly expectedVersion: number | null;
  readonly audit: AuditInput | null;
}

/**
 * Changes the settings including the name. Always checks the version: an older claim then belongs to a change
 * that was made before or never will be.
 */
async function setName(
  context: StoreContext,
  current: OrganizationRecord,
  name: string,
  change: OrganizationChange,
): Promise<OrganizationChangeResult> {
  const claim = await claimName(context, current.id, name);
  if (claim.outcome === "name_taken") return claim;
  const result = await setFields(context, current.id, change);
  if (result.outcome === "changed" && foldName(current.name) !== foldName(name)) {
    await releaseName(context, current.id, current.name, claim.claimedUs);
  }
  return result;
}

async function setFields(
  context: StoreContext,
  organizationId: string,
  { changes, expectedVersion, audit }: OrganizationChange,
): Promise<OrganizationChangeResult> {
  const reply = await runInMonth(context, (month) => {
    const spends = monthsBackFrom(month, context.usageMonths + 1).map(({ name }) =>
      spendKey(organizationId, name),
    );
    return context.client.igwSetOrganization({
      organization: organizationKey(organizationId),
      openRequests: openRequestsKey(organizationId),
      ...auditArguments(organizationId, audit),
      furtherKeys: spends,
      expectedVersion: expectedVersion === null ? "" : String(expectedVersion),
      furtherArguments: formatOrganizationSettings(changes),
      ...inputOfMonth(month),
    });
  });
  const outcome = textAt(reply, OUTCOME);
  if (outcome === "not_found") return { outcome };
  const recordAt = (position: number) =>
    parseOrganizationRecord(organizationId, parseFields(reply[position]));
  if (outcome === "version_conflict" || outcome === "currency_locked") {
    return { outcome, current: recordAt(AT.organizationConflict.record) };
  }
  const { before, after, alertsFired } = AT.organizationChanged;
  countFiredAlerts(context, reply, alertsFired);
  const result = { outcome: "changed", before: recordAt(before), after: recordAt(after) } as const;
  await expireCouriers(context, result.before, result.after);
  return result;
}

/**
 * Sets an expiry on the delivery state of deleted webhooks. They are not deleted at once, since an attempt
 * may be running. It is a separate step: a crash in between only leaves a small hash without readers.
 */
export async function expireCouriers(
  { client }: StoreContext,
  before: OrganizationRecord,
  after: OrganizationRecord,
): Promise<void> {
  const channels = listChannels(after.notifications);
  const removed = listChannels(before.notifications).filter((channel) => !channels.includes(channel));
  await Promise.all(
    removed.map((channel) => client.pexpire(alertCourierKey(before.id, channel), REMOVED_COURIER_MS)),
  );
}

/** Reads a page of a sorted set of ids whose scores are all 0. */
export async function readIds(
  context: StoreContext,
  key: string,
  { limit, after }: PageInput,
): Promise<{ ids: string[]; next: string | null }> {
  const start = after === null ? "-" : `(${after}`;
  const ids = await context.client.zrangebylex(key, start, "+", "LIMIT", "0", String(limit + 1));
  const page = ids.slice(0, limit);
  return { ids: page, next: ids.length > limit ? (page.at(-1) ?? null) : null };
}
