import { formatTime } from "../time/calendar.ts";
import { sayReason } from "../envoy-reasons/reason.ts";
import { explainCause } from "../envoy-reasons/upstream-cause.ts";
import { formatJsonText } from "../text/json-text.ts";
import { timeOfId } from "../store/ids.ts";
import type { RequestWay, UpstreamEnd } from "../store/types/reporting.ts";
import { parseOwnerIds } from "../store/types/owner-ids.ts";
import type { BilledRequest } from "../store/types/settlement.ts";
import { formatChargedPrice } from "../pricing/charged-price.ts";
import type { ChosenRates } from "../pricing/price.ts";
import type { ChargedTool } from "../pricing/tool-charges.ts";
import { OTHER_TAGS, readTags } from "../usage/tags.ts";
import { compileExpression } from "../usage/compile.ts";
import { TOKEN_KINDS, TOKEN_NAMES, type TokenUsage } from "../usage/token-usage.ts";

/**
 * How a request ended: `complete`: the answer was whole; `broken`: it was handed on, but client or upstream broke it
 * off; `refused_by_upstream`: an error status, or a connection that it was about to close, nothing generated; `not_sent`:
 * no upstream was reached.
 */
export type Outcome = "complete" | "broken" | "refused_by_upstream" | "not_sent";

/** What the client was told, for the list of recent requests. */
export interface ClientResult {
  readonly status: number;
  readonly errorCode: string | null;
  /** How it came there; left out where nobody measured it. */
  readonly way?: RequestWay | undefined;
}

/** One request, as the log of requests tells it. */
export interface LoggedRequest {
  readonly identity: Omit<BilledRequest, "model"> & { readonly model: string | null };
  /** Null: it was refused before a price was looked up. */
  readonly price: ChosenRates | null;
  readonly outcome: Outcome | "refused";
  readonly result: ClientResult;
  readonly tokens: TokenUsage;
  readonly tools: readonly ChargedTool[];
  readonly estimated: boolean;
  readonly costMicrocents: bigint;
  /** What the limit of its answers was, and what it was lowered to. Null or left out: it went upstream as it was. */
  readonly shrunk?: { readonly requestedTokens: number; readonly maxTokens: number } | null;
}

/**
 * A line of the log of requests; docs/spend.md describes its fields. Amounts are written as whole numbers with all
 * their digits.
 */
export function formatRequestLogLine(request: LoggedRequest, settledAtMs: number): string {
  const { identity, result, tokens, price } = request;
  const timeline = result.way?.timeline ?? null;
  const upstream = result.way?.upstream ?? null;
  const owners = parseOwnerIds(identity.owners ?? "");
  const admittedAtMs = timeOfId(identity.requestId);
  // Written out: JSON.stringify takes twice as long for so many names.
  return (
    `{"request_id":${formatJsonText(identity.requestId)}` +
    `,"organization_id":${formatJsonText(identity.organizationId)}` +
    `,"key_id":${formatJsonText(identity.keyId)}` +
    `,"user_id":${formatJsonText(owners.userId)}` +
    `,"group_id":${formatJsonText(owners.groupId)}` +
    `,"session_id":${formatJsonText(identity.session ?? null)}` +
    `,"model":${formatJsonText(identity.model)}` +
    `,"requested_model":${formatJsonText(identity.requestedModel ?? null)}` +
    `,"route":${formatJsonText(identity.route)}` +
    `,"status":${result.status}` +
    `,"error_code":${formatJsonText(result.errorCode)}` +
    `,"outcome":"${request.outcome}"` +
    `,"admitted_at":${admittedAtMs === null ? "null" : `"${formatTime(admittedAtMs)}"`}` +
    `,"settled_at":"${formatTime(settledAtMs)}"` +
    `,"duration_ms":${timeline?.endMs ?? null}` +
    `,"first_token_ms":${timeline?.firstTokenMs ?? null}` +
    `,"upstream":${formatJsonText(upstream?.name ?? null)}` +
    `,"upstream_status":${upstream?.status ?? null}` +
    `,"upstream_reason":${formatJsonText(upstream === null ? null : formatReason(upstream))}` +
    `,"upstream_cause":${formatJsonText(upstream?.cause ?? null)}` +
    `,"month":"${identity.month}"` +
    `,"day":"${identity.day}"` +
    formatTokens(tokens) +
    `,"estimated":${request.estimated}` +
    `,"shrunk":${formatShrunk(request)}` +
    `,"currency":${formatJsonText(identity.currency)}` +
    `,"tags":${formatTags(identity.tags)}` +
    `,"tag_row":${formatJsonText(formatTagRow(identity))}` +
    `,"server_tools":${formatTools(request.tools)}` +
    `,"prices":${price === null ? null : formatChargedPrice(price)}` +
    `,"cost_microcents":${request.costMicrocents}}`
  );
}

const formatTokens = compileExpression(
  ["tokens"],
  TOKEN_KINDS.map((kind) => `',"${TOKEN_NAMES[kind]}":' + tokens.${kind}`).join(" + "),
) as (tokens: TokenUsage) => string;

/** For people, where Envoy said the cause; null: there is none, or it is in the upstream's own words. */
function formatReason({ name, status, cause }: UpstreamEnd): string | null {
  const reason = cause === null ? null : explainCause(status, cause);
  return reason === null ? null : sayReason(reason, name);
}

function formatShrunk({ shrunk = null }: LoggedRequest): string {
  if (shrunk === null) return "null";
  return `{"requested_max_tokens":${shrunk.requestedTokens},"max_tokens":${shrunk.maxTokens}}`;
}

/** Null: without tags, or decided later by Redis, which was out of reach. */
function formatTagRow({ tagRow }: LoggedRequest["identity"]): "own" | "other" | null {
  if (tagRow === undefined) return null;
  return tagRow === OTHER_TAGS ? "other" : "own";
}

/** What each was used and costs: microcents per thousand uses. */
function formatTools(tools: readonly ChargedTool[]): string {
  const members = tools.map(
    ({ name, uses, rate }) => `"${name}":{"uses":${uses},"microcents_per_thousand":${rate}}`,
  );
  return `{${members.join(",")}}`;
}

function formatTags(tags: string | undefined): string {
  return tags === undefined || tags === "" ? "{}" : JSON.stringify(readTags(tags));
}
