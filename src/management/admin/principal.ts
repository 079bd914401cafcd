import type { TokenRecord, TokenStore } from "../../data-path/store/types/tokens.ts";
import { isSameText } from "./same-text.ts";
import { AdminError } from "./admin-error.ts";
import { hashToken, isWellFormedToken } from "./token-format.ts";

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
export interface Person {
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
