/**
 * Whose a request is beside its key's and its organization's: decided once, at its admission, and carried with it as one
 * text, "user_1.group_2". `lua/include/owners.lua` reads and writes it, too.
 */
export interface OwnerIds {
  readonly userId: string | null;
  readonly groupId: string | null;
}

const SEPARATOR = ".";

/** Each of them once. */
export function listOwnerIds(all: Iterable<OwnerIds>): string[] {
  const ids = [...all].flatMap(({ userId, groupId }) => [userId, groupId]);
  return [...new Set(ids)].filter((id) => id !== null);
}

/** '' for nobody's. */
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
