import { describe, expect, it } from "vitest";
import { formatFields, formatTable } from "../../../../src/cli/management/table.ts";

describe("formatTable", () => {
  it("puts texts to the left and figures to the right, under their headers", () => {
    expect(
      formatTable(
        ["NAME", "SPENT", "STATE"],
        [
          ["ci", "0.50 USD", "active"],
          ["größe", "12.00 USD", ""],
        ],
      ),
    ).toBe("NAME       SPENT  STATE\nci      0.50 USD  active\ngröße  12.00 USD\n");
  });

  it("prints the headers of nothing", () => {
    expect(formatTable(["ID", "NAME"], [])).toBe("ID  NAME\n");
  });
});

describe("formatFields", () => {
  it("puts the values under each other", () => {
    expect(
      formatFields([
        ["id", "1"],
        ["hard cap", "none"],
      ]),
    ).toBe("id        1\nhard cap  none\n");
  });
});
