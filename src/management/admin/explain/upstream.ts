/** What an upstream did with a request, in words; Envoy's own stand below them. */
import { sayReason, type Reason } from "../../../shared/envoy-reasons/reason.ts";
import { explainCause } from "../../../shared/envoy-reasons/upstream-cause.ts";
import type { UpstreamEnd } from "../../../data-path/store/types/reporting.ts";
import type { ExplainedRequest } from "./explained-request.ts";

export function describeUpstream({
  name,
  status,
  cause,
}: UpstreamEnd): NonNullable<ExplainedRequest["upstream"]> {
  const reason = cause === null ? null : explainCause(status, cause);
  if (reason === null) return { name, status, cause, envoy_details: null };
  return { name, status, cause: sayReason(reason, name), envoy_details: cause };
}

/** What Envoy said of a request's upstream; null: nothing, or nothing that is known. */
export function reasonOf({ upstream }: Pick<ExplainedRequest, "upstream">): Reason | null {
  if (upstream === null || upstream.envoy_details === null) return null;
  return explainCause(upstream.status, upstream.envoy_details);
}

/** What only the operator can end, by the code that the client is told. */
const OPERATORS_CAUSES: Readonly<Record<string, string>> = {
  upstream_model_not_found: " (it knows no such model, or no such path)",
  upstream_authentication_failed: " (it refuses the gateway's account or credential there)",
};

/** "the upstream local answered 503: no replica"; null: there is nothing to say of it. */
export function explainUpstream({
  upstream,
  error_code: code,
}: Pick<ExplainedRequest, "upstream" | "error_code">): string | null {
  if (upstream === null) return null;
  const { name, status, cause, envoy_details: details } = upstream;
  if (details !== null) return cause;
  const subject = `the upstream ${name}`;
  const said = cause === null ? "" : `: ${cause.replace(/\.$/, "")}`;
  if (status !== null) return `${subject} answered ${status}${OPERATORS_CAUSES[code ?? ""] ?? ""}${said}`;
  return said === "" ? `${subject} did not answer` : `${subject} failed${said}`;
}
