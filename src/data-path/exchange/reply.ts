/**
 * Responses that the gateway gives by itself, and the headers of the contract that every response carries. Plain
 * values: `src/envoy/` turns them into Envoy's messages.
 */
import type { GatewayError } from "../../shared/contract/errors.ts";
import type { RateState } from "../limits/admission.ts";
import { formatRateHeaders } from "../limits/headers/rate-headers.ts";
import type { Shrunk } from "../limits/errors/spend-cap.ts";
import { BUDGET_MAX_TOKENS_HEADER, REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import type { Protocol, ProtocolName } from "../translation/client-protocol.ts";

/** Name in lower case, and value. */
export type Header = readonly [name: string, value: string];

/** A complete HTTP response. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: string;
}

/** Input of the contract's headers. `rate` is null if no API key is known. */
export interface ReplyContext {
  readonly identity: { readonly requestId: string };
  readonly protocol: ProtocolName;
  readonly rate: RateState | null;
  /** Remaining amounts of the caps. Omitted if unknown or hidden. */
  readonly headroom?: readonly Header[];
}

/** Headers of every response that are known before its request is decided. */
export function formatIdHeaders(requestId: string): Header[] {
  return [
    ["x-request-id", requestId],
    ["request-id", requestId],
  ];
}

/** Headers of every response to a client. */
function formatContractHeaders(context: ReplyContext): Header[] {
  const headers = formatIdHeaders(context.identity.requestId);
  if (context.rate === null) headers.push([REMAINING_HEADER, "0"]);
  else headers.push(...formatRateHeaders(context.rate, context.protocol));
  if (context.headroom !== undefined) headers.push(...context.headroom);
  return headers;
}

/** Formats the cost header of a complete response. Returns no header if the cost is null. */
export function formatCostHeader(formattedCost: string | null): Header[] {
  return formattedCost === null ? [] : [["x-request-cost", formattedCost]];
}

/** Headers of a request whose output limit was lowered; none if they would reveal a hidden amount. */
export function formatShrunkHeader(shrunk: Shrunk | null): Header[] {
  if (shrunk === null || shrunk.isHidden) return [];
  return [[BUDGET_MAX_TOKENS_HEADER, String(shrunk.maxTokens)]];
}

/** Creates a response with a JSON body and the contract's headers. */
export function createJsonReply(status: number, body: unknown, context: ReplyContext): Reply {
  return {
    status,
    headers: [["content-type", "application/json"], ...formatContractHeaders(context)],
    body: JSON.stringify(body),
  };
}

/** Creates an error response in the envelope of the route's protocol, with the contract's headers. */
export function createErrorReply(error: GatewayError, protocol: Protocol, context: ReplyContext): Reply {
  const headers: Header[] = [
    ["content-type", "application/json"],
    ...formatContractHeaders(context),
    ["x-should-retry", String(error.shouldRetry)],
  ];
  if (error.retryAfterSeconds !== null) headers.push(["retry-after", String(error.retryAfterSeconds)]);
  for (const [name, value] of Object.entries(error.headers)) headers.push([name, value]);
  return {
    status: error.status(context.protocol),
    headers,
    body: protocol.formatError(error, context.identity.requestId),
  };
}
