import type { ExplainedRequest } from "./explained-request.ts";

/** Envoy's `response.code_details`, by how they begin. */
const ENVOY_CAUSES: readonly (readonly [prefix: string, words: string])[] = [
  ["no_healthy_upstream", "had no server that was ready"],
  ["upstream_reset_before_response_started{remote_connection_failure", "could not be connected to"],
  ["upstream_reset_before_response_started{local_connection_failure", "could not be connected to"],
  ["upstream_reset_before_response_started{connection_failure", "could not be connected to"],
  ["upstream_reset_before_response_started{connection_timeout", "took no connection in time"],
  ["upstream_reset_before_response_started{overflow", "had as many requests as it may have"],
  ["upstream_reset_before_response_started", "broke the connection off before it answered"],
  ["upstream_reset_after_response_started", "broke the connection off within its answer"],
  ["response_timeout", "gave no answer in time"],
  ["upstream_response_timeout", "gave no answer in time"],
  ["stream_idle_timeout", "was silent for too long"],
  ["upstream_per_try", "gave no answer in time"],
  ["cluster_not_found", "is not in Envoy's configuration"],
];

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
  const { name, status, cause } = upstream;
  const subject = `the upstream ${name}`;
  const known = ENVOY_CAUSES.find(([prefix]) => cause?.startsWith(prefix))?.[1];
  if (known !== undefined) return `${subject} ${known} (${cause})`;
  const said = cause === null ? "" : `: ${cause.replace(/\.$/, "")}`;
  if (status !== null) return `${subject} answered ${status}${OPERATORS_CAUSES[code ?? ""] ?? ""}${said}`;
  return said === "" ? `${subject} did not answer` : `${subject} failed${said}`;
}
