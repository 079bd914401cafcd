import type { RequestView } from "./views.ts";

/** Key id → when it was last used. @param requests In any order. A key that is in none of them has no entry. */
export function readLastUses(requests: readonly RequestView[]): Map<string, string> {
  const uses = new Map<string, string>();
  for (const { key_id: keyId, created_at: createdAt } of requests) {
    const known = uses.get(keyId);
    if (known === undefined || known < createdAt) uses.set(keyId, createdAt);
  }
  return uses;
}
