/** Settings of an API key by the error code that they cause: name in the API and on the key's page, and the link's label. */
import { KEY_SETTINGS, REQUEST_RATE } from "../../../shared/settings/key.ts";

export const REFUSAL_FIELDS = {
  session_cap_reached: { field: KEY_SETTINGS.sessionCapCents.apiName, label: "Change this cap" },
  rate_limit_exceeded: { field: REQUEST_RATE.apiName, label: "Change this rate" },
  token_rate_limit_exceeded: { field: KEY_SETTINGS.tokensPerMinute.apiName, label: "Change this limit" },
  concurrency_limit_exceeded: {
    field: KEY_SETTINGS.maxConcurrentRequests.apiName,
    label: "Change this limit",
  },
  key_expired: { field: KEY_SETTINGS.expiresAtMs.apiName, label: "Change its expiry" },
  model_not_allowed: { field: KEY_SETTINGS.allowedModels.apiName, label: "Choose this key's models" },
} as const;
