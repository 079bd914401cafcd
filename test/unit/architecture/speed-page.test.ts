import { describe, expect, it } from "vitest";
import { isThere, namedPaths, readPage } from "./named-paths.ts";

const page = readPage("docs/internals/speed.md");
const [places = "", ioredis = ""] = page.split("\n## On ioredis\n");
const rows = places
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, place = "", , , test = ""] = line.split("|");
    return {
      place: place.trim(),
      paths: namedPaths(place, "src", "test"),
      tests: namedPaths(test, "src", "test"),
      test: test.trim(),
    };
  });

describe("docs/internals/speed.md", () => {
  it("has a row for each place", () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(rows)("names what there is, with its test: $place", ({ paths, tests, test }) => {
    expect(paths).not.toEqual([]);
    expect([...paths, ...tests].filter((path) => !isThere(path))).toEqual([]);
    // One that no test can show says how it is seen.
    expect(tests.length > 0 || test.startsWith("none: ")).toBe(true);
  });

  it.each(Array.from(ioredis.matchAll(/^\| `([a-z-]+\.ts)`/gm), ([, file = ""]) => file))(
    "names a file of src/data-path/store/ioredis: %s",
    (file) => {
      expect(isThere(`src/data-path/store/ioredis/${file}`)).toBe(true);
    },
  );
});
