/**
 * Entries of the organization's audit log. The store writes an entry in the same step as its change, so that
 * neither exists without the other. Only changes of many steps are recorded afterwards: such a change
 * persists even if its entry cannot be written (Redis failed in between); the entry is then logged by the
 * process.
 */
import type { AuditFields, AuditInput, AuditValue } from "../../../shared/stored/audit.ts";
import type { ApiCall, ApiServices } from "./route.ts";

export interface Change {
  /** "key.updated" */
  readonly action: string;
  readonly target: AuditInput["target"];
  /** All settings before, or null. Never contains a secret. */
  readonly before: AuditFields | null;
  /** All settings after, or null. Never contains a secret. */
  readonly after: AuditFields | null;
}

type Caller = Pick<ApiCall, "principal" | "requestId">;

/** Returns the entry of an update with the differing fields only. Null if none differs. */
export function describeUpdate(
  change: Change & { readonly before: AuditFields; readonly after: AuditFields },
  call: Caller,
): AuditInput | null {
  const fields = differences(change.before, change.after);
  return fields === null ? null : describeChange({ ...change, ...fields }, call);
}

/** Returns the entry of a creation, deletion or replacement. */
export function describeChange({ action, target, before, after }: Change, call: Caller): AuditInput {
  return { actor: describeActor(call), action, target, before, after, requestId: call.requestId };
}

/**
 * Returns functions that build the entries of one kind.
 * @param type Name of the kind in the entries: "key".
 * @param describe Returns the settings without secrets.
 */
export function entriesOf<Item extends { readonly id: string; readonly name: string }>(
  type: string,
  describe: (record: Item) => AuditFields,
) {
  const name = (done: string, record: Item) => ({
    action: `${type}.${done}`,
    target: { type, id: record.id, name: record.name },
  });
  return {
    created: (made: Item, call: Caller) =>
      describeChange({ ...name("created", made), before: null, after: describe(made) }, call),
    updated: (before: Item, after: Item, call: Caller) =>
      describeUpdate({ ...name("updated", after), before: describe(before), after: describe(after) }, call),
    deleted: (record: Item, call: Caller) =>
      describeChange({ ...name("deleted", record), before: describe(record), after: null }, call),
  };
}

/** Writes the entry of a change of many steps. */
export async function recordChange(
  organizationId: string | null,
  change: Change,
  call: Caller,
  { store, logger }: Pick<ApiServices, "store" | "logger">,
): Promise<void> {
  const entry = describeChange(change, call);
  try {
    await store.addAuditEntry(organizationId, entry);
  } catch (error) {
    logger.error({ err: error, organization_id: organizationId, entry }, "change missing in the audit log");
  }
}

export function describeActor({ principal }: Pick<ApiCall, "principal">): AuditInput["actor"] {
  if (principal.type === "token") {
    return { type: "token", id: principal.id, name: principal.name, role: principal.role };
  }
  if (principal.type === "key") throw new TypeError("the holder of an API key changes nothing");
  const { person } = principal;
  if (person === undefined) return { type: "operator", id: null, name: null, role: "operator" };
  const { name, issuer, subject } = person;
  if (principal.type === "operator") {
    return { type: "operator", id: null, name, role: "operator", issuer, subject };
  }
  return { type: "person", id: principal.userId, name, role: principal.role, issuer, subject };
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

/** Compares values built by the same function, so equal values have their members in the same order. */
function isSame(first: AuditValue | undefined, second: AuditValue | undefined): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}
