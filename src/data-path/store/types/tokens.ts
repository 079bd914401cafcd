/** Organization tokens: what the management API is asked with, for one organization. */
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

/** `audit`: the entry of the audit log, written in the step that makes the change and only when it is made. */
export interface TokenStore {
  /** Null: there is no such organization. */
  createToken(
    organizationId: string,
    settings: TokenSettings,
    token: HashedKey,
    audit?: (record: TokenRecord) => AuditInput,
  ): Promise<TokenRecord | null>;
  /** Whose token this is, or null. @param sha256Hex 64 lower-case hexadecimal digits. */
  findToken(sha256Hex: string): Promise<TokenRecord | null>;
  /** In the order of their creation. */
  listTokens(organizationId: string, page: PageInput): Promise<Page<TokenRecord>>;
  /** The token works no longer. Null: there is no such token. */
  deleteToken(
    organizationId: string,
    tokenId: string,
    audit?: (record: TokenRecord) => AuditInput,
  ): Promise<TokenRecord | null>;
}
