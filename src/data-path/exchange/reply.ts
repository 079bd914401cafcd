/**
 * Answers that the gateway gives by itself, and the headers that the contract puts on every response. Plain values:
 * `src/envoy/` turns them into Envoy's messages.
 */
import type { GatewayError } from "../../shared/contract/errors.ts";
import { formatRateHeaders, type RateState } from "../limits/rate-headers.ts";
import type { Shrunk } from "../limits/spend-cap.ts";
import { BUDGET_MAX_TOKENS_HEADER, REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import type { Protocol, ProtocolName } from "../translation/client-protocol.ts";

/** Name in lower case and value. */
export type Header = readonly [name: string, value: string];

/** A whole HTTP response. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: string;
}

/** What the contract's headers are made of; `rate` is null where no key is known. */
export interface ReplyContext {
  readonly requestId: string;
  readonly protocol: ProtocolName;
  readonly rate: RateState | null;
  /** What the caps have left; left out where nobody knows, or it is not told. */
  readonly headroom?: readonly Header[];
}

/** Those of the headers that every response carries that are known before its request is decided. */
export function formatIdHeaders(requestId: string): Header[] {
  return [
    ["x-request-id", requestId],
    ["request-id", requestId],
  ];
}

/** The headers that every response to a client carries. */
function formatContractHeaders(context: ReplyContext): Header[] {
  const headers = formatIdHeaders(context.requestId);
  if (context.rate === null) headers.push([REMAINING_HEADER, "0"]);
  else headers.push(...formatRateHeaders(context.rate, context.protocol));
  if (context.headroom !== undefined) headers.push(...context.headroom);
  return headers;
}

/** What a whole answer's header tells of what it cost; null: nothing. */
export function formatCostHeader(formattedCost: string | null): Header[] {
  return formattedCost === null ? [] : [["x-request-cost", formattedCost]];
}

/** Of a request whose limit of output was lowered; nothing where that would tell an amount that is hidden. */
export function formatShrunkHeader(shrunk: Shrunk | null): Header[] {
  if (shrunk === null || shrunk.isHidden) return [];
  return [[BUDGET_MAX_TOKENS_HEADER, String(shrunk.maxTokens)]];
}

/** An answer with a JSON body, contract headers included. */
export function createJsonReply(status: number, body: unknown, context: ReplyContext): Reply {
  return {
    status,
    headers: [["content-type", "application/json"], ...formatContractHeaders(context)],
    body: JSON.stringify(body),
  };
}

/** An error in the envelope of the route's protocol, contract headers included. */
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
    body: protocol.formatError(error, context.requestId),
  };
}
