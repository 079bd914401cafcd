import { describe, expect, it } from "vitest";
import { FOCUS_COLUMNS } from "../../../src/management/admin/usage-export/focus.ts";
import { USAGE_COLUMNS } from "../../../src/management/admin/usage-export/usage-table.ts";
import RELEASED from "../../fixtures/export-columns.json" with { type: "json" };

const COLUMNS = { csv: USAGE_COLUMNS, focus: FOCUS_COLUMNS } as const;

describe("the columns of exports", () => {
  it.each(["csv", "focus"] as const)(
    "of %s stay where they were released, and new ones come last",
    (format) => {
      const names = COLUMNS[format].map(([name]) => name);
      const released = RELEASED[format];
      expect(names.slice(0, released.length)).toEqual(released);
      // A new column is appended to the fixture: from then on it stays where it is, too.
      expect(names.slice(released.length)).toEqual([]);
    },
  );
});
