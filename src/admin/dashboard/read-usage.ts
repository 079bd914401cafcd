import type { OrganizationPageCall } from "./page.ts";
import type { UsageView } from "./views.ts";

/** A month's usage; this month's when none is named. */
export async function readUsage(
  page: OrganizationPageCall,
  groupBy: string,
  month: string | null = null,
  /** Only with these tags; empty: all. */
  tag = "",
): Promise<UsageView> {
  const { body } = await page.api("GET /api/organizations/{organization}/usage", {
    query: { group_by: groupBy, ...(month === null ? {} : { month }), ...(tag === "" ? {} : { tag }) },
  });
  return body;
}
