import { describe, expect, it } from "vitest";
import { openScreen } from "../../../../src/operation/cli/terminal/screen.ts";
import { formatFields, formatTable } from "../../../../src/operation/cli/terminal/table.ts";

const PIPE = openScreen({}, { env: {} });
const screenOf = (columns: number) => openScreen({ isTTY: true, columns }, { env: { NO_COLOR: "1" } });
const ID = "key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11";
const ROWS = [
  [ID, "a key with a name that is long", "0.50 USD", "active"],
  [ID, "ci", "12.00 USD", "over budget"],
];
const COLUMNS = ["ID", "NAME", "SPENT", "STATE"];
const widthsOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.length);

describe("formatTable", () => {
  it("puts texts to the left and figures to the right, under their headers", () => {
    expect(
      formatTable(
        PIPE,
        ["NAME", "SPENT", "STATE"],
        [
          ["ci", "0.50 USD", "active"],
          ["größe", "12.00 USD", ""],
        ],
      ),
    ).toBe("NAME       SPENT  STATE\nci      0.50 USD  active\ngröße  12.00 USD\n");
  });

  it("prints the headers of nothing", () => {
    expect(formatTable(PIPE, ["ID", "NAME"], [])).toBe("ID  NAME\n");
  });

  it("cuts nothing and shortens no id in a pipe", () => {
    const text = formatTable(PIPE, COLUMNS, ROWS);
    expect(text.split(ID)).toHaveLength(3);
    expect(text).toContain("a key with a name that is long");
    expect(text).not.toContain("…");
  });

  it("shortens ids on a terminal, and cuts the longest text alone when the lines do not fit", () => {
    expect(formatTable(screenOf(50), COLUMNS, ROWS)).toBe(
      [
        "ID             NAME             SPENT  STATE",
        "key_…2b8d6e11  a key with…   0.50 USD  active",
        "key_…2b8d6e11  ci           12.00 USD  over budget",
        "",
      ].join("\n"),
    );
  });

  it.each([20, 25, 30, 40, 60, 80, 200])("has no line that is longer than %d columns", (columns) => {
    const specs = ["ID", "NAME", { header: "SPENT", isExtra: true as const }, "STATE"];
    expect(Math.max(...widthsOf(formatTable(screenOf(columns), specs, ROWS)))).toBeLessThanOrEqual(columns);
  });

  it("leaves extra columns out first, never part of a figure, and says which", () => {
    const columns = ["NAME", "SPENT", { header: "CACHED", isExtra: true as const }];
    const rows = [["a name", "1234567.00 USD", "1234567"]];
    expect(formatTable(screenOf(30), columns, rows)).toBe(
      "NAME             SPENT\na name  1234567.00 USD\nNot shown: CACHED (--wide).\n",
    );
  });

  it("leaves extra columns out before a text is cut so far that it is hard to read", () => {
    const columns = ["STATUS", { header: "MS", isExtra: true as const }];
    const rows = [["402 org_hard_cap_reached", "12"]];
    expect(formatTable(screenOf(27), columns, rows)).toContain("402 org_hard_cap_reached\n");
    expect(formatTable(screenOf(28), columns, rows)).toContain("402 org_hard_cap_reached  12\n");
  });

  it("never cuts what a key is recognised by", () => {
    const rows = [["a key with a name", "sk-igw-…a1-2"]];
    expect(formatTable(screenOf(24), ["NAME", "KEY"], rows)).toBe(
      "NAME        KEY\na key wit…  sk-igw-…a1-2\n",
    );
  });

  it("puts figures to the right where some rows have none", () => {
    const rows = [["12.00 USD"], ["none"], ["-"]];
    expect(formatTable(PIPE, ["CAP"], rows)).toBe("      CAP\n12.00 USD\n     none\n        -\n");
    expect(formatTable(PIPE, ["CAP"], rows.slice(1))).toBe("CAP\nnone\n-\n");
  });

  it("goes on in the next line with a text that is not to be cut", () => {
    const columns = ["CHECK", { header: "FIGURES", isWrapped: true as const }];
    const rows = [
      ["price", "input 2500.00, output 10000.00 USD"],
      ["rate", "600 per minute"],
    ];
    const lines = [
      "CHECK  FIGURES",
      "price  input 2500.00,",
      "       output 10000.00",
      "       USD",
      "rate   600 per minute",
      "",
    ];
    expect(formatTable(screenOf(24), columns, rows)).toBe(lines.join("\n"));
    expect(formatTable(PIPE, columns, rows).split("\n")).toHaveLength(4);
  });

  it("counts a wide character as two columns and a combining one as none", () => {
    expect(
      formatTable(
        PIPE,
        ["A", "B"],
        [
          ["日本", "x"],
          ["e\u0301", "y"],
        ],
      ),
    ).toBe("A     B\n日本  x\ne\u0301     y\n");
    const cut = formatTable(screenOf(9), ["A"], [["日本語日本語"]]);
    expect(cut).toBe("A\n日本語日…\n");
  });

  it("never prints what a terminal would obey", () => {
    expect(formatTable(PIPE, ["NAME"], [["a\u001b[2Jb\u0007"]])).toBe("NAME\na\ufffd[2Jb\ufffd\n");
    expect(formatFields(PIPE, [["name", "a\u001b[2Jb"]])).toBe("name  a\ufffd[2Jb\n");
  });

  it("pads by what is seen, not by the colours in it", () => {
    const screen = openScreen({}, { env: { FORCE_COLOR: "1" } });
    const columns = [{ header: "STATE", levels: ["good", "bad"] as const }, "N"];
    expect(
      formatTable(screen, columns, [
        ["active", "1"],
        ["off", "2"],
      ]),
    ).toBe(
      [
        "\u001b[1mSTATE\u001b[0m   \u001b[1mN\u001b[0m",
        "\u001b[32mactive\u001b[0m  1",
        "\u001b[31moff\u001b[0m     2",
        "",
      ].join("\n"),
    );
  });
});

describe("formatFields", () => {
  it("puts the values under each other", () => {
    expect(
      formatFields(PIPE, [
        ["id", "1"],
        ["hard cap", "none"],
      ]),
    ).toBe("id        1\nhard cap  none\n");
  });
});
