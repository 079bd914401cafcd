/** The audit log: a stream on the organization's slot, bounded, so its oldest entries go when it is full. */
import { z } from "zod";
import type { StoreContext } from "./context.ts";
import { auditKey } from "./keys.ts";
import type { AuditEntry, AuditInput, AuditValue } from "./types/audit.ts";
import type { Page, PageInput } from "./types/reporting.ts";

/** Bounds the memory of one organization: some 10 MB at a kilobyte an entry. */
const KEPT_ENTRIES = 10_000;

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
    type: z.enum(["operator", "token"]),
    id: z.string().nullable(),
    name: z.string().nullable(),
  }),
  action: z.string(),
  target: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  before: fieldsSchema,
  after: fieldsSchema,
  requestId: z.string(),
});

/** @see AuditStore.addAuditEntry */
export async function addAuditEntry(
  context: StoreContext,
  organizationId: string,
  entry: AuditInput,
): Promise<void> {
  const text = JSON.stringify(entry);
  await context.client.xadd(auditKey(organizationId), "MAXLEN", "~", KEPT_ENTRIES, "*", "entry", text);
}

/** @see AuditStore.listAuditEntries */
export async function listAuditEntries(
  context: StoreContext,
  organizationId: string,
  { limit, after }: PageInput,
): Promise<Page<AuditEntry>> {
  const end = after === null ? "+" : `(${after}`;
  const found = await context.client.xrevrange(auditKey(organizationId), end, "-", "COUNT", limit + 1);
  const items = found.slice(0, limit).map(([id, [, text = "null"]]) => ({
    id,
    recordedAtMs: Number(id.split("-")[0]),
    ...entrySchema.parse(JSON.parse(text)),
  }));
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}
