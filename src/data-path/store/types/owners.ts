/** Users and groups of an organization, which own keys. */
import type { UserSettings } from "../../../shared/settings/user.ts";
import type { UserGroupSettings } from "../../../shared/settings/user-group.ts";
import type { AuditInput } from "./audit.ts";
import type { ChangeResult, StoredRecord } from "./management.ts";
import type { OwnerKind } from "./owner-kinds.ts";
import type { Page, PageInput } from "./page.ts";

/** Fields that users and groups have in addition to their settings. */
export interface OwnerRecord extends StoredRecord {
  readonly organizationId: string;
}

export interface UserRecord extends OwnerRecord, UserSettings {
  /** Identity at the identity provider; not editable. */
  readonly external: ExternalIdentity | null;
}

/** Identity of a person. A subject is only unique within its issuer. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

export interface GroupRecord extends OwnerRecord, UserGroupSettings {}

export type OwnerCreationResult<Item> = { readonly outcome: "created"; readonly owner: Item } | OwnerRefusal;

type OwnerRefusal =
  /** The organization does not exist. */
  | { readonly outcome: "not_found" }
  /** The organization has reached its limit of users or groups. */
  | { readonly outcome: "full" }
  | GroupMissing;

/** The group to join does not exist or was deleted. */
interface GroupMissing {
  readonly outcome: "group_missing";
}

/** User that existed or was created. */
export type ExternalUserResult =
  | { readonly outcome: "found" | "created"; readonly user: UserRecord }
  | OwnerRefusal;

export type OwnerChangeResult<Item> = ChangeResult<Item> | GroupMissing;

export type OwnerDeletionResult<Item> = ChangeResult<Item> | { readonly outcome: "has_keys" };

/** Keys of a deleted owner: "keep" removes the owner from them, "none" requires that there are none. */
export type KeysOfDeleted = "keep" | "none";

/** Numbers of keys and users that belong to an owner. */
export interface OwnedCounts {
  readonly keys: number;
  /** Users of a group. */
  readonly users: number;
}

/** Filter of a list: without a search it is in order of creation, otherwise in the order of the searched texts. */
export interface OwnerFilter {
  readonly search: string | null;
  /** Only users of this group. */
  readonly groupId: string | null;
}

/**
 * Operations on users and groups. `audit`: entry of the audit log, written in the same step as the change and
 * only if it is made. Deleted owners can be read, see `deletedAtMs`, but are not listed.
 */
export interface OwnerStore {
  createUser(
    organizationId: string,
    settings: UserSettings,
    audit?: (record: UserRecord) => AuditInput,
  ): Promise<OwnerCreationResult<UserRecord>>;
  /** Finds a user that is not deleted; null: the organization has no such user. Two steps. */
  findExternalUser(organizationId: string, external: ExternalIdentity): Promise<UserRecord | null>;
  /**
   * Returns the user with this identity. Of concurrent calls one creates the user with its audit entry, and
   * all get it. An existing user stays unchanged, even if disabled. Several steps.
   * @param external Issuer and subject have 1 to 1,024 characters each.
   * @throws RangeError for other lengths
   */
  findOrCreateExternalUser(
    organizationId: string,
    external: ExternalIdentity,
    settings: UserSettings,
    audit?: (record: UserRecord) => AuditInput,
  ): Promise<ExternalUserResult>;
  getUser(organizationId: string, userId: string): Promise<UserRecord | null>;
  /**
   * Lists users. `next` of a page is an id, or with a search a cursor that only the same search accepts.
   * Examines a bounded number.
   */
  listUsers(organizationId: string, filter: OwnerFilter, page: PageInput): Promise<Page<UserRecord>>;
  /** Changes a user, in two steps. @param expectedVersion Null: any version. */
  changeUser(
    organizationId: string,
    userId: string,
    changes: Partial<UserSettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerChangeResult<UserRecord>>;
  /** Deletes a user, in two steps. */
  deleteUser(
    organizationId: string,
    userId: string,
    keys: KeysOfDeleted,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerDeletionResult<UserRecord>>;
  createGroup(
    organizationId: string,
    settings: UserGroupSettings,
    audit?: (record: GroupRecord) => AuditInput,
  ): Promise<OwnerCreationResult<GroupRecord>>;
  getGroup(organizationId: string, groupId: string): Promise<GroupRecord | null>;
  /** Like `listUsers`, except that groups cannot be nested. */
  listGroups(organizationId: string, filter: OwnerFilter, page: PageInput): Promise<Page<GroupRecord>>;
  /** Changes a group, in two steps. @param expectedVersion Null: any version. */
  changeGroup(
    organizationId: string,
    groupId: string,
    changes: Partial<UserGroupSettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerChangeResult<GroupRecord>>;
  /** Deletes a group, in two steps. Its users remain without it. */
  deleteGroup(
    organizationId: string,
    groupId: string,
    keys: KeysOfDeleted,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerDeletionResult<GroupRecord>>;
  /**
   * Returns names of users and groups by id, including deleted ones while their figures are kept. Ids that
   * the organization does not have are omitted. Takes any number of ids and reads them in batches, one after
   * the other.
   */
  readOwnerNames(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Counts keys and users of each owner, in the order of the ids. */
  countOwned(organizationId: string, kind: OwnerKind, ids: readonly string[]): Promise<OwnedCounts[]>;
}
