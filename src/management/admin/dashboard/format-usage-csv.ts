import { formatOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import {
  FIGURE_NAMES,
  FIGURES,
  isAmount,
  NO_USAGE,
  type UsageFigures,
} from "../../../shared/usage/usage-figures.ts";
import { formatRowId, formatUsageTable, type UsageTableRow } from "../usage-export/usage-table.ts";
import type { OrganizationView, UsageRowView } from "./views.ts";

/** Formats the rows of the page in the columns of every usage table. */
export function formatUsageCsv(
  rows: readonly UsageRowView[],
  organization: Pick<OrganizationView, "id" | "name" | "currency">,
): string {
  return formatUsageTable(
    rows.map((row): UsageTableRow => {
      const tags = Object.entries(row.tags ?? {}).flatMap(([name, value]) =>
        value === null ? [] : [`${name}=${value}`],
      );
      const parts = {
        day: row.hour ?? row.day ?? row.week ?? row.month ?? null,
        keyId: row.key_id ?? null,
        owners: formatOwnerIds({ userId: row.user_id ?? null, groupId: row.group_id ?? null }),
        model: row.model ?? null,
        tags: tags.toSorted().join(","),
        session: row.session_id ?? null,
      };
      return {
        ...parts,
        ...readFigures(row),
        id: formatRowId(parts),
        organization,
        keyName: row.key_name ?? null,
        userName: row.user_name ?? null,
        groupName: row.group_name ?? null,
      };
    }),
  );
}

function readFigures(row: UsageRowView): UsageFigures {
  const figures = { ...NO_USAGE };
  for (const figure of FIGURES) {
    const count = row[FIGURE_NAMES[figure]];
    if (isAmount(figure)) figures[figure] = BigInt(count);
    else figures[figure] = Number(count);
  }
  return figures;
}
