/** What the calls about users and those about groups share. */
import { isSearchCursor } from "../../store/management/owner-search.ts";
import { isId } from "../../store/ids.ts";
import { type GroupRecord, MOST_OWNERS, type OwnerFilter, type OwnerKind } from "../../store/types/owners.ts";
import type { PageInput } from "../../store/types/page.ts";
import type { Store } from "../../store/types.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { AFTER_EXPECTATION, type PageQuery } from "../schemas/page.ts";
import { parsePage } from "./list-answer.ts";

interface ListQuery extends PageQuery {
  readonly search?: string | undefined;
  readonly group_id?: string | undefined;
}

/** Which of them a caller lists. @throws AdminError 400 for the `next` of another list. */
export function parseOwnerList(
  kind: OwnerKind,
  query: ListQuery,
): { readonly filter: OwnerFilter; readonly page: PageInput } {
  const page = parsePage(query);
  const { search = null, group_id: groupId = null } = query;
  const isPlace =
    page.after === null || (search === null ? isId(kind, page.after) : isSearchCursor(page.after));
  if (!isPlace) throw invalidField("after", AFTER_EXPECTATION);
  return { filter: { search, groupId }, page };
}

/** @throws AdminError 400 where the organization has no group of this id. */
export async function requireGroup(
  { getGroup }: Pick<Store, "getGroup">,
  organizationId: string,
  groupId: string | null | undefined,
): Promise<void> {
  if (groupId === null || groupId === undefined) return;
  const record = await getGroup(organizationId, groupId);
  if (record === null || record.deletedAtMs !== null) throw refuseGroup();
}

/** 400: it is not there, was deleted or is another organization's. */
export function refuseGroup(): AdminError {
  return invalidField("group_id", "there is no such group in this organization");
}

/** 409: there are as many as there may be. */
export function refuseMore(kind: OwnerKind): AdminError {
  const message = `The organization has ${MOST_OWNERS[kind]} ${kind}s, and cannot have more. Delete those that are not needed.`;
  return new AdminError("organization_full", { message });
}

/** Id → the group, of those that are there. Each is read once. */
export async function readGroups(
  { getGroup }: Pick<Store, "getGroup">,
  organizationId: string,
  groupIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, GroupRecord>> {
  const ids = [...new Set(groupIds)].filter((id) => id !== null);
  const records = await Promise.all(ids.map((id) => getGroup(organizationId, id)));
  const there = records.filter((record) => record?.deletedAtMs === null);
  return new Map(there.flatMap((record) => (record === null ? [] : [[record.id, record] as const])));
}
