/** Shared code of the calls about users and groups. */
import { isSearchCursor } from "../../../data-path/store/management/owner-search.ts";
import { isId } from "../../../data-path/store/ids.ts";
import { MissingOwnerError } from "../../../data-path/store/management/missing-owner.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type { OwnerFilter, OwnerOperations, OwnerRecord } from "../../../shared/stored/owners.ts";
import type { PageInput } from "../../../shared/stored/page.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { AFTER_EXPECTATION, type PageQuery } from "../schemas/page.ts";
import { expectVersion, formatETag } from "../http/etag.ts";
import { KEY_ENTRIES } from "./format-key.ts";
import { answerArranged, parsePage } from "./answers.ts";
import type { Arranged } from "../directory/arrange.ts";
import type { Listed } from "../directory/list-owners.ts";
import { formatTimeOrNull, monthAt } from "../../../shared/time/calendar.ts";
import type { ApiAnswer, ApiServices, OrganizationCall } from "./route.ts";

interface ListQuery extends PageQuery {
  readonly search?: string | undefined;
  readonly group_id?: string | undefined;
}

/** Parses which of them to list. @throws AdminError 400 for the `next` of another list. */
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

/** The answer of a sorted list of users or groups, with what each has spent. */
export async function answerArrangedOwners<Item>(
  page: Arranged<Listed<Item>>,
  timeMs: number,
  formatAll: (records: readonly Item[]) => Promise<readonly object[]>,
): Promise<ApiAnswer> {
  const formatted = await formatAll(page.items.map(({ record }) => record));
  const items = page.items.map(({ state, spentMicrocents, lastUsedMs, tightest }, place) => ({
    ...formatted[place],
    state,
    month: monthAt(timeMs).name,
    spent_microcents: spentMicrocents,
    last_used_at: formatTimeOrNull(lastUsedMs),
    tightest_limit: tightest,
  }));
  return answerArranged({ ...page, items }, (item) => item);
}

/** @throws AdminError 400 if a list is requested for a user or group that the organization does not have. */
export async function requireOwners(
  { getUser, getGroup }: Pick<Store, "getUser" | "getGroup">,
  organizationId: string,
  { user_id: userId, group_id: groupId }: { user_id?: string | undefined; group_id?: string | undefined },
): Promise<void> {
  const [user, group] = await Promise.all([
    userId === undefined ? null : getUser(organizationId, userId),
    groupId === undefined ? null : getGroup(organizationId, groupId),
  ]);
  if (userId !== undefined && user?.deletedAtMs !== null) throw refuseOwner("user");
  if (groupId !== undefined && group?.deletedAtMs !== null) throw refuseOwner("group");
}

/** Creates a 400: it does not exist, was deleted, or belongs to another organization. */
export function refuseOwner(kind: OwnerKind): AdminError {
  return invalidField(`${kind}_id`, `unknown ${kind} in this organization`);
}

/** Runs a change of a key. @throws AdminError 400 if its user or group does not exist. */
export async function withOwners<Answer>(change: Promise<Answer>): Promise<Answer> {
  try {
    return await change;
  } catch (thrown) {
    throw thrown instanceof MissingOwnerError ? refuseOwner(thrown.kind) : thrown;
  }
}

interface Deletion<Item> {
  readonly kind: OwnerKind;
  readonly operations: Pick<OwnerOperations<never, Item>, "delete">;
  readonly entry: AuditInput;
}

/** Attempts of a deletion if others create keys meanwhile. */
const DELETION_ATTEMPTS = 5;

/**
 * Deletes a user or group, with its keys if requested; may be repeated after a failure.
 * @throws AdminError 404, 409, 412.
 */
export async function deleteOwner<Item extends OwnerRecord>(
  call: OrganizationCall<{ readonly keys?: "keep" | "delete" | undefined }>,
  { store }: Pick<ApiServices, "store">,
  current: Item,
  { kind, operations, entry }: Deletion<Item>,
): Promise<ApiAnswer> {
  const { organizationId, id } = current;
  const expectedVersion = expectVersion(call.ifMatch, current.version);
  const isWithKeys = call.query.keys === "delete";
  for (let attempt = 1; attempt <= DELETION_ATTEMPTS; attempt += 1) {
    if (isWithKeys) {
      await store.deleteKeysOf(organizationId, kind, id, (key) => KEY_ENTRIES.deleted(key, call));
    }
    const result = await operations.delete(
      organizationId,
      id,
      isWithKeys ? "none" : "keep",
      expectedVersion,
      entry,
    );
    if (result.outcome === "not_found") throw new AdminError(`${kind}_not_found`);
    if (result.outcome === "version_conflict") {
      throw new AdminError("version_conflict", { headers: { etag: formatETag(result.current.version) } });
    }
    if (result.outcome === "changed") return { status: 204 };
  }
  throw new AdminError("change_conflict");
}
