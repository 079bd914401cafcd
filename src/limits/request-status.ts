/** `GET /v1/requests/{request_id}`: what one of the key's own recent requests cost, or why it was refused. */
import { wholeCents } from "../money.ts";
import { reportRecordedCost } from "../pricing/cost-report.ts";
import type { RecentRequest } from "../store/types/reporting.ts";
import { readTags } from "../tags.ts";
import type { RequestStatus } from "./answer-schemas.ts";
import { toldOf } from "./told.ts";

/** The published body; see docs/api.md. */
export function formatRequestStatus(request: RecentRequest): RequestStatus {
  const { status, errorCode } = toldOf(request);
  const cost = reportRecordedCost(request);
  return {
    object: "request",
    id: request.requestId,
    created_at: formatCreatedAt(request.requestId),
    model: request.model,
    requested_model: request.way.requestedModel ?? null,
    route: request.route,
    tags: readTags(request.tags),
    status,
    error_code: errorCode,
    input_tokens: request.inputTokens,
    cached_input_tokens: request.cachedInputTokens,
    output_tokens: request.outputTokens,
    estimated: request.estimated,
    cost_microcents: Number(request.costMicrocents),
    cost_cents: wholeCents(request.costMicrocents),
    cost_details: cost === null ? null : { ...cost.cost_details, parts: [...cost.cost_details.parts] },
    checks: [...request.checks],
  };
}

/** When the request was admitted: the time in its id, `req_` + UUID v7 (RFC 9562, section 5.7). */
function formatCreatedAt(requestId: string): string {
  const unixMs = Number.parseInt(requestId.slice("req_".length).replace("-", "").slice(0, 12), 16);
  return new Date(unixMs).toISOString();
}
