/** The audit log: a stream on the organization's slot, bounded, so its oldest entries go when it is full. */
import type { ChainableCommander } from "ioredis";
import * as z from "zod";
import type { StoreContext } from "../context.ts";
import { auditKey } from "../redis/keys.ts";
import type { AuditInput, AuditStore, AuditValue } from "../types/audit.ts";
import { storeOf } from "../run.ts";

/** Bounds the memory of one organization: some 10 MB at a kilobyte an entry. `lua/include/audit.lua` says it too. */
const KEPT_ENTRIES = 10_000;

/** What `lua/include/audit.lua` takes: '' for none. */
export function formatAuditEntry(entry: AuditInput | null | undefined): string {
  return entry === null || entry === undefined ? "" : JSON.stringify(entry);
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
  async addAuditEntry(context, organizationId, entry) {
    const text = JSON.stringify(entry);
    await context.client.xadd(auditKey(organizationId), "MAXLEN", "~", KEPT_ENTRIES, "*", "entry", text);
  },

  async listAuditEntries(context, organizationId, { limit, after }) {
    const end = after === null ? "+" : `(${after}`;
    const found = await context.client.xrevrange(auditKey(organizationId), end, "-", "COUNT", limit + 1);
    const items = found.slice(0, limit).map(([id, [, text = "null"]]) => ({
      id,
      recordedAtMs: Number(id.split("-")[0]),
      ...entrySchema.parse(JSON.parse(text)),
    }));
    return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});

/**
 * A change of a few commands and its entry in one transaction. Resolves with the answer to the change's first command.
 * @throws Error of a command, or when the transaction was not executed.
 */
export async function executeWithAudit(
  context: StoreContext,
  organizationId: string,
  entry: AuditInput,
  change: (transaction: ChainableCommander) => ChainableCommander,
): Promise<unknown> {
  const replies = await change(context.client.multi())
    .xadd(auditKey(organizationId), "MAXLEN", "~", KEPT_ENTRIES, "*", "entry", JSON.stringify(entry))
    .exec();
  for (const [error] of replies ?? [[new Error("the transaction was not executed")]]) {
    if (error) throw error;
  }
  return replies?.[0]?.[1];
}
