import { describe, expect, it } from "vitest";
import { checkNames } from "../../../src/shared/config/load/check-names.ts";

const MODELS = 30_000;
const idOf = (index: number): string => `acme/m-${index}`;

/** Each model of the file is replaced by the next one; the last one by `last`. */
const chain = (last: string | undefined): unknown => ({
  catalog: Array.from({ length: MODELS }, (_, index) => ({
    id: idOf(index),
    replaced_by: index === MODELS - 1 ? last : idOf(index + 1),
  })),
});

describe("checkNames of 30,000 models", () => {
  it("takes a chain of successors that ends, and finds each one of a circle", () => {
    expect(checkNames(chain(undefined))).toEqual([]);
    expect(checkNames(chain(idOf(MODELS - 2)))).toHaveLength(MODELS);
  });

  it("finds each id that stands twice", () => {
    const twice = { catalog: Array.from({ length: MODELS }, (_, index) => ({ id: idOf(index >> 1) })) };
    const problems = checkNames(twice);
    expect(problems).toHaveLength(MODELS / 2);
    expect(problems[7]).toEqual({
      path: ["catalog", 15, "id"],
      message: "`acme/m-7` is already the id of catalog[14]",
    });
  });
});
