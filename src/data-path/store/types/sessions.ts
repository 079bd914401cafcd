/** Sessions of the dashboard. */
import type { Page, PageInput } from "./page.ts";

/** Who is signed in. */
export type SessionHolder =
  /** `proof`: which operator's token it was; made of that token, but not the token. */
  | { readonly type: "operator"; readonly proof: string }
  /** `tokenHash`: SHA-256 of an organization's token. */
  | { readonly type: "token"; readonly tokenHash: string; readonly organizationId: string }
  | PersonHolder;

export const PERSON_ROLES = ["operator", "admin", "viewer", "member"] as const;

export type PersonRole = (typeof PERSON_ROLES)[number];

/** Somebody whom an identity provider has signed in, as it was then. */
export interface PersonHolder {
  readonly type: "person";
  /** Of `dashboard.oidc`. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** What the role was chosen by. */
  readonly groups: readonly string[];
  readonly role: PersonRole;
  /** Null: the operator's role. */
  readonly organizationId: string | null;
  /** The user of the organization that it is; null: none. */
  readonly userId: string | null;
  /** What the provider is told at the sign-out, sealed with the session's secret; null: nothing. */
  readonly sealedIdToken: string | null;
}

export interface SessionRecord {
  /** SHA-256 of its secret, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  readonly holder: SessionHolder;
  /** Redis's clock, here and below. */
  readonly createdAtMs: number;
  /** To the minute. */
  readonly seenAtMs: number;
  /** It ends then at the latest. */
  readonly endsAtMs: number;
}

/** The role that an identity had at its last sign-in. */
export interface KnownRole {
  readonly role: PersonRole;
  readonly organizationId: string | null;
}

export interface SessionStore {
  /**
   * Begins a session that ends by itself. If the person or token has more than 20 sessions, the oldest ones end.
   * @param sha256Hex Of its secret, 64 lower-case hexadecimal digits.
   */
  createSession(sha256Hex: string, holder: SessionHolder): Promise<SessionRecord>;
  /** Null: there is none, or it is over. Somebody has come with it, so it is not idle. */
  useSession(sha256Hex: string): Promise<SessionRecord | null>;
  /** The same, for whoever only looks. */
  findSession(sha256Hex: string): Promise<SessionRecord | null>;
  /** Ends a session, for every host. May be repeated. False: there was none. */
  endSession(sha256Hex: string): Promise<boolean>;
  /** Newest first. @param organizationId Null: those of the operator's role. */
  listSessions(organizationId: string | null, page: PageInput): Promise<Page<SessionRecord>>;
  /** What was remembered of an identity, which `role` takes the place of. Kept for 400 days. */
  rememberRole(identity: { issuer: string; subject: string }, role: KnownRole): Promise<KnownRole | null>;
}
