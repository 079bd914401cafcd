/** Sessions of the dashboard. */

/** Who is signed in. */
export type SessionHolder =
  /** `proof`: which operator's token it was; made of that token, but not the token. */
  | { readonly type: "operator"; readonly proof: string }
  /** `tokenHash`: SHA-256 of an organization's token. */
  | { readonly type: "token"; readonly tokenHash: string };

export interface SessionStore {
  /** Begins a session that ends by itself. @param sha256Hex Of its secret, 64 lower-case hexadecimal digits. */
  createSession(sha256Hex: string, holder: SessionHolder, lifetimeMs: number): Promise<void>;
  /** Null: there is none, or it is over. */
  findSession(sha256Hex: string): Promise<SessionHolder | null>;
  /** Ends a session, for every host. May be repeated. */
  endSession(sha256Hex: string): Promise<void>;
}
