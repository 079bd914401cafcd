/** Conversion of API input to settings of a key. */
import { formatSuggestion } from "../../../shared/config/schema/nearest.ts";
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import { KEY_SETTINGS, type KeySettings } from "../../../shared/settings/key.ts";
import type { KeyDefaults, OrganizationSettings } from "../../../shared/settings/organization.ts";
import { newKeySettings } from "../../../shared/settings/new-key.ts";
import { convertSettings } from "../../../shared/settings/table.ts";
import { invalidField } from "../admin-error.ts";
import type { KeyChange, KeyCreation } from "../schemas/key.ts";

/**
 * Returns the settings of a new key: the input, otherwise the organization's defaults, otherwise the
 * published ones.
 */
export function createKeySettings(wanted: KeyCreation, defaults: KeyDefaults): KeySettings {
  const settings = newKeySettings(wanted.name, defaults);
  return { ...settings, ...convertKeyChange(wanted, settings) };
}

/** Converts a change; omitted fields stay unchanged. */
export function convertKeyChange(wanted: KeyChange, current: KeySettings | null): Partial<KeySettings> {
  return convertSettings(KEY_SETTINGS, wanted, current);
}

/**
 * Checks what the schema cannot know: existing models, and the current time.
 * @throws AdminError 400.
 */
export function requireUsableSettings(wanted: KeyChange, catalog: Catalog, nowMs: number): void {
  const settings = convertKeyChange(wanted, null);
  const given: Readonly<Record<string, unknown>> = wanted;
  for (const [name, { apiName, kind }] of Object.entries(KEY_SETTINGS)) {
    const value = settings[name as keyof KeySettings];
    if (kind.notation === "models" && Array.isArray(value)) requireModels(apiName, value, catalog);
    if (kind.notation === "time" && typeof value === "number" && value <= nowMs) {
      throw invalidField(apiName, `expected a time in the future, found ${JSON.stringify(given[apiName])}`);
    }
  }
}

function requireModels(apiName: string, wanted: readonly string[], catalog: Catalog): void {
  for (const [position, id] of wanted.entries()) requireModel(`${apiName}.${position}`, id, catalog);
}

/**
 * Checks that `shrink` is only set with strict caps, without which it has no effect.
 * @param organization State after the change.
 * @throws AdminError 400.
 */
export function requireStrictCaps(
  wanted: Pick<KeyChange, "on_cap">,
  current: Pick<KeySettings, "onCap"> | null,
  organization: Pick<OrganizationSettings, "strictCaps">,
): void {
  if (wanted.on_cap !== "shrink" || current?.onCap === "shrink" || organization.strictCaps) return;
  const problem = "`shrink` needs strict caps. Set `strict_caps` of the organization first, or use `refuse`";
  throw invalidField("on_cap", problem);
}

/** @throws AdminError 400 naming the parameter and the nearest id. */
export function requireModel(param: string, id: string, catalog: Catalog): void {
  if (catalog.find(id) !== undefined) return;
  const ids = catalog.models.map((model) => model.id);
  const shown = JSON.stringify(id.slice(0, 100));
  const suggestion = formatSuggestion(id, ids);
  throw invalidField(param, `unknown model ${shown}${suggestion}; \`GET /api/catalog\` lists all`);
}
