/** API keys, and what a crash can have left of them. */
import type { Run } from "../run.ts";
import type { KeyStore } from "../types/management.ts";
import { changeKey, createKey, deleteKey, getKey, listKeys, revokeAllKeys, rotateKey } from "./api-keys.ts";
import { repair } from "./repair.ts";

export function createKeyStore(run: Run): KeyStore {
  return {
    createKey: (organizationId, settings, key, audit) =>
      run("createKey", (context) => createKey(context, organizationId, settings, key, audit)),
    getKey: (reference) => run("getKey", (context) => getKey(context, reference)),
    listKeys: (organizationId, page) => run("listKeys", (context) => listKeys(context, organizationId, page)),
    changeKey: (reference, changes, expectedVersion, audit) =>
      run("changeKey", (context) => changeKey(context, reference, changes, expectedVersion, audit)),
    rotateKey: (reference, key, graceMs, audit) =>
      run("rotateKey", (context) => rotateKey(context, reference, key, graceMs, audit)),
    deleteKey: (reference, audit) => run("deleteKey", (context) => deleteKey(context, reference, audit)),
    revokeAllKeys: (organizationId) =>
      run("revokeAllKeys", (context) => revokeAllKeys(context, organizationId)),
    repair: () => run("repair", (context) => repair(context)),
  };
}
