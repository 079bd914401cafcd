import type { PageRoute } from "../page.ts";
import {
  changeKey,
  deleteKey,
  deleteKeyRaise,
  raiseKey,
  revokeAllKeys,
  rotateKey,
  setKeyDisabled,
  showKey,
} from "./key.tsx";
import { createKey, showKeyCreation } from "./key-creation.tsx";
import { showKeys } from "./keys.tsx";

const PATH = "/organizations/:organization/keys";
const ONE = `${PATH}/:key`;

export const keyPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showKeys },
  { method: "POST", path: PATH, runInOrganization: createKey },
  { method: "GET", path: `${PATH}/new`, runInOrganization: showKeyCreation },
  { method: "POST", path: `${PATH}/revoke-all`, runInOrganization: revokeAllKeys },
  { method: "GET", path: ONE, runInOrganization: showKey },
  { method: "POST", path: ONE, runInOrganization: changeKey },
  { method: "POST", path: `${ONE}/rotate`, runInOrganization: rotateKey },
  { method: "POST", path: `${ONE}/disable`, runInOrganization: setKeyDisabled(true) },
  { method: "POST", path: `${ONE}/enable`, runInOrganization: setKeyDisabled(false) },
  { method: "POST", path: `${ONE}/delete`, runInOrganization: deleteKey },
  { method: "POST", path: `${ONE}/raises`, runInOrganization: raiseKey },
  { method: "POST", path: `${ONE}/raises/:raise/remove`, runInOrganization: deleteKeyRaise },
];
