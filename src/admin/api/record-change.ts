/**
 * Writes what was changed into the organization's audit log, after the change. A change stands even when its entry
 * cannot be written (Redis went away in between): then the entry goes to the log of the process, so that it is not lost.
 */
import type { AuditFields, AuditInput, AuditValue } from "../../store/types/audit.ts";
import type { ApiCall, ApiServices } from "./route.ts";

export interface Change {
  readonly organizationId: string;
  /** "key.updated" */
  readonly action: string;
  readonly target: AuditInput["target"];
  /** The whole of it as it was, or null. Never with a secret. */
  readonly before: AuditFields | null;
  /** The whole of it as it is, or null. Never with a secret. */
  readonly after: AuditFields | null;
}

/** Of an update only the fields that differ are kept; nothing is written when none does. */
export async function recordChange(
  change: Change,
  call: Pick<ApiCall, "principal" | "requestId">,
  { store, logger }: Pick<ApiServices, "store" | "logger">,
): Promise<void> {
  const { before, after } = change;
  const fields = before !== null && after !== null ? differences(before, after) : { before, after };
  if (fields === null) return;
  const entry: AuditInput = {
    actor: describeActor(call),
    action: change.action,
    target: change.target,
    ...fields,
    requestId: call.requestId,
  };
  try {
    await store.addAuditEntry(change.organizationId, entry);
  } catch (error) {
    const { organizationId } = change;
    logger.error({ err: error, organizationId, entry }, "a change was made that the audit log does not have");
  }
}

function describeActor({ principal }: Pick<ApiCall, "principal">): AuditInput["actor"] {
  if (principal.type === "operator") return { type: "operator", id: null, name: null };
  return { type: "token", id: principal.id, name: principal.name };
}

function differences(
  before: AuditFields,
  after: AuditFields,
): { before: AuditFields; after: AuditFields } | null {
  const names = Object.keys(after).filter((name) => !isSame(before[name], after[name]));
  if (names.length === 0) return null;
  const pick = (fields: AuditFields): AuditFields =>
    Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}

/** Both are made by the same function, so equal values have their members in the same order. */
function isSame(first: AuditValue | undefined, second: AuditValue | undefined): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}
