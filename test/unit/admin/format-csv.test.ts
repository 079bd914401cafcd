import { describe, expect, it } from "vitest";
import { formatCsvLine } from "../../../src/management/admin/usage-export/usage-table.ts";

describe("formatCsvLine", () => {
  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"])(
    "lets no spreadsheet run %s",
    (text) => {
      expect(formatCsvLine([text])).toBe(`'${text}\r\n`);
    },
  );

  it("lets none run what begins with a line break, and quotes it", () => {
    expect(formatCsvLine(["\n=1", "\r=1"])).toBe('"\'\n=1","\'\r=1"\r\n');
  });

  it("leaves numbers numbers, negative ones too", () => {
    expect(formatCsvLine([-1, -2n, { verbatim: "-0.5" }, "a=b"])).toBe("-1,-2,-0.5,a=b\r\n");
  });
});
