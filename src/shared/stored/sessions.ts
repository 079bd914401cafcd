/** Sessions of the dashboard. */
import type { Page, PageInput } from "./page.ts";

/** Person or token that is signed in. */
export type SessionHolder =
  /** `proof`: derived from the operator's token, to distinguish tokens; not the token itself. */
  | { readonly type: "operator"; readonly proof: string }
  /** `tokenHash`: SHA-256 of an organization's token. */
  | { readonly type: "token"; readonly tokenHash: string; readonly organizationId: string }
  /** `keyHash`: SHA-256 of an API key, whose session shows only the key itself. */
  | { readonly type: "key"; readonly keyHash: string; readonly organizationId: string }
  | PersonHolder;

/** Maximum lifetime of a session, even if it is used. */
export const SESSION_MS = 24 * 3_600_000;

export const PERSON_ROLES = ["operator", "admin", "viewer", "member"] as const;

export type PersonRole = (typeof PERSON_ROLES)[number];

/** Person signed in by an identity provider, as of the sign-in. */
export interface PersonHolder {
  readonly type: "person";
  /** Name in `dashboard.oidc`. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** Groups that decided the role. */
  readonly groups: readonly string[];
  readonly role: PersonRole;
  /** Null: the operator's role. */
  readonly organizationId: string | null;
  /** User of the organization that the person is; null: none. */
  readonly userId: string | null;
  /** Id token for the provider's sign-out, sealed with the session's secret; null: none. */
  readonly sealedIdToken: string | null;
}

export interface SessionRecord {
  /** SHA-256 of the session's secret, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  readonly holder: SessionHolder;
  /** Time by Redis's clock, as are those below. */
  readonly createdAtMs: number;
  /** Rounded to the minute. */
  readonly seenAtMs: number;
  /** The session ends then at the latest. */
  readonly endsAtMs: number;
}

/** Role of an identity at its last sign-in. */
export interface KnownRole {
  readonly role: PersonRole;
  readonly organizationId: string | null;
}

export interface SessionStore {
  /**
   * Starts a session, which expires by itself. If the person or token has more than 20 sessions, the oldest
   * ones end.
   * @param sha256Hex Hash of its secret, 64 lower-case hexadecimal digits.
   */
  createSession(sha256Hex: string, holder: SessionHolder): Promise<SessionRecord>;
  /** Finds a session and records that it was used. Null: it does not exist or is over. */
  useSession(sha256Hex: string): Promise<SessionRecord | null>;
  /** Finds a session without recording a use. */
  findSession(sha256Hex: string): Promise<SessionRecord | null>;
  /** Ends a session on every host. May be repeated. False: it did not exist. */
  endSession(sha256Hex: string): Promise<boolean>;
  /** Lists sessions, newest first. @param organizationId Null: sessions with the operator's role. */
  listSessions(organizationId: string | null, page: PageInput): Promise<Page<SessionRecord>>;
  /** Remembers the role of an identity for 400 days. Returns the previous one. */
  rememberRole(identity: { issuer: string; subject: string }, role: KnownRole): Promise<KnownRole | null>;
}
