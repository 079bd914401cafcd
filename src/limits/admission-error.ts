/** The refusals of an admission, in the contract's words. */
import { clampRetryAfterSeconds, GatewayError } from "../errors.ts";
import type { DashboardAddress } from "../pages.ts";
import type { KnownKeyResult } from "../store/types/admission.ts";
import type { EndpointName } from "./admission.ts";
import { createConcurrencyError } from "./concurrency-limit.ts";
import { createCapError } from "./spend-cap.ts";

/** The error that an admission other than `admitted` means for the client. */
export function createAdmissionError(
  result: KnownKeyResult,
  endpoint: EndpointName,
  dashboard: DashboardAddress,
): GatewayError {
  const { key, organization } = result;
  switch (result.decision) {
    case "key_disabled":
    case "key_expired":
    case "user_disabled":
    case "organization_suspended":
      return new GatewayError(result.decision);
    case "rate_limited":
      return createRateLimitError(result, endpoint);
    case "concurrency_limited":
      return createConcurrencyError(key.name, key.maxConcurrentRequests);
    case "key_cap_reached":
      return describeCapError("key", key, result, dashboard);
    case "organization_cap_reached":
      return describeCapError("organization", organization, result, dashboard);
    case "admitted":
      break;
  }
  return new GatewayError("internal_error", { cause: new Error("an admission is no error") });
}

function describeCapError(
  scope: "key" | "organization",
  subject: Pick<KnownKeyResult["key"], "name" | "hardCapCents" | "spentMicrocents">,
  { key, organization, month }: KnownKeyResult,
  dashboard: DashboardAddress,
): GatewayError {
  const { name, hardCapCents, spentMicrocents } = subject;
  const cap = { scope, organizationId: organization.id, keyId: key.id, name, spentMicrocents, month };
  const { currency } = organization;
  return createCapError({ ...cap, currency, hardCapCents: hardCapCents ?? 0 }, dashboard);
}

/** Its words avoid those on which some SDKs stop retrying: quota, billing, credit. */
function createRateLimitError({ key, bucket }: KnownKeyResult, endpoint: EndpointName): GatewayError {
  // The same number as in `retry-after`.
  const seconds = clampRetryAfterSeconds(bucket.retryAfterSeconds) ?? 1;
  const kind = endpoint === "count_tokens" ? "count_tokens " : "";
  const rate = `${key.requestsPerMinute} ${kind}${key.requestsPerMinute === 1 ? "request" : "requests"} per minute`;
  return new GatewayError("rate_limit_exceeded", {
    message: `Rate limit of ${rate} for API key "${key.name}" reached. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`,
    retryAfterSeconds: seconds,
  });
}
