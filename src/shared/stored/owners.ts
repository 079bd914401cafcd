/** Users and groups of an organization, which own keys. */
import type { UserSettings } from "../settings/user.ts";
import type { UserGroupSettings } from "../settings/user-group.ts";
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

/** Operations on users, or on groups. Deleted ones can be read, see `deletedAtMs`, but are not listed. */
export interface OwnerOperations<Settings, Item> {
  /** @param audit Entry of the audit log, written in the same step as the change and only if it is made. */
  create(
    organizationId: string,
    settings: Settings,
    audit?: (record: Item) => AuditInput,
  ): Promise<OwnerCreationResult<Item>>;
  get(organizationId: string, id: string): Promise<Item | null>;
  /**
   * `next` of a page is an id, or with a search a cursor that only the same search accepts. Examines a
   * bounded number.
   */
  list(organizationId: string, filter: OwnerFilter, page: PageInput): Promise<Page<Item>>;
  /** Changes one, in two steps. @param expectedVersion Null: any version. */
  change(
    organizationId: string,
    id: string,
    changes: Partial<Settings>,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerChangeResult<Item>>;
  /** Deletes one, in two steps. Users of a deleted group remain without it. */
  delete(
    organizationId: string,
    id: string,
    keys: KeysOfDeleted,
    expectedVersion: number | null,
    audit?: AuditInput | null,
  ): Promise<OwnerDeletionResult<Item>>;
}

/** Same operations by their names in the store: `createUser`, `listUsers` … */
type Named<Name extends string, Settings, Item> = {
  [
    Verb in keyof OwnerOperations<Settings, Item> as Verb extends "list" ? `list${Name}s` : `${Verb}${Name}`
  ]: OwnerOperations<Settings, Item>[Verb];
};

export interface OwnerStore
  extends Named<"User", UserSettings, UserRecord>, Named<"Group", UserGroupSettings, GroupRecord> {
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
  /**
   * Returns names of users and groups by id, including deleted ones while their figures are kept. Ids that
   * the organization does not have are omitted. Takes any number of ids and reads them in batches, one after
   * the other.
   */
  readOwnerNames(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Counts keys and users of each owner, in the order of the ids. */
  countOwned(organizationId: string, kind: OwnerKind, ids: readonly string[]): Promise<OwnedCounts[]>;
}
