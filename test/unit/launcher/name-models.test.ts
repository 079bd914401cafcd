import { describe, expect, it } from "vitest";
import { nameModels } from "../../../src/operation/launcher/first-config/name-models.ts";

const named = (ids: readonly string[]): string[] =>
  nameModels(
    ids.map((id) => ({ id, contextWindow: null, capabilities: null })),
    "local",
  ).named.map(({ catalogId }) => catalogId);

describe("nameModels", () => {
  it("gives models that would be called the same numbers, and leaves out those that others have", () => {
    expect(named(["a b", "local/a-b-2", "a  b", "a/a b"])).toEqual([
      "local/a-b",
      "local/a-b-2",
      "local/a-b-3",
      "local/a-b-4",
    ]);
  });

  it("names all of 29,760 models of which one id is made", () => {
    const marks = ["!", "#", "$", "%", "&", "(", ")", "*", "+", ",", ";"];
    const ids = Array.from(
      { length: 29_760 },
      (_, index) =>
        `m${Array.from(index.toString(marks.length), (digit) => marks[Number.parseInt(digit, 36)]).join("")}x`,
    );
    expect(new Set(ids).size).toBe(29_760);
    const names = named(ids);
    expect(new Set(names).size).toBe(29_760);
    expect(names.at(-1)).toBe("local/m-x-29760");
  });
});
