/** The audit logs of an organization: who changed what, when, from what to what, and who signed in. */
import type { Page, PageInput } from "./page.ts";
import { PERSON_ROLES, type PersonRole } from "./sessions.ts";

const AUDIT_KINDS = ["changes", "sign-ins"] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** A log for each role, so that nobody pushes out what was done with another role; "none": sign-ins without a role. */
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

/** Who. The operator's token has neither id nor name. */
export interface AuditActor {
  readonly type: "operator" | "token" | "person";
  /** Of a token; of a person the user that it is. */
  readonly id: string | null;
  readonly name: string | null;
  /** The role that allowed it; null: a sign-in without a role. */
  readonly role: PersonRole | null;
  /** Of whoever has signed in with an identity provider, whatever the role, or has called with a token of one. */
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
}

export interface AuditInput {
  readonly actor: AuditActor;
  /** "key.updated" */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string; readonly name: string | null };
  /** Null where there was nothing before. Never a secret. */
  readonly before: AuditFields | null;
  /** Null where there is nothing any more. Never a secret. */
  readonly after: AuditFields | null;
  /** Of the call that made the change. */
  readonly requestId: string;
}

export interface AuditEntry extends AuditInput {
  readonly id: string;
  /** Redis's clock. */
  readonly recordedAtMs: number;
}

export interface AuditStore {
  /** Writes a change of many steps, or a sign-in. @param organizationId Null: of what belongs to none. */
  addAuditEntry(organizationId: string | null, entry: AuditInput, kind?: AuditKind): Promise<void>;
  /** Newest first. `next` of a page is an entry's id. */
  listAuditEntries(organizationId: string | null, page: PageInput): Promise<Page<AuditEntry>>;
}
