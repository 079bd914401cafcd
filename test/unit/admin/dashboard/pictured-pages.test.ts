/** Pages that are looked at with sample data (test/dashboard/pictures.test.ts): all of them. */
import { expect, it } from "vitest";
import { PAGE_ROUTES } from "../../../../src/management/admin/dashboard/page-routes.ts";
import { PICTURED_PAGES } from "../../../dashboard/pictured-pages.ts";

/** No pages: files, names for suggestions, and a redirect. */
const OTHERS = /(?:\.csv|\/export|\/suggestions|^\/)$/;
const withoutNames = (path: string) => path.replaceAll(/:\w+/g, ":");

it("every page of the dashboard is looked at", () => {
  const routes = PAGE_ROUTES.filter(({ method, path }) => method === "GET" && !OTHERS.test(path));
  const pictured = new Set(Object.values(PICTURED_PAGES).map(({ route }) => withoutNames(route)));
  expect(routes.filter(({ path }) => !pictured.has(withoutNames(path))).map(({ path }) => path)).toEqual([]);
});
