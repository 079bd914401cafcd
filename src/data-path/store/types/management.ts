/** What a person sets: organizations and keys. */
import type { KeySettings } from "../../../shared/settings/key.ts";
import type { OrganizationSettings } from "../../../shared/settings/organization.ts";
import type { AuditInput } from "./audit.ts";
import type { OwnerKind } from "./owner-kinds.ts";
import type { Page, PageInput } from "./page.ts";

/** What every record has beside its settings. */
export interface StoredRecord {
  readonly id: string;
  readonly createdAtMs: number;
  /** What is deleted keeps its record, and so its name, until its last month's figures expire. */
  readonly deletedAtMs: number | null;
  /** One higher with each change: the ETag. */
  readonly version: number;
}

export interface OrganizationRecord extends OrganizationSettings, StoredRecord {}

export interface KeyRecord extends KeySettings, StoredRecord {
  readonly organizationId: string;
  /** `sk-igw-…a1B2` */
  readonly display: string;
  /** Until when the key before the last rotation still works, or null. */
  readonly formerKeyUntilMs: number | null;
}

/** What the store keeps of a key, or of a token. */
export interface HashedKey {
  /** SHA-256, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  readonly display: string;
}

export type ChangeResult<Item> =
  | { readonly outcome: "changed"; readonly before: Item; readonly after: Item }
  | { readonly outcome: "not_found" }
  /** Somebody else changed it since the version that was expected. */
  | { readonly outcome: "version_conflict"; readonly current: Item };

/** The organization that has a name. */
export interface NameHolder {
  readonly id: string;
  /** As it is written there; null: it is just getting that name. */
  readonly name: string | null;
}

/** No two organizations have one name, however it is written. */
export interface NameTaken {
  readonly outcome: "name_taken";
  readonly holder: NameHolder;
}

export type OrganizationCreationResult =
  | { readonly outcome: "created"; readonly organization: OrganizationRecord }
  | NameTaken;

/** The currency cannot be changed once there is spend or a request in flight. */
export type OrganizationChangeResult =
  | ChangeResult<OrganizationRecord>
  | NameTaken
  | { readonly outcome: "currency_locked"; readonly current: OrganizationRecord };

/** `audit`: the entry of the audit log, written in the step that makes the change and only when it is made. */
export interface OrganizationStore {
  /** Several steps. */
  createOrganization(
    settings: OrganizationSettings,
    audit?: (record: OrganizationRecord) => AuditInput,
  ): Promise<OrganizationCreationResult>;
  /** Deleted ones too, as long as their figures are kept: see `deletedAtMs`. */
  getOrganization(organizationId: string): Promise<OrganizationRecord | null>;
  /** Those that are not deleted, in the order of their creation. `next` of a page is an id. */
  listOrganizations(page: PageInput): Promise<Page<OrganizationRecord>>;
  /**
   * The same, of those whose name contains `text`, regardless of case, or whose id it is. Looks through a bounded number
   * of them, so that a page with a `next` may hold fewer than its limit.
   */
  searchOrganizations(text: string, page: PageInput): Promise<Page<OrganizationRecord>>;
  /** Of deleted ones too, as long as their figures are kept: they may have requests in flight. Two steps. */
  listOrganizationIds(): Promise<readonly string[]>;
  /**
   * With another name several steps.
   * @param expectedVersion Null: whatever it is.
   */
  changeOrganization(
    organizationId: string,
    changes: Partial<OrganizationSettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OrganizationChangeResult>;
}

/** `audit` as in OrganizationStore. */
export interface DeletedOrganizationStore {
  /**
   * From the step on that writes its record nobody is admitted with a key of it; its keys, tokens, users and groups end
   * and its name is free in further steps. What it has spent stays, and what it has in flight is charged.
   * @param expectedVersion Null: whatever it is.
   */
  deleteOrganization(
    organizationId: string,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<ChangeResult<OrganizationRecord>>;
  /** Those whose figures are still kept, in the order of their creation. `next` of a page is an id. */
  listDeletedOrganizations(page: PageInput): Promise<Page<OrganizationRecord>>;
}

/** `audit` as in OrganizationStore. */
export interface KeyStore {
  /** Null: there is no such organization. @throws MissingOwnerError where its user or group is not there */
  createKey(
    organizationId: string,
    settings: KeySettings,
    key: HashedKey,
    audit?: (record: KeyRecord) => AuditInput,
  ): Promise<KeyRecord | null>;
  /** Deleted keys too, as long as their figures are kept: see `deletedAtMs`. */
  getKey(reference: { organizationId: string; keyId: string }): Promise<KeyRecord | null>;
  /**
   * Those that are not deleted, in the order of their creation.
   * @param owners Only those that name this user, this group or both; a page may then hold fewer than its limit.
   */
  listKeys(
    organizationId: string,
    page: PageInput,
    owners?: { readonly userId?: string; readonly groupId?: string },
  ): Promise<Page<KeyRecord>>;
  /**
   * A new rate refills the buckets at the old rate first and keeps the fraction that was full. With a user or group two
   * steps.
   * @throws MissingOwnerError where its user or group is not there
   */
  changeKey(
    reference: { organizationId: string; keyId: string },
    changes: Partial<KeySettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<ChangeResult<KeyRecord>>;
  /** The former key works on for `graceMs`. Limits, id and spend stay. */
  rotateKey(
    reference: { organizationId: string; keyId: string },
    key: HashedKey,
    graceMs: number,
    audit?: (before: KeyRecord) => AuditInput,
  ): Promise<ChangeResult<KeyRecord>>;
  /** Two steps. @param expectedVersion Left out: whatever it is. */
  deleteKey(
    reference: { organizationId: string; keyId: string },
    audit?: AuditInput,
    expectedVersion?: number | null,
  ): Promise<ChangeResult<KeyRecord>>;
  /** Deletes every key that names the user or group. Many steps. Returns their records as they were. */
  deleteKeysOf(
    organizationId: string,
    kind: OwnerKind,
    ownerId: string,
    audit?: (record: KeyRecord) => AuditInput,
  ): Promise<readonly KeyRecord[]>;
  /** Deletes every key of the organization. Returns their records as they were. */
  revokeAllKeys(organizationId: string): Promise<readonly KeyRecord[]>;
  /** Puts right what a crash between two slots can have left of keys. Several steps. */
  repair(): Promise<RepairReport>;
}

/** The key of a user who comes with a token of an identity provider: it has no secret that anybody could present. */
export interface ProviderKeyStore {
  /**
   * The key of this user for this provider: of any number of calls at the same time one makes it, with its audit entry, and
   * all get it. One that was deleted is made anew. Null: there is no such organization. Several steps.
   * @param settings Its `userId` says whose it is.
   * @throws MissingOwnerError where its user or group is not there
   */
  findOrCreateProviderKey(
    organizationId: string,
    provider: string,
    settings: KeySettings & { readonly userId: string },
    audit?: (record: KeyRecord) => AuditInput,
  ): Promise<KeyRecord | null>;
}

export interface RepairReport {
  /** Records whose look-up was missing: it was written again. */
  readonly lookUpsWritten: number;
  /** Look-ups that no record answers to: removed. */
  readonly lookUpsRemoved: number;
}
