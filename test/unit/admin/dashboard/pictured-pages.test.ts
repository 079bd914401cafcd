/** Pages that are looked at with sample data (test/dashboard/pictures.test.ts): all of them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PAGE_ROUTES } from "../../../../src/management/admin/dashboard/page-routes.ts";
import { PICTURED_PAGES, SHEETS } from "../../../dashboard/pictured-pages.ts";

/** No pages: files, names for suggestions, and a redirect. */
const OTHERS = /(?:\.csv|\/export|\/suggestions|^\/)$/;
const withoutNames = (path: string) => path.replaceAll(/:\w+/g, ":");

it("every page of the dashboard is looked at", () => {
  const routes = PAGE_ROUTES.filter(({ method, path }) => method === "GET" && !OTHERS.test(path));
  const pictured = new Set(Object.values(PICTURED_PAGES).map(({ route }) => withoutNames(route)));
  expect(routes.filter(({ path }) => !pictured.has(withoutNames(path))).map(({ path }) => path)).toEqual([]);
});

it("docs/images/pages has a sheet for each page and no other, in at most 6 MB", () => {
  const directory = join(import.meta.dirname, "../../../../docs/images/pages");
  const files = readdirSync(directory);
  expect(files.toSorted()).toEqual(SHEETS.map((name) => `${name}.webp`).toSorted());
  const bytes = files.reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
  expect(bytes).toBeLessThanOrEqual(6_000_000);
});
