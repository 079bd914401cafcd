/** Error 429 of a token limit per minute. */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { type DashboardAddress, formatChangeLink } from "../../../shared/contract/pages.ts";
import { nameOwner } from "../../../shared/settings/limit-words.ts";
import { nameTokenType } from "../../../shared/settings/token-limits.ts";
import { REFUSAL_FIELDS } from "./refusal-fields.ts";
import type { KnownKeyResult } from "../../../shared/stored/admission.ts";

/**
 * Builds the error: names the limit and when its level is above 0 again; the seconds equal `retry-after`,
 * even if there are many. Avoids words on which some SDKs stop retrying: quota, billing, credit.
 */
export function createTokenLimitError(result: KnownKeyResult, dashboard: DashboardAddress): GatewayError {
  const { tokenLimit, bucket } = result;
  const { scope, type, limit } = tokenLimit ?? { scope: "key", type: "total", limit: 0 };
  const seconds = Math.max(1, bucket.retryAfterSeconds);
  const name = result[scope]?.name ?? "";
  const ownerId = scope === "user" || scope === "group" ? (result[scope]?.id ?? null) : null;
  const owner = { scope, organizationId: result.organization.id, keyId: result.key.id, ownerId };
  const change = formatChangeLink(dashboard, owner, REFUSAL_FIELDS.token_rate_limit_exceeded.field);
  const rate = `${limit} ${nameTokenType(type, limit)} per minute`;
  return new GatewayError("token_rate_limit_exceeded", {
    message: `Rate limit of ${rate} for ${nameOwner({ scope, name })} reached. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.${change}`,
    retryAfterSeconds: seconds,
    fields: { scope, limit_type: type },
  });
}
