import type { OrganizationPageCall } from "./page.ts";
import { readList } from "./read-lists.ts";
import type { KeyView } from "./views.ts";

export const MAX_KEY_PAGES = 10;

/** Id → name of the organization's first thousand keys. */
export async function nameKeys(page: OrganizationPageCall): Promise<Map<string, string>> {
  const call = "GET /api/organizations/{organization}/keys";
  const { items } = await readList<KeyView>(page.api, call, MAX_KEY_PAGES);
  return new Map(items.map((key) => [key.id, key.name]));
}
