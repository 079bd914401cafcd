import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolNames } from "../../../src/data-path/translation/conversation/tool-names.ts";

describe("ToolNames.isWhole", () => {
  it("knows of any set of names which are the beginning of no other", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(letters), letters, (declared, other) => {
        const names = new ToolNames(declared, null);
        for (const name of [...declared, other]) {
          const isBeginning = declared.some((one) => one !== name && one.startsWith(name));
          expect(names.isWhole(name)).toBe(declared.includes(name) && !isBeginning);
        }
      }),
    );
  });
});
