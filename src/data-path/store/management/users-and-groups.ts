/** Differences between users and groups. */
import { listOf } from "../redis/row-layouts.ts";
import { listNeededLimits } from "../../../shared/settings/limit-settings.ts";
import type { UserGroupSettings } from "../../../shared/settings/user-group.ts";
import type { UserSettings } from "../../../shared/settings/user.ts";
import { type CountedPeriod, periodsOf } from "../usage/windows.ts";
import { ownerKey, ownerUsersKey } from "../redis/keys.ts";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type {
  ExternalIdentity,
  GroupRecord,
  OwnerRecord,
  UserRecord,
} from "../../../shared/stored/owners.ts";
import { listEntries } from "./owner-search.ts";
import { formatGroupSettings, formatUserSettings, parseGroupRecord, parseUserRecord } from "./records.ts";

export interface Owners<Settings, Item extends Settings & OwnerRecord> {
  readonly kind: OwnerKind;
  format(settings: Partial<Settings>): string[];
  /** @throws TypeError, SyntaxError or ZodError if a field was not written by this program. */
  parse(organizationId: string, id: string, fields: Readonly<Record<string, string>>): Item;
  /** Creates a record. @param external Identity of a user who signs in with an identity provider. */
  create(settings: Settings, about: OwnerRecord, external: ExternalIdentity | null): Item;
  externalOf(item: Item): ExternalIdentity | null;
  /** Returns the texts of the search index. */
  textsOf(settings: Settings): readonly string[];
  groupOf(settings: Settings): string | null;
  /** Returns the periods that its limits need counted. */
  periodsOf(settings: Partial<Settings>): CountedPeriod[];
}

export const USERS: Owners<UserSettings, UserRecord> = {
  kind: "user",
  format: formatUserSettings,
  parse: parseUserRecord,
  create: (settings, about, external) => ({ ...settings, ...about, external }),
  externalOf: ({ external }) => external,
  textsOf: ({ name, email }) => (email === null ? [name] : [name, email]),
  groupOf: ({ groupId }) => groupId,
  periodsOf: (settings) => periodsOf(listNeededLimits(settings)),
};

export const GROUPS: Owners<UserGroupSettings, GroupRecord> = {
  kind: "group",
  format: formatGroupSettings,
  parse: parseGroupRecord,
  create: (settings, about) => ({ ...settings, ...about }),
  externalOf: () => null,
  textsOf: ({ name }) => [name],
  groupOf: () => null,
  periodsOf: (settings) => periodsOf(listNeededLimits(settings)),
};

export function entriesOf<Settings, Item extends Settings & OwnerRecord>(
  owners: Owners<Settings, Item>,
  id: string,
  settings: Settings,
): string[] {
  return listEntries(id, owners.textsOf(settings));
}

/** Returns the group's record and the list of its users; empty without a group. */
export function namesOfGroup(organizationId: string, groupId: string | null): string[] {
  if (groupId === null) return [];
  return listOf["owner-keys"]({
    record: ownerKey(organizationId, "group", groupId),
    list: ownerUsersKey(organizationId, "group", groupId),
  });
}

export function listOfGroup(organizationId: string, groupId: string | null): string[] {
  return groupId === null ? [] : [ownerUsersKey(organizationId, "group", groupId)];
}
