/** Errors for requests that an admission rejects. */
import { clampRetryAfterSeconds, GatewayError } from "../../../shared/contract/errors.ts";
import {
  type DashboardAddress,
  formatChangeLink,
  formatOwnerPath,
  ownerOfKey,
} from "../../../shared/contract/pages.ts";
import { formatTimeOrNull } from "../../../shared/time/calendar.ts";
import { requestsPerMinuteOf } from "../../../shared/settings/key.ts";
import type { KnownKeyResult } from "../../../shared/stored/admission.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import { type EndpointName, hasOutputLimit } from "../../../shared/contract/endpoints.ts";
import { createConcurrencyError } from "./concurrency-limit.ts";
import { REFUSAL_FIELDS } from "./refusal-fields.ts";
import { createCapError } from "./spend-cap.ts";
import { createTokenLimitError } from "./token-limit.ts";

/** Returns the client's error for a decision other than `admitted`. */
export function createAdmissionError(
  result: KnownKeyResult,
  endpoint: EndpointName,
  dashboard: DashboardAddress,
): GatewayError {
  const { key, organization, user, group } = result;
  const options = { endpoint, dashboard };
  switch (result.decision) {
    case "key_disabled":
    case "key_expired":
    case "user_disabled":
      return new GatewayError(result.decision, {
        message: describeBlocked(result.decision, result, dashboard),
      });
    case "organization_suspended":
      return new GatewayError(result.decision);
    case "rate_limited":
      return createRateLimitError(result, options);
    case "token_rate_limited":
      return createTokenLimitError(result, dashboard);
    case "concurrency_limited":
      return createConcurrencyError(
        { organizationId: organization.id, keyId: key.id, keyName: key.name },
        key.maxConcurrentRequests,
        dashboard,
      );
    case "key_cap_reached":
      return describeCapError("key", key.name, result, options);
    case "user_cap_reached":
      return describeCapError("user", user?.name ?? "", result, options);
    case "group_cap_reached":
      return describeCapError("group", group?.name ?? "", result, options);
    case "organization_cap_reached":
      return describeCapError("organization", organization.name, result, options);
    case "admitted":
      break;
  }
  return new GatewayError("internal_error", { cause: new Error("an admission is no error") });
}

type Blocked = "key_disabled" | "key_expired" | "user_disabled";

function describeBlocked(
  decision: Blocked,
  { key, organization, user }: KnownKeyResult,
  { baseUrl, contact }: DashboardAddress,
): string {
  const subject = `API key "${key.name}"`;
  const path = formatOwnerPath(ownerOfKey({ organizationId: organization.id, keyId: key.id }));
  const page = baseUrl === null ? "the API keys page" : baseUrl + path;
  if (decision === "key_disabled") return `${subject} is disabled. Enable it on ${page}, or use another key.`;
  if (decision === "key_expired") {
    const at = formatTimeOrNull(key.expiresAtMs);
    return `${subject} expired${at === null ? "" : ` at ${at}`}. Extend it on ${page}, or use another key.`;
  }
  return `User "${user?.name ?? ""}" of ${subject} is disabled. Ask ${contact ?? "an admin of your organization"} to enable the user.`;
}

function describeCapError(
  scope: LimitScope,
  name: string,
  result: KnownKeyResult,
  { endpoint, dashboard }: { readonly endpoint: EndpointName; readonly dashboard: DashboardAddress },
): GatewayError {
  const { key, organization, day, reachedCap } = result;
  if (reachedCap === null) {
    return new GatewayError("internal_error", { cause: new Error(`${scope}_cap_reached names no cap`) });
  }
  const { period, cents, raisedCents, spentMicrocents } = reachedCap;
  const ownerId = scope === "user" || scope === "group" ? (result[scope]?.id ?? null) : null;
  const owner = { scope, organizationId: organization.id, keyId: key.id, ownerId, name };
  const amounts = { capCents: cents, raisedCents, spentMicrocents, currency: organization.currency };
  const areAmountsHidden = organization.hideAmounts;
  // The body has not arrived, so the affordable output is unknown.
  const affordable =
    organization.strictCaps && hasOutputLimit(endpoint)
      ? { requestedTokens: null, affordableTokens: 0 }
      : null;
  return createCapError({ ...owner, ...amounts, areAmountsHidden, affordable, period, day }, dashboard);
}

/** Avoids words on which some SDKs stop retrying: quota, billing, credit. */
function createRateLimitError(
  { key, organization, bucket }: KnownKeyResult,
  { endpoint, dashboard }: { readonly endpoint: EndpointName; readonly dashboard: DashboardAddress },
): GatewayError {
  // The same number as in `retry-after`.
  const seconds = clampRetryAfterSeconds(bucket.retryAfterSeconds) ?? 1;
  const kind = endpoint === "count_tokens" ? "count_tokens " : "";
  const perMinute = requestsPerMinuteOf(key);
  const rate = `${perMinute} ${kind}${perMinute === 1 ? "request" : "requests"} per minute`;
  const owner = ownerOfKey({ organizationId: organization.id, keyId: key.id });
  const change = formatChangeLink(dashboard, owner, REFUSAL_FIELDS.rate_limit_exceeded.field);
  return new GatewayError("rate_limit_exceeded", {
    message: `Rate limit of ${rate} for API key "${key.name}" reached. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.${change}`,
    retryAfterSeconds: seconds,
  });
}
