/** Organizations and keys, as the management API sets them. */
import type { KeySettings } from "../settings/key.ts";
import type { OrganizationSettings } from "../settings/organization.ts";
import type { AuditInput } from "./audit.ts";
import type { OwnerKind } from "./owner-kinds.ts";
import type { Page, PageInput } from "./page.ts";

/** Fields that every record has in addition to its settings. */
export interface StoredRecord {
  readonly id: string;
  readonly createdAtMs: number;
  /** Deleted records keep their name until the figures of their last month expire. */
  readonly deletedAtMs: number | null;
  /** Increases by one with each change; used as the ETag. */
  readonly version: number;
}

export interface OrganizationRecord extends OrganizationSettings, StoredRecord {}

export interface KeyRecord extends KeySettings, StoredRecord {
  readonly organizationId: string;
  /** `sk-igw-…a1B2` */
  readonly display: string;
  /** Time until which the key before the last rotation still works, or null. */
  readonly formerKeyUntilMs: number | null;
}

/** Starts the display text of keys without a secret, and their text in place of a hash. */
export const PROVIDER_KEY_PREFIX = "jwt:";

/** Returns whether a key has no secret, because it counts the requests that a user sends with a provider's tokens. */
export function isProviderKey({ display }: Pick<KeyRecord, "display">): boolean {
  return display.startsWith(PROVIDER_KEY_PREFIX);
}

