import { KEY_SETTINGS, REQUEST_RATE } from "../../settings/key.ts";
import { MONTH_NAMES } from "../../settings/limits.ts";
import type { ExplainedRequest } from "./explained-request.ts";

/** What can be done about a refusal, and the page of the dashboard where it is done. */
export interface Action {
  readonly label: string;
  readonly path: string;
}

/** The field of a setting in the form on the key's page. */
const fieldOfKey = (setting: keyof typeof KEY_SETTINGS): string =>
  `/keys/{key}#${KEY_SETTINGS[setting].apiName}`;

/** By error code: what is done, on the key's page or another one of the organization. */
const ACTIONS: Readonly<Record<string, { readonly label: string; readonly page: string }>> = {
  session_cap_reached: { label: "Change this cap", page: fieldOfKey("sessionCapCents") },
  hard_cap_reached: { label: "Change this cap", page: `/keys/{key}#${MONTH_NAMES.cap}` },
  org_hard_cap_reached: { label: "Change this cap", page: `/settings#${MONTH_NAMES.cap}` },
  rate_limit_exceeded: { label: "Change this rate", page: `/keys/{key}#${REQUEST_RATE.apiName}` },
  token_rate_limit_exceeded: { label: "Change this limit", page: fieldOfKey("tokensPerMinute") },
  concurrency_limit_exceeded: { label: "Change this limit", page: fieldOfKey("maxConcurrentRequests") },
  key_disabled: { label: "Enable this key", page: "/keys/{key}" },
  key_expired: { label: "Change its expiry", page: fieldOfKey("expiresAtMs") },
  model_not_allowed: { label: "Choose this key's models", page: fieldOfKey("allowedModels") },
  model_not_found: { label: "See the models", page: "/models" },
  model_not_available_in_currency: { label: "See the models and their prices", page: "/models" },
};

/** Null: nobody who looks at the organization's pages can do anything, as where the key is deleted. */
export function chooseAction(
  request: Pick<ExplainedRequest, "error_code" | "key_id" | "key_deleted" | "organization_id">,
): Action | null {
  const action = ACTIONS[request.error_code ?? ""];
  if (action === undefined || (request.key_deleted && action.page.includes("{key}"))) return null;
  const page = action.page.replace("{key}", request.key_id);
  return { label: action.label, path: `/organizations/${request.organization_id}${page}` };
}
