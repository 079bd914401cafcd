import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const repository = new URL("../../../", import.meta.url);
const page = readFileSync(new URL("docs/speed.md", repository), "utf8");
const [places = "", ioredis = ""] = page.split("\n## On ioredis\n");
const rows = places
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, place = "", , , test = ""] = line.split("|");
    return { place: place.trim(), paths: pathsOf(place), tests: pathsOf(test), test: test.trim() };
  });

function pathsOf(cell: string): string[] {
  return Array.from(cell.matchAll(/`((?:src|test)\/[^`]+)`/g), ([, path = ""]) => path);
}

describe("docs/speed.md", () => {
  it("has a row for each place", () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(rows)("names what there is, with its test: $place", ({ paths, tests, test }) => {
    expect(paths).not.toEqual([]);
    expect([...paths, ...tests].filter((path) => !existsSync(new URL(path, repository)))).toEqual([]);
    // One that no test can show says how it is seen.
    expect(tests.length > 0 || test.startsWith("none: ")).toBe(true);
  });

  it.each(Array.from(ioredis.matchAll(/^\| `([a-z-]+\.ts)`/gm), ([, file = ""]) => file))(
    "names a file of src/store/ioredis: %s",
    (file) => {
      expect(existsSync(new URL(`src/store/ioredis/${file}`, repository))).toBe(true);
    },
  );
});
