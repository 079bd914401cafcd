/** Settings of an API key by the error code that they cause, with their names in the API and on the key's page. */
import { KEY_SETTINGS, REQUEST_RATE } from "../../../shared/settings/key.ts";

export const REFUSAL_FIELDS = {
  session_cap_reached: KEY_SETTINGS.sessionCapCents.apiName,
  rate_limit_exceeded: REQUEST_RATE.apiName,
  token_rate_limit_exceeded: KEY_SETTINGS.tokensPerMinute.apiName,
  concurrency_limit_exceeded: KEY_SETTINGS.maxConcurrentRequests.apiName,
  key_expired: KEY_SETTINGS.expiresAtMs.apiName,
  model_not_allowed: KEY_SETTINGS.allowedModels.apiName,
} as const;
