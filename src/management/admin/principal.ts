import type { TokenRecord, TokenStore } from "../../data-path/store/types/tokens.ts";
import { AdminError } from "./admin-error.ts";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export type Principal =
  /** `person`: who has the role by an identity provider; without one it is the operator's token. */
  | { readonly type: "operator"; readonly person?: Person }
  | ({ readonly type: "token" } & Pick<TokenRecord, "id" | "name" | "role" | "organizationId">)
  | {
      readonly type: "person";
      readonly name: string;
      readonly role: "admin" | "viewer" | "member";
      readonly organizationId: string;
      /** The user that it is; null: none. */
      readonly userId: string | null;
      readonly person: Person;
    };

/** Somebody whom an identity provider has signed in. */
interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** As the provider calls them: for people. */
  readonly name: string;
}

/**
 * Who an `Authorization` header belongs to. The operator is known without Redis; an organization's token is looked up
 * on each call, so that a deleted one works no longer at once.
 * @throws AdminError 401 `invalid_token`; what the store throws when Redis is unreachable.
 */
export async function authenticate(
  authorization: string | undefined,
  operatorToken: string,
  store: Pick<TokenStore, "findToken">,
): Promise<Principal> {
  const token = readBearer(authorization);
  if (token === undefined) throw new AdminError("invalid_token");
  if (isSameText(token, operatorToken)) return { type: "operator" };
  const principal = isWellFormedToken(token) ? await findTokenHolder(hashToken(token), store) : null;
  if (principal !== null) return principal;
  const message = "Invalid management token. Check that you copied all of it and that it wasn't deleted.";
  throw new AdminError("invalid_token", { message });
}

/** Whose organization token has this hash; null when there is none, or not any more. */
export async function findTokenHolder(
  sha256Hex: string,
  store: Pick<TokenStore, "findToken">,
): Promise<Extract<Principal, { type: "token" }> | null> {
  const record = await store.findToken(sha256Hex);
  if (record === null) return null;
  const { id, name, role, organizationId } = record;
  return { type: "token", id, name, role, organizationId };
}

/** The token of an `Authorization` header. */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

/** Beginning of an organization token: this and 256 random bits in base64url (43 characters). */
const PREFIX = "igw_org_";
const RANDOM_BYTES = 32;
const FORM = /^igw_org_[A-Za-z0-9_-]{43}$/;
const DISPLAYED_CHARACTERS = 4;

/** A new token. Shown once; only `hashToken` of it is kept. */
export function createOrganizationToken(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString("base64url");
}

/** Whether a text has the form of a token. Says nothing about whether there is such a token. */
export function isWellFormedToken(text: string): boolean {
  return FORM.test(text);
}

/** SHA-256, 64 lower-case hexadecimal digits: what is stored of a token. */
export function hashToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What people see of a token: `igw_org_…a1B2`. */
export function displayToken(text: string): string {
  return `${PREFIX}…${text.slice(-DISPLAYED_CHARACTERS)}`;
}

/** Whether two texts are the same, in constant time: over hashes, so that the lengths tell nothing either. */
export function isSameText(first: string, second: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(first), digest(second));
}
