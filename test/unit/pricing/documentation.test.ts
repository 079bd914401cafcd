import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { priceNameOf, TOKEN_KINDS } from "../../../src/shared/usage/token-usage.ts";

const PAGE = readFileSync(new URL("../../../docs/costs-and-caps.md", import.meta.url), "utf8");

describe("docs/costs-and-caps.md", () => {
  it("has every part of a cost, in the order of the parts", () => {
    const lists = /^- \*\*Prompt:\*\*.*\n- \*\*Response:\*\*.*$/m.exec(PAGE)?.[0] ?? "";
    const listed = Array.from(lists.matchAll(/`(\w+)`/g), ([, name]) => name);
    expect(listed).toEqual(TOKEN_KINDS.map(priceNameOf));
  });
});
