/** Initial settings of a new key. */
import { KEY_SETTINGS, type KeySettings } from "./key.ts";
import type { KeyDefaults } from "./organization.ts";
import { defaultsOf } from "./table.ts";

/** Returns the organization's defaults for new keys, otherwise the published defaults. */
export function newKeySettings(name: string, defaults: KeyDefaults): KeySettings {
  const ofOrganization = Object.entries(defaults).filter(([, value]) => value !== null);
  return { ...defaultsOf(KEY_SETTINGS), ...Object.fromEntries(ofOrganization), name };
}
