/** Organizations: their records and the list of all. */
import { listChannels } from "../alerts/channels.ts";
import { executeWithAudit, formatAuditEntry } from "./audit.ts";
import { timeMs } from "../redis/clock.ts";
import { countFiredAlerts, runInMonth, type StoreContext } from "../context.ts";
import { createId, isId } from "../ids.ts";
import {
  alertCourierKey,
  alertKeys,
  auditKey,
  holdsKey,
  organizationKey,
  ORGANIZATIONS_KEY,
  spendKey,
} from "../redis/keys.ts";
import { expiryOf, monthsBackFrom } from "../../calendar.ts";
import { formatOrganizationSettings, parseOrganizationRecord } from "./records.ts";
import { parseFields, textAt } from "../redis/parse-reply.ts";
import type { OrganizationRecord } from "../types/management.ts";
import type { PageInput } from "../types/page.ts";
import { type Operations, storeOf } from "../run.ts";
import type { OrganizationStore } from "../types/management.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

/** What one search looks through: 2,000 organizations. */
const SEARCHED_PAGES = 10;
const SEARCH_PAGE = 200;
const GONE_COURIER_MS = 86_400_000;

export const organizationOperations: Operations<OrganizationStore> = {
  /** The record comes before the list: a crash in between leaves a record that nobody knows the id of. */
  async createOrganization(context, settings, audit) {
    const now = await timeMs(context);
    const id = createId("org", now);
    const fields = [...formatOrganizationSettings(settings), "created_at", String(now), "version", "1"];
    const record = { ...settings, id, createdAtMs: now, version: 1 };
    const key = organizationKey(id);
    if (audit === undefined) {
      await context.client.hset(key, ...fields);
    } else {
      await executeWithAudit(context, id, audit(record), (change) => change.hset(key, ...fields));
    }
    await context.client.zadd(ORGANIZATIONS_KEY, 0, id);
    return record;
  },

  async getOrganization(context, organizationId) {
    if (!isId("org", organizationId)) return null;
    const fields = await context.client.hgetall(organizationKey(organizationId));
    return Object.keys(fields).length === 0 ? null : parseOrganizationRecord(organizationId, fields);
  },

  async listOrganizations(context, page) {
    const { ids, next } = await readIds(context, ORGANIZATIONS_KEY, page);
    const records = await Promise.all(ids.map((id) => organizationOperations.getOrganization(context, id)));
    return { items: records.filter((record) => record !== null), next };
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
        // One more than asked for: there is a next page.
        if (found.length === limit) return { items: found, next: found.at(-1)?.id ?? null };
        found.push(record);
      }
      next = batch.next;
      if (next === null) break;
    }
    return { items: found, next };
  },

  async listOrganizationIds(context) {
    return context.client.zrange(ORGANIZATIONS_KEY, "0", "-1");
  },

  async changeOrganization(context, organizationId, changes, expectedVersion, audit = null) {
    if (!isId("org", organizationId)) return { outcome: "not_found" };
    const reply = await runInMonth(context, (month) => {
      const spends = monthsBackFrom(month, context.usageMonths + 1).map(({ name }) =>
        spendKey(organizationId, name),
      );
      return context.client.igwSetOrganization(
        String(spends.length + 6),
        organizationKey(organizationId),
        holdsKey(organizationId),
        ...alertKeys(organizationId, month.name),
        auditKey(organizationId),
        ...spends,
        expectedVersion === null ? "" : String(expectedVersion),
        month.name,
        String(month.startMs),
        String(month.endMs),
        String(expiryOf(month.name, context.usageMonths)),
        formatAuditEntry(audit),
        ...formatOrganizationSettings(changes),
      );
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
  },
};

export const createOrganizationStore = storeOf<OrganizationStore>(organizationOperations);

/** Whether a search for this text finds it. */
export function isOrganizationFound(record: Pick<OrganizationRecord, "id" | "name">, text: string): boolean {
  return record.id === text || foldCase(record.name).includes(foldCase(text));
}

/** As people compare names: "Ä" is "ä", and a wide "Ａ" is "a". */
function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/**
 * Of webhooks that are gone. Not at once, for an attempt may be under way; not in one step with the change: what a crash
 * leaves is a small hash that nobody reads.
 */
async function expireCouriers(
  { client }: StoreContext,
  before: OrganizationRecord,
  after: OrganizationRecord,
): Promise<void> {
  const channels = listChannels(after.notifications);
  const gone = listChannels(before.notifications).filter((channel) => !channels.includes(channel));
  await Promise.all(
    gone.map((channel) => client.pexpire(alertCourierKey(before.id, channel), GONE_COURIER_MS)),
  );
}

/** A page of a sorted set of ids whose scores are all 0. */
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
