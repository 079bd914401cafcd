import type { PageRoute } from "../page.ts";
import { changeGroup, deleteGroup, deleteGroupRaise, raiseGroup, showGroup } from "./group.tsx";
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
  { method: "POST", path: `${ONE}/raises`, runInOrganization: raiseGroup },
  { method: "POST", path: `${ONE}/raises/:raise/remove`, runInOrganization: deleteGroupRaise },
];
