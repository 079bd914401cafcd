/** Organization tokens, which authorize management API calls for one organization. */
import type { AuditInput } from "./audit.ts";
import type { HashedKey } from "./management.ts";
import type { Page, PageInput } from "./page.ts";

export const TOKEN_ROLES = ["admin", "viewer"] as const;

/** `admin` reads and changes everything of its organization, `viewer` only reads. */
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface TokenSettings {
  readonly name: string;
  readonly role: TokenRole;
}

export interface TokenRecord extends TokenSettings {
  readonly id: string;
  readonly organizationId: string;
  /** `igw_org_…a1B2` */
  readonly display: string;
  readonly createdAtMs: number;
}

/**
 * Operations on tokens. `audit`: entry of the audit log, written in the same step as the change and only if
 * it is made.
 */
export interface TokenStore {
  /** Creates a token. Null: the organization does not exist. */
  createToken(
    organizationId: string,
    settings: TokenSettings,
    token: HashedKey,
    audit?: (record: TokenRecord) => AuditInput,
  ): Promise<TokenRecord | null>;
  /** Finds a token by its hash, or null. @param sha256Hex 64 lower-case hexadecimal digits. */
  findToken(sha256Hex: string): Promise<TokenRecord | null>;
  /** Lists tokens in order of creation. */
  listTokens(organizationId: string, page: PageInput): Promise<Page<TokenRecord>>;
  /** Deletes a token. Null: it does not exist. */
  deleteToken(
    organizationId: string,
    tokenId: string,
    audit?: (record: TokenRecord) => AuditInput,
  ): Promise<TokenRecord | null>;
}
