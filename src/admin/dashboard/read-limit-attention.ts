import type { LimitAttentionInput } from "./limit-attention.ts";
import type { OrganizationPageCall } from "./page.ts";
import { readLimits } from "./parts/limits.tsx";
import { WITH_TIGHTEST } from "./parts/tightest-limit.tsx";
import { readList } from "./read-lists.ts";
import { nameStopped, scanRecent } from "./scan-recent.ts";
import type { GroupView } from "./views.ts";

const GROUPS = "GET /api/organizations/{organization}/groups";
/** All that an organization may have. */
const MAX_GROUP_PAGES = 10;

/** What stands in the windows of now, and whom the recent requests say was stopped. */
export async function readLimitAttention(page: OrganizationPageCall): Promise<LimitAttentionInput> {
  const { organization, nowMs } = page;
  const { store } = page.options;
  const [{ items: groups }, { data: limits }, recent] = await Promise.all([
    readList<GroupView>(page.api, GROUPS, MAX_GROUP_PAGES, WITH_TIGHTEST),
    readLimits(page, "organization"),
    scanRecent(store, organization.id, nowMs),
  ]);
  const names = await nameStopped(store, organization.id, recent);
  return { organization, nowMs, groups, limits, recent, names };
}
