/**
 * Audit logs: streams on the organization's slot, one per role and kind, bounded by age and bytes
 * (`lua/include/audit.lua`). Readers see them as one list.
 */
import type { ChainableCommander } from "ioredis";
import * as z from "zod";
import type { StoreContext } from "../context.ts";
import { auditKey } from "../redis/keys.ts";
import {
  AUDIT_LOGS,
  type AuditInput,
  type AuditKind,
  type AuditLog,
  type AuditStore,
  type AuditValue,
} from "../../../shared/stored/audit.ts";
import { PERSON_ROLES } from "../../../shared/stored/sessions.ts";
import { storeOf } from "../run.ts";

/** Returns key and entry for the scripts; an empty entry if there is none. */
export function auditArguments(organizationId: string, entry: AuditInput | null | undefined) {
  return {
    audit: auditKey(organizationId, logOf("changes", entry ?? null)),
    auditEntry: entry === null || entry === undefined ? "" : JSON.stringify(entry),
  };
}

/**
 * Writes a new organization's record and the first entry of its log in one transaction.
 * @throws Error of a command, or if the transaction was not executed.
 */
export async function executeWithAudit(
  { client }: StoreContext,
  { audit, auditEntry }: ReturnType<typeof auditArguments>,
  change: (transaction: ChainableCommander) => ChainableCommander,
): Promise<void> {
  const replies = await change(client.multi()).xadd(audit, "*", "entry", auditEntry).exec();
  for (const [error] of replies ?? [[new Error("the transaction was not executed")]]) {
    if (error) throw error;
  }
}

function logOf(kind: AuditKind, entry: AuditInput | null): AuditLog {
  return `${kind}:${entry?.actor.role ?? "none"}`;
}

const valueSchema: z.ZodType<AuditValue> = z.lazy(() =>
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(valueSchema),
    z.record(z.string(), valueSchema),
  ]),
);
const fieldsSchema = z.record(z.string(), valueSchema).nullable();
const entrySchema = z.object({
  actor: z.object({
    type: z.enum(["operator", "token", "person"]),
    id: z.string().nullable(),
    name: z.string().nullable(),
    role: z.enum(PERSON_ROLES).nullable(),
    issuer: z.string().optional(),
    subject: z.string().optional(),
  }),
  action: z.string(),
  target: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  before: fieldsSchema,
  after: fieldsSchema,
  requestId: z.string(),
});

export const createAuditStore = storeOf<AuditStore>({
  async addAuditEntry(context, organizationId, entry, kind = "changes") {
    await context.client.igwAddAudit({
      audit: auditKey(organizationId, logOf(kind, entry)),
      auditEntry: JSON.stringify(entry),
    });
  },

  async listAuditEntries(context, organizationId, { limit, after }) {
    const start = after === null ? null : parseId(after);
    const found = await Promise.all(
      AUDIT_LOGS.map(async (log, place) => {
        const end = start === null ? "+" : place < start.place ? start.streamId : `(${start.streamId}`;
        const key = auditKey(organizationId, log);
        const entries = await context.client.xrevrange(key, end, "-", "COUNT", limit + 1);
        return entries.map(([streamId, [, text = "null"]]) => ({ streamId, place, text }));
      }),
    );
    const all = found.flat().sort(compareNewestFirst);
    const items = all.slice(0, limit).map(({ streamId, place, text }) => ({
      id: `${streamId}-${place}`,
      recordedAtMs: Number(streamId.split("-")[0]),
      ...entrySchema.parse(JSON.parse(text)),
    }));
    return { items, next: all.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});

/** Position of an entry: its id in its stream, and the index of the stream in `AUDIT_LOGS`. */
interface Place {
  readonly streamId: string;
  readonly place: number;
}

function parseId(id: string): Place {
  const [time = "", sequence = "", place = ""] = id.split("-");
  return { streamId: `${time}-${sequence}`, place: Number(place) };
}

function compareNewestFirst(one: Place, other: Place): number {
  const [time = 0n, sequence = 0n] = one.streamId.split("-").map(BigInt);
  const [otherTime = 0n, otherSequence = 0n] = other.streamId.split("-").map(BigInt);
  if (time !== otherTime) return time < otherTime ? 1 : -1;
  if (sequence !== otherSequence) return sequence < otherSequence ? 1 : -1;
  return other.place - one.place;
}
