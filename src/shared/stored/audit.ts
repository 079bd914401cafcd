/** Audit logs of an organization: changes with their actor, time, and values before and after, and sign-ins. */
import type { Page, PageInput } from "./page.ts";
import { PERSON_ROLES, type PersonRole } from "./sessions.ts";

const AUDIT_KINDS = ["changes", "sign-ins"] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** One log per role, so that entries of one role cannot push out those of another; "none": sign-ins without a role. */
export const AUDIT_LOGS = AUDIT_KINDS.flatMap((kind) =>
  ([...PERSON_ROLES, "none"] as const).map((role) => `${kind}:${role}` as const),
);

export type AuditLog = (typeof AUDIT_LOGS)[number];

export type AuditValue =
  | string
  | number
  | boolean
  | null
  | readonly AuditValue[]
  | { readonly [field: string]: AuditValue };
export type AuditFields = Readonly<Record<string, AuditValue>>;

/** Actor of a change. The operator's token has neither id nor name. */
export interface AuditActor {
  readonly type: "operator" | "token" | "person";
  /** Id of the token, or of the user that a person is. */
  readonly id: string | null;
  readonly name: string | null;
  /** Role that allowed the change; null: a sign-in without a role. */
  readonly role: PersonRole | null;
  /** Identity provider of a person who signed in, or whose token made the call. */
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
}

export interface AuditInput {
  readonly actor: AuditActor;
  /** "key.updated" */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string; readonly name: string | null };
  /** Values before the change; null if nothing existed. Never contains a secret. */
  readonly before: AuditFields | null;
  /** Values after the change; null if it was deleted. Never contains a secret. */
  readonly after: AuditFields | null;
  /** Id of the management API call that made the change. */
  readonly requestId: string;
}

export interface AuditEntry extends AuditInput {
  readonly id: string;
  /** Time by Redis's clock. */
  readonly recordedAtMs: number;
}

export interface AuditStore {
  /**
   * Writes the entry of a sign-in or of a change that takes several steps. @param organizationId Null: the
   * operator's log.
   */
  addAuditEntry(organizationId: string | null, entry: AuditInput, kind?: AuditKind): Promise<void>;
  /** Lists entries, newest first. `next` of a page is an entry's id. */
  listAuditEntries(organizationId: string | null, page: PageInput): Promise<Page<AuditEntry>>;
}
