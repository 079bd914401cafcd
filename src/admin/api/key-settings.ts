import { formatSuggestion } from "../../config/nearest.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { KeyDefaults, KeySettings } from "../../store/types/management.ts";
import { AdminError } from "../admin-error.ts";
import type { KeyChange, KeyCreation } from "../schemas/key.ts";
import { omitUndefined } from "./omit-undefined.ts";

/** The published default. */
const DEFAULT_REQUESTS_PER_MINUTE = 600;

/** The settings of a new key: what its creator says, else the organization's defaults. */
export function createKeySettings(wanted: KeyCreation, defaults: KeyDefaults): KeySettings {
  return {
    requestsPerMinute: defaults.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE,
    hardCapCents: defaults.hardCapCents,
    budgetCents: defaults.budgetCents,
    allowedModels: null,
    maxConcurrentRequests: null,
    expiresAtMs: null,
    disabled: false,
    ...convertKeyChange(wanted),
    name: wanted.name,
  };
}

/** What is left out is not changed. */
export function convertKeyChange(wanted: KeyChange): Partial<KeySettings> {
  return omitUndefined({
    name: wanted.name,
    requestsPerMinute: wanted.requests_per_minute,
    hardCapCents: wanted.hard_cap_cents,
    budgetCents: wanted.budget_cents,
    allowedModels: wanted.allowed_models,
    maxConcurrentRequests: wanted.max_concurrent_requests,
    expiresAtMs: typeof wanted.expires_at === "string" ? Date.parse(wanted.expires_at) : wanted.expires_at,
    disabled: wanted.disabled,
  });
}

/**
 * What the schema cannot know: which models there are, and what time it is.
 * @throws AdminError 400.
 */
export function requireUsableSettings(wanted: KeyChange, catalog: Catalog, nowMs: number): void {
  const ids = catalog.models.map((model) => model.id);
  for (const [position, id] of (wanted.allowed_models ?? []).entries()) {
    if (catalog.find(id) === undefined) throw unknownModel(id, position, ids);
  }
  const expiresAt = wanted.expires_at;
  if (typeof expiresAt !== "string" || Date.parse(expiresAt) > nowMs) return;
  const message = `\`expires_at\`: expected a time in the future, found ${JSON.stringify(expiresAt)}`;
  throw new AdminError("invalid_parameter", { message, param: "expires_at" });
}

function unknownModel(id: string, position: number, ids: readonly string[]): AdminError {
  const param = `allowed_models.${position}`;
  const shown = JSON.stringify(id.slice(0, 100));
  const message = `\`${param}\`: there is no model ${shown}${formatSuggestion(id, ids)}; \`GET /api/catalog\` lists all`;
  return new AdminError("invalid_parameter", { message, param });
}
