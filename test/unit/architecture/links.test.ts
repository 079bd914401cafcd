import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { listPages } from "../../support/documents.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const pages = listPages();

/** As GitHub names a heading's place: "`GET /metrics`, who may" → "get-metrics-who-may". */
function placeOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return text.replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
}

const places = new Map(
  pages.map(({ page, prose }) => [
    page,
    new Set(Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) => placeOf(heading))),
  ]),
);

it("links of the documents lead to files and headings that there are", () => {
  const links = pages.flatMap(({ page, prose }) =>
    Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => ({ page, link })),
  );
  const own = links.filter(({ link }) => !/^(?:https?|mailto):/.test(link));
  const lost = own.filter(({ page, link }) => {
    const [path = "", place] = link.split("#");
    const target = path === "" ? page : posix.join(posix.dirname(page), path);
    if (!existsSync(`${ROOT}${target}`)) return true;
    return place !== undefined && places.get(target)?.has(place) === false;
  });
  expect(lost).toEqual([]);
  expect(own.length).toBeGreaterThan(100);
});

it("pages and data that code, tests and deployments name exist", () => {
  const places = ["src", "test", "deploy", ".github", "Dockerfile", "docker-compose.yml"];
  const files = execFileSync("git", ["ls-files", "-s", "--", ...places], { cwd: ROOT, encoding: "utf8" });
  const named = files.split("\n").flatMap((line) => {
    const [, mode = "", file = ""] = /^(\d+) \S+ \d\t(.+)$/.exec(line) ?? [];
    // Links lead to files that are looked at themselves.
    if (file === "" || mode === "120000") return [];
    const text = readFileSync(`${ROOT}${file}`, "utf8");
    return Array.from(text.matchAll(/(?<![\w./-])docs\/[\w/-]+\.(?:md|csv|json)\b/g), ([path]) => ({
      file,
      path,
    }));
  });
  expect(named.filter(({ path }) => !existsSync(`${ROOT}${path}`))).toEqual([]);
  expect(named.length).toBeGreaterThan(50);
});
