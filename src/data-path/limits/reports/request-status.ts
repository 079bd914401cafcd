/** `GET /v1/requests/{request_id}`: cost of one of the key's own recent requests, or why it was rejected. */
import * as z from "zod";
import { wholeCents } from "../../../shared/money/money.ts";
import { reportRecordedCost } from "../../pricing/cost-report.ts";
import { checkShape } from "../../store/requests/facts.ts";
import type { RecentRequest } from "../../../shared/stored/reporting.ts";
import { readTags } from "../../../shared/usage/tags.ts";
import { clientOutcomeOf } from "./client-outcome.ts";

const count = () => z.int().min(0);

/** Check of a request whose output limit was lowered to what strict caps allowed. */
export const SHRUNK_CHECK = "affordable_output";
const HIDDEN_CHECKS = /^(?:user|group|organization)_hard_cap$/;

/** Cost of one charged request. */
const costDetails = z.strictObject({
  service_tier: z.string().describe("Service tier of the charge."),
  above_prompt_tokens: z.int().nullable().describe("Tier by size of prompt; null: the smallest."),
  price_from: z.string().nullable().describe("UTC day; null: from the beginning."),
  parts: z.array(
    z.strictObject({
      name: z.string(),
      tokens: z.int().nullable().describe("Null: the fee of the request, or a server tool."),
      uses: z.int().optional().describe("Uses of a tool of the model server; otherwise omitted."),
      price: z.string().describe("Per million tokens, or per thousand uses, a decimal."),
      cost: z.string().describe("Exact decimal amount in the currency."),
    }),
  ),
});

/** Schema of `GET /v1/requests/{request_id}`; the management API returns the same and more. */
export const requestStatus = z.strictObject({
  object: z.literal("request"),
  id: z.string().meta({ examples: ["req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  created_at: z.iso
    .datetime()
    .meta({ description: "Time of the request.", examples: ["2026-12-01T00:00:00.000Z"] }),
  model: z.string().nullable(),
  requested_model: z
    .string()
    .nullable()
    .meta({
      description: "Model name that the client sent, if it isn't a catalog id.",
      examples: ["gpt-4o-mini"],
    }),
  route: z.string().meta({ examples: ["POST /v1/chat/completions"] }),
  tags: z.record(z.string(), z.string()).meta({
    description: "Tags: from `X-Tags`, the key's defaults, and the end user if recorded.",
    examples: [{ team: "search" }],
  }),
  session_id: z
    .string()
    .nullable()
    .meta({
      description: "Session that it named; null: none, or rejected at its headers.",
      examples: ["0d9f3a52-6f0e-4a57-9a0c-5a7d1c2b3e4f"],
    }),
  status: z.int().nullable().describe("HTTP status; null: its worker crashed."),
  error_code: z.string().nullable(),
  input_tokens: count().describe("Input tokens without cached ones."),
  cached_input_tokens: count(),
  output_tokens: count(),
  estimated: z.boolean(),
  cost_microcents: z.int(),
  cost_cents: z.int(),
  cost_details: costDetails.nullable().describe("Parts of the cost; null: none, or prices unknown."),
  checks: z
    .array(z.strictObject(checkShape))
    .describe("Checks with their figures; the last one rejected the request, or is its price."),
});
export type RequestStatus = z.output<typeof requestStatus>;

/** Formats the published body; see docs/api.md. */
export function formatRequestStatus(request: RecentRequest): RequestStatus {
  const { status, errorCode } = clientOutcomeOf(request);
  const cost = reportRecordedCost(request);
  return {
    object: "request",
    id: request.requestId,
    created_at: formatCreatedAt(request.requestId),
    model: request.model,
    requested_model: request.trace.requestedModel ?? null,
    route: request.route,
    tags: readTags(request.tags),
    session_id: request.session,
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

/** Removes the amounts of all caps but the key's, if the organization hides them from clients. */
export function withoutAmounts<Status extends Pick<RequestStatus, "checks">>(status: Status): Status {
  return { ...status, checks: status.checks.map(withoutFigures) };
}

type ShownCheck = RequestStatus["checks"][number];

function withoutFigures(check: ShownCheck): ShownCheck {
  if (check.name === SHRUNK_CHECK && check.figures["scope"] !== "key") {
    const { scope = null, period = null } = check.figures;
    return { ...check, figures: { scope, period } };
  }
  if (!HIDDEN_CHECKS.test(check.name)) return check;
  const { period } = check.figures;
  return { ...check, figures: period === undefined ? {} : { period } };
}

/** Formats the time of the admission, which is in the id: `req_` + UUID v7 (RFC 9562, section 5.7). */
function formatCreatedAt(requestId: string): string {
  const unixMs = Number.parseInt(requestId.slice("req_".length).replace("-", "").slice(0, 12), 16);
  return new Date(unixMs).toISOString();
}
