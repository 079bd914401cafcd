import type { PageRoute } from "../page.ts";
import { changeGroup, deleteGroup, showGroup } from "./group.tsx";
import { createGroup, showGroups, suggestGroups } from "./groups.tsx";

const PATH = "/organizations/:organization/groups";
const ONE = `${PATH}/:group`;

export const groupPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showGroups },
  { method: "POST", path: PATH, runInOrganization: createGroup },
  { method: "GET", path: `${PATH}/suggestions`, runInOrganization: suggestGroups },
  { method: "GET", path: ONE, runInOrganization: showGroup },
  { method: "POST", path: ONE, runInOrganization: changeGroup },
  { method: "POST", path: `${ONE}/delete`, runInOrganization: deleteGroup },
];
