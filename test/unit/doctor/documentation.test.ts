import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FINDINGS } from "../../../src/operation/doctor/finding.ts";

const page = new URL("../../../docs/doctor.md", import.meta.url);

describe("docs/doctor.md", () => {
  it("has the table of all findings of the doctor (vitest -u renews it)", async () => {
    const rows = Object.entries(FINDINGS).map(
      ([code, { level, meaning, fix }]) => `| \`${code}\` | ${level} | ${meaning} | ${fix} |`,
    );
    const table = ["| Code | Level | Meaning | Fix |", "|---|---|---|---|", ...rows].join("\n");
    const renewed = readFileSync(page, "utf8").replace(
      /(<!-- findings: begin -->\n).*(<!-- findings: end -->)/s,
      (_, begin: string, end: string) => `${begin}${table}\n${end}`,
    );
    await expect(renewed).toMatchFileSnapshot(page.pathname);
  });
});
