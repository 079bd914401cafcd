import type { PageRoute } from "../page.ts";
import { changeUser, deleteUser, deleteUserRaise, raiseUser, setUserDisabled, showUser } from "./user.tsx";
import { createUser, showUsers, suggestUsers } from "./users.tsx";

const PATH = "/organizations/:organization/users";
const ONE = `${PATH}/:user`;

export const userPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showUsers },
  { method: "POST", path: PATH, runInOrganization: createUser },
  { method: "GET", path: `${PATH}/suggestions`, runInOrganization: suggestUsers },
  { method: "GET", path: ONE, runInOrganization: showUser },
  { method: "POST", path: ONE, runInOrganization: changeUser },
  { method: "POST", path: `${ONE}/disable`, runInOrganization: setUserDisabled(true) },
  { method: "POST", path: `${ONE}/enable`, runInOrganization: setUserDisabled(false) },
  { method: "POST", path: `${ONE}/delete`, runInOrganization: deleteUser },
  { method: "POST", path: `${ONE}/raises`, runInOrganization: raiseUser },
  { method: "POST", path: `${ONE}/raises/:raise/remove`, runInOrganization: deleteUserRaise },
];
