/** Users and groups of an organization: whom keys can belong to. */
import type { UserSettings } from "../../../shared/settings/user.ts";
import type { UserGroupSettings } from "../../../shared/settings/user-group.ts";
import type { AuditInput } from "./audit.ts";
import type { ChangeResult, StoredRecord } from "./management.ts";
import type { OwnerKind } from "./owner-kinds.ts";
import type { Page, PageInput } from "./page.ts";

/** What users and groups have beside their settings. */
export interface OwnerRecord extends StoredRecord {
  readonly organizationId: string;
}

export interface UserRecord extends OwnerRecord, UserSettings {
  /** Who it is at whoever signs people in; nobody sets it by hand. */
  readonly external: ExternalIdentity | null;
}

/** A subject is one of its issuer's: what another issuer calls the same is somebody else. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

export interface GroupRecord extends OwnerRecord, UserGroupSettings {}

export type OwnerCreationResult<Item> = { readonly outcome: "created"; readonly owner: Item } | OwnerRefusal;

type OwnerRefusal =
  /** There is no such organization. */
  | { readonly outcome: "not_found" }
  /** The organization has as many as it may. */
  | { readonly outcome: "full" }
  | GroupMissing;

/** The group that it should be in is not there, or was deleted. */
interface GroupMissing {
  readonly outcome: "group_missing";
}

/** The user that there was, or was made. */
export type ExternalUserResult =
  | { readonly outcome: "found" | "created"; readonly user: UserRecord }
  | OwnerRefusal;

export type OwnerChangeResult<Item> = ChangeResult<Item> | GroupMissing;

export type OwnerDeletionResult<Item> = ChangeResult<Item> | { readonly outcome: "has_keys" };

/** What becomes of the keys of whoever is deleted: they go on without it, or there must be none any more. */
export type KeysOfDeleted = "keep" | "none";

/** How many name it. */
export interface OwnedCounts {
  readonly keys: number;
  /** Of a group. */
  readonly users: number;
}

/**
 * Which are listed: without a search in the order of their creation, else in that of the texts they are found by.
 */
export interface OwnerFilter {
  readonly search: string | null;
  /** Users of this group alone. */
  readonly groupId: string | null;
}

/**
 * `audit`: the entry of the audit log, written in the step that makes the change and only when it is made. Whoever is
 * deleted can be got, see `deletedAtMs`, and is not listed.
 */
export interface OwnerStore {
  createUser(
    organizationId: string,
    settings: UserSettings,
    audit?: (record: UserRecord) => AuditInput,
  ): Promise<OwnerCreationResult<UserRecord>>;
  /** Who is not deleted; null: nobody in this organization is that. Two steps. */
  findExternalUser(organizationId: string, external: ExternalIdentity): Promise<UserRecord | null>;
  /**
   * Who that is in this organization: of any number of calls at the same time one makes the user, with its audit entry,
   * and all get it. One that is there stays as it is, disabled too. Several steps.
   * @param external Neither issuer nor subject is empty, and neither is longer than 1,024 characters.
   * @throws RangeError for such an identity
   */
  findOrCreateExternalUser(
    organizationId: string,
    external: ExternalIdentity,
    settings: UserSettings,
    audit?: (record: UserRecord) => AuditInput,
  ): Promise<ExternalUserResult>;
  getUser(organizationId: string, userId: string): Promise<UserRecord | null>;
  /** `next` of a page is an id, or of a search what only the same search takes. Looks through a bounded number. */
  listUsers(organizationId: string, filter: OwnerFilter, page: PageInput): Promise<Page<UserRecord>>;
  /** Two steps. @param expectedVersion Null: whatever it is. */
  changeUser(
    organizationId: string,
    userId: string,
    changes: Partial<UserSettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerChangeResult<UserRecord>>;
  /** Two steps. */
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
  /** As of users; a group is in no group. */
  listGroups(organizationId: string, filter: OwnerFilter, page: PageInput): Promise<Page<GroupRecord>>;
  /** Two steps. @param expectedVersion Null: whatever it is. */
  changeGroup(
    organizationId: string,
    groupId: string,
    changes: Partial<UserGroupSettings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerChangeResult<GroupRecord>>;
  /** Its users go on without it. Two steps. */
  deleteGroup(
    organizationId: string,
    groupId: string,
    keys: KeysOfDeleted,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerDeletionResult<GroupRecord>>;
  /**
   * Id → name, of users and groups; of deleted ones too, as long as their figures are kept. An id that names none of the
   * organization's has no entry. Any number of ids: they are read in batches, one after the other.
   */
  readOwnerNames(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** In the order of the ids. */
  countOwned(organizationId: string, kind: OwnerKind, ids: readonly string[]): Promise<OwnedCounts[]>;
}
