/**
 * User and group that a request counts for, in addition to its key and organization. Decided once at
 * admission and carried along as one text, "user_1.group_2", which `lua/include/owners.lua` also reads and
 * writes.
 */
export interface OwnerIds {
  readonly userId: string | null;
  readonly groupId: string | null;
}

const SEPARATOR = ".";

/** Lists the ids without duplicates. */
export function listOwnerIds(all: Iterable<OwnerIds>): string[] {
  const ids = [...all].flatMap(({ userId, groupId }) => [userId, groupId]);
  return [...new Set(ids)].filter((id) => id !== null);
}

/** Formats as text; '' without owners. */
export function formatOwnerIds({ userId, groupId }: OwnerIds): string {
  return [userId, groupId].filter((id) => id !== null).join(SEPARATOR);
}

export function parseOwnerIds(text: string): OwnerIds {
  const ids = text.split(SEPARATOR);
  return { userId: find(ids, "user_"), groupId: find(ids, "group_") };
}

function find(ids: readonly string[], prefix: string): string | null {
  return ids.find((id) => id.startsWith(prefix)) ?? null;
}
