/**
 * Sign-ins in the audit log: of the role's organization, otherwise in the operator's log. An entry that
 * cannot be written goes to the process's log and never affects the sign-in.
 */
import type { Logger } from "../../../shared/host/logger.ts";
import type { AuditFields, AuditInput, AuditStore } from "../../../shared/stored/audit.ts";
import type { KnownRole, PersonHolder, SessionRecord } from "../../../shared/stored/sessions.ts";

export interface Journal {
  readonly store: Pick<AuditStore, "addAuditEntry">;
  readonly logger: Logger;
  /** Id of the call. */
  readonly requestId: string;
}

export type SignedInPerson = Pick<PersonHolder, "issuer" | "subject" | "name" | "provider">;

/** Reason why a session was ended automatically. */
export type EndReason = "role_withdrawn" | "user_disabled";

export async function recordStart(
  journal: Journal,
  holder: PersonHolder,
  former: KnownRole | null,
): Promise<void> {
  const { role, organizationId } = holder;
  const fields = { provider: holder.provider, role, organization_id: organizationId };
  await record(journal, organizationId, "session.started", holder, { before: null, after: fields });
  if (former === null || (former.role === role && former.organizationId === organizationId)) return;
  const change = {
    before: { role: former.role, organization_id: former.organizationId },
    after: { role, organization_id: organizationId },
  };
  const places = new Set([former.organizationId, organizationId]);
  for (const place of places) await record(journal, place, "role.changed", holder, change);
}

/** Records that a signed-in person has authorized a program. */
export function recordProgramStart(journal: Journal, holder: PersonHolder): Promise<void> {
  const { provider, role, organizationId } = holder;
  const after = { provider, role, organization_id: organizationId, client: "command line" };
  return record(journal, organizationId, "session.started", holder, { before: null, after });
}

/** Records a person whom the provider knows, but who has no role here. */
export function recordRefusal(journal: Journal, person: SignedInPerson, reason: string): Promise<void> {
  const after = { provider: person.provider, reason };
  return record(journal, null, "session.refused", person, { before: null, after });
}

export function recordEnd(journal: Journal, holder: PersonHolder, reason: EndReason): Promise<void> {
  const { provider, role } = holder;
  const change = { before: { provider, role }, after: { reason } };
  return record(journal, holder.organizationId, "session.ended", holder, change);
}

/** Records a sign-in with the operator's token. */
export async function recordOperatorStart(
  journal: Journal,
  { hash }: Pick<SessionRecord, "hash">,
): Promise<void> {
  await write(journal, null, {
    actor: { type: "operator", id: null, name: null, role: "operator" },
    action: "session.started",
    target: { type: "session", id: sessionIdOf(hash), name: null },
    before: null,
    after: { role: "operator" },
    requestId: journal.requestId,
  });
}

/** Returns a session's id in the API: its hash, which does not authenticate. */
export function sessionIdOf(hash: string): string {
  return `session_${hash}`;
}

/** Returns the hash; null if the id is not a session's. */
export function hashOfSession(id: string): string | null {
  return /^session_([0-9a-f]{64})$/.exec(id)?.[1] ?? null;
}

function record(
  journal: Journal,
  organizationId: string | null,
  action: string,
  { issuer, subject, name, userId = null, ...person }: SignedInPerson & Partial<PersonHolder>,
  change: { readonly before: AuditFields | null; readonly after: AuditFields | null },
): Promise<void> {
  return write(journal, organizationId, {
    actor: { type: "person", id: userId, name, role: person.role ?? null, issuer, subject },
    action,
    target: { type: "person", id: subject, name },
    ...change,
    requestId: journal.requestId,
  });
}

async function write(
  { store, logger }: Journal,
  organizationId: string | null,
  entry: AuditInput,
): Promise<void> {
  try {
    await store.addAuditEntry(organizationId, entry, "sign-ins");
  } catch (error) {
    logger.error({ err: error, organization_id: organizationId, entry }, "sign-in missing in the audit log");
  }
}