/** Stored form of a key or token, without its secret. */
export interface HashedKey {
  /** SHA-256, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  readonly display: string;
}

export type ChangeResult<Item> =
  | { readonly outcome: "changed"; readonly before: Item; readonly after: Item }
  | { readonly outcome: "not_found" }
  /** The record was changed since the expected version. */
  | { readonly outcome: "version_conflict"; readonly current: Item };

/** Organization that has a name. */
export interface NameHolder {
  readonly id: string;
  /** Name as it is written there; null: the organization is just getting the name. */
  readonly name: string | null;
}

/** Result if another organization has the name; comparison ignores case. */
export interface NameTaken {
  readonly outcome: "name_taken";
  readonly holder: NameHolder;
}

export type OrganizationCreationResult =
  | { readonly outcome: "created"; readonly organization: OrganizationRecord }
  | NameTaken;

/** Result of a change. The currency cannot be changed once there is spend or a request in flight. */
export type OrganizationChangeResult =
  | ChangeResult<OrganizationRecord>
  | NameTaken
  | { readonly outcome: "currency_locked"; readonly current: OrganizationRecord };

/**
 * Operations on organizations. `audit`: entry of the audit log, written in the same step as the change and
 * only if it is made.
 */
export interface OrganizationStore {
  /** Creates an organization, in several steps. */
  createOrganization(
    settings: OrganizationSettings,
    audit?: (record: OrganizationRecord) => AuditInput,
  ): Promise<OrganizationCreationResult>;
  /** Also returns deleted organizations while their figures are kept: see `deletedAtMs`. */
  getOrganization(organizationId: string): Promise<OrganizationRecord | null>;
  /** Lists organizations that are not deleted, in order of creation. `next` of a page is an id. */
  listOrganizations(page: PageInput): Promise<Page<OrganizationRecord>>;
  /**
   * Lists like `listOrganizations` those whose name contains `text`, ignoring case, or whose id is `text`.
   * Examines a bounded number, so a page with a `next` may have fewer items than its limit.
   */
  searchOrganizations(text: string, page: PageInput): Promise<Page<OrganizationRecord>>;
  /** Includes deleted organizations while their figures are kept: they may have requests in flight. Two steps. */
  listOrganizationIds(): Promise<readonly string[]>;
  /**
   * Changes an organization; a new name takes several steps.
   * @param expectedVersion Null: any version.
   */
  changeOrganization(
    organizationId: string,
    changes: Partial<OrganizationSettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OrganizationChangeResult>;
}

/** Deletion of organizations. `audit` as in OrganizationStore. */
export interface DeletedOrganizationStore {
  /**
   * Deletes an organization. From the first step, which writes its record, none of its keys is admitted;
   * further steps delete its keys, tokens, users and groups and free its name. Its spend remains, and its
   * requests in flight are still charged.
   * @param expectedVersion Null: any version.
   */
  deleteOrganization(
    organizationId: string,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<ChangeResult<OrganizationRecord>>;
  /** Lists deleted organizations whose figures are kept, in order of creation. `next` of a page is an id. */
  listDeletedOrganizations(page: PageInput): Promise<Page<OrganizationRecord>>;
}

/** Operations on keys. `audit` as in OrganizationStore. */
export interface KeyStore {
  /** Null: the organization does not exist. @throws MissingOwnerError if its user or group does not exist */
  createKey(
    organizationId: string,
    settings: KeySettings,
    key: HashedKey,
    audit?: (record: KeyRecord) => AuditInput,
  ): Promise<KeyRecord | null>;
  /** Also returns deleted keys while their figures are kept: see `deletedAtMs`. */
  getKey(reference: { organizationId: string; keyId: string }): Promise<KeyRecord | null>;
  /**
   * Finds the key whose secret has this hash: the current one, or the previous one until it ends.
   * @param sha256Hex 64 lower-case hexadecimal digits.
   */
  findPresentedKey(sha256Hex: string): Promise<KeyRecord | null>;
  /**
   * Lists keys that are not deleted, in order of creation.
   * @param owners Only keys of this user, this group or both; a page may then have fewer items than its
   * limit.
   */
  listKeys(
    organizationId: string,
    page: PageInput,
    owners?: { readonly userId?: string; readonly groupId?: string },
  ): Promise<Page<KeyRecord>>;
  /**
   * Changes a key. A new rate first refills the buckets at the old rate, then keeps their fill fraction. With
   * a user or group it takes two steps.
   * @throws MissingOwnerError if its user or group does not exist
   */
  changeKey(
    reference: { organizationId: string; keyId: string },
    changes: Partial<KeySettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<ChangeResult<KeyRecord>>;
  /** Replaces the key's secret; the previous one works for another `graceMs`. Limits, id and spend stay. */
  rotateKey(
    reference: { organizationId: string; keyId: string },
    key: HashedKey,
    graceMs: number,
    audit?: (before: KeyRecord) => AuditInput,
  ): Promise<ChangeResult<KeyRecord>>;
  /** Deletes a key, in two steps. @param expectedVersion Omitted: any version. */
  deleteKey(
    reference: { organizationId: string; keyId: string },
    audit?: AuditInput,
    expectedVersion?: number | null,
  ): Promise<ChangeResult<KeyRecord>>;
  /** Deletes every key of a user or group, in many steps. Returns their records before the deletion. */
  deleteKeysOf(
    organizationId: string,
    kind: OwnerKind,
    ownerId: string,
    audit?: (record: KeyRecord) => AuditInput,
  ): Promise<readonly KeyRecord[]>;
  /** Deletes every key of the organization. Returns their records before the deletion. */
  revokeAllKeys(organizationId: string): Promise<readonly KeyRecord[]>;
  /** Repairs keys after a crash between writes to two slots, in several steps. */
  repair(): Promise<RepairReport>;
}

/** Keys of users who call with a token of an identity provider: keys without a secret. */
export interface ProviderKeyStore {
  /**
   * Returns the key of this user for this provider. Of concurrent calls one creates it with its audit entry,
   * and all get it. A deleted key is created again. Null: the organization does not exist. Several steps.
   * @param settings Its `userId` names the owner.
   * @throws MissingOwnerError if its user or group does not exist
   */
  findOrCreateProviderKey(
    organizationId: string,
    provider: string,
    settings: KeySettings & { readonly userId: string },
    audit?: (record: KeyRecord) => AuditInput,
  ): Promise<KeyRecord | null>;
}

export interface RepairReport {
  /** Records whose missing look-up was written again. */
  readonly lookUpsWritten: number;
  /** Look-ups without a record, which were removed. */
  readonly lookUpsRemoved: number;
}
