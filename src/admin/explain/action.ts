import type { ExplainedRequest } from "./explained-request.ts";

/** What can be done about a refusal, and the page of the dashboard where it is done. */
export interface Action {
  readonly label: string;
  readonly path: string;
}

/** By error code: what is done, on the key's page or another one of the organization. */
const ACTIONS: Readonly<Record<string, { readonly label: string; readonly page: string }>> = {
  hard_cap_reached: { label: "Change this cap", page: "/keys/{key}#hard_cap_cents" },
  org_hard_cap_reached: { label: "Change this cap", page: "/settings#hard_cap_cents" },
  rate_limit_exceeded: { label: "Change this rate", page: "/keys/{key}#requests_per_minute" },
  concurrency_limit_exceeded: {
    label: "Change this limit",
    page: "/keys/{key}#max_concurrent_requests",
  },
  key_disabled: { label: "Enable this key", page: "/keys/{key}" },
  key_expired: { label: "Change its expiry", page: "/keys/{key}#expires_at" },
  model_not_allowed: { label: "Choose this key's models", page: "/keys/{key}#allowed_models" },
  model_not_found: { label: "See the models", page: "/models" },
  model_not_available_in_currency: { label: "See the models and their prices", page: "/models" },
};

/** Null: nobody who looks at the organization's pages can do anything. */
export function chooseAction(
  request: Pick<ExplainedRequest, "error_code" | "key_id" | "organization_id">,
): Action | null {
  const action = ACTIONS[request.error_code ?? ""];
  if (action === undefined) return null;
  const page = action.page.replace("{key}", request.key_id);
  return { label: action.label, path: `/organizations/${request.organization_id}${page}` };
}
