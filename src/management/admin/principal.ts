import { isUsable } from "../../shared/settings/state.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { TokenRecord, TokenStore } from "../../shared/stored/tokens.ts";
import { AdminError } from "./admin-error.ts";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export type Principal =
  /** `person`: set if an identity provider gave the role; otherwise it is the operator's token. */
  | { readonly type: "operator"; readonly person?: Person }
  | ({ readonly type: "token" } & Pick<TokenRecord, "id" | "name" | "role" | "organizationId">)
  | KeyHolder
  | {
      readonly type: "person";
      readonly name: string;
      readonly role: "admin" | "viewer" | "member";
      readonly organizationId: string;
      /** User of the organization; null: none. */
      readonly userId: string | null;
      readonly person: Person;
    };

/** Holder of an API key, signed in with it: can read what the key itself can ask, and change nothing. */
export interface KeyHolder {
  readonly type: "key";
  readonly role: "key";
  readonly name: string;
  readonly organizationId: string;
  readonly keyId: string;
}

/** Person signed in by an identity provider. */
interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** Name from the provider, for people. */
  readonly name: string;
}

/**
 * Authenticates an `Authorization` header. The operator is known without Redis; an organization's token is
 * looked up on each call, so that a deleted one stops working at once.
 * @throws AdminError 401 `invalid_token`; errors of the store if Redis is unreachable.
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

/** Returns the holder of the organization token with this hash; null if it does not exist. */
export async function findTokenHolder(
  sha256Hex: string,
  store: Pick<TokenStore, "findToken">,
): Promise<Extract<Principal, { type: "token" }> | null> {
  const record = await store.findToken(sha256Hex);
  if (record === null) return null;
  const { id, name, role, organizationId } = record;
  return { type: "token", id, name, role, organizationId };
}

/** Returns the id under which someone has read alerts: of a token or user, or of a person at an identity provider. */
export function readerOf(principal: Principal): string {
  if (principal.type === "key") return principal.keyId;
  if (principal.type === "token") return principal.id;
  const userId = principal.type === "person" ? principal.userId : null;
  if (userId !== null) return userId;
  const { person } = principal;
  return person === undefined ? "operator" : hashToken(`${person.issuer} ${person.subject}`);
}

/** Returns whether someone sees only what is their own: members, and holders of API keys. */
export function isOnlyOwn(principal: Principal): boolean {
  return principal.type === "key" || (principal.type === "person" && principal.role === "member");
}

export type KeyHolderStore = Pick<Store, "findPresentedKey" | "getOrganization" | "getUser" | "timeMs">;

/** Returns the holder of the API key with this hash; null if requests with the key would return 401 or 403. */
export async function findKeyHolder(sha256Hex: string, store: KeyHolderStore): Promise<KeyHolder | null> {
  const key = await store.findPresentedKey(sha256Hex);
  if (key === null) return null;
  const { id: keyId, name, organizationId, userId } = key;
  const [organization, user, nowMs] = await Promise.all([
    store.getOrganization(organizationId),
    userId === null ? null : store.getUser(organizationId, userId),
    store.timeMs(),
  ]);
  if (organization === null || !isUsable(key, organization, nowMs) || user?.disabled === true) return null;
  return { type: "key", role: "key", name, organizationId, keyId };
}

/** Returns the token of an `Authorization` header. */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

/** Prefix of an organization token, followed by 256 random bits in base64url (43 characters). */
const PREFIX = "igw_org_";
const RANDOM_BYTES = 32;
const FORM = /^igw_org_[A-Za-z0-9_-]{43}$/;
const DISPLAYED_CHARACTERS = 4;

/** Creates a token. It is shown once; only its `hashToken` is stored. */
export function createOrganizationToken(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString("base64url");
}

/** Returns whether a text has the form of a token, which may not exist. */
export function isWellFormedToken(text: string): boolean {
  return FORM.test(text);
}

/** Returns the SHA-256, 64 lower-case hexadecimal digits, which is stored. */
export function hashToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the visible characters of a token: `igw_org_…a1B2`. */
export function displayToken(text: string): string {
  return `${PREFIX}…${text.slice(-DISPLAYED_CHARACTERS)}`;
}

/** Compares two texts in constant time: by their hashes, so that lengths reveal nothing either. */
export function isSameText(first: string, second: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(first), digest(second));
}
