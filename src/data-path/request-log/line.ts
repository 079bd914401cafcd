/** Lines of the request log: how they are written, and which members are read to add them up. */
import * as z from "zod";
import { formatTime } from "../../shared/time/calendar.ts";
import { describeReason } from "../../shared/envoy-reasons/reason.ts";
import { explainCause } from "../../shared/envoy-reasons/upstream-cause.ts";
import { formatJsonText } from "../../shared/text/json-text.ts";
import { timeOfId } from "../store/ids.ts";
import type { RequestTimeline, RequestTrace, UpstreamEnd } from "../../shared/stored/reporting.ts";
import { type OwnerIds, parseOwnerIds } from "../../shared/stored/owner-ids.ts";
import type { BilledRequest } from "../../shared/stored/settlement.ts";
import { formatChargedPrice } from "../pricing/charged-price.ts";
import type { ChosenRates } from "../pricing/price.ts";
import type { ChargedTool } from "../pricing/tool-charges.ts";
import { OTHER_TAGS, readTags } from "../../shared/usage/tags.ts";
import { compileExpression } from "../../shared/text/compile-expression.ts";
import { mapTokens, nameTokens, type TokenUsage } from "../../shared/usage/token-usage.ts";

/**
 * How a request ended. `complete`: the answer was whole; `broken`: client or upstream aborted it midway;
 * `refused_by_upstream`: an error status, or a connection that the upstream was about to close, before anything was
 * generated; `not_sent`: no upstream was reached.
 */
export type Outcome = "complete" | "broken" | "refused_by_upstream" | "not_sent";

/** Result for the client, stored in the list of recent requests. */
export interface ClientResult {
  readonly status: number;
  readonly errorCode: string | null;
  /** Timeline and upstream of the request; absent if not measured. */
  readonly trace?: RequestTrace | undefined;
}

/** One request for the request log. */
export interface LoggedRequest {
  readonly identity: Omit<BilledRequest, "model"> & { readonly model: string | null };
  /** Null: the request was rejected before its price was known. */
  readonly price: ChosenRates | null;
  readonly outcome: Outcome | "refused";
  readonly result: ClientResult;
  readonly tokens: TokenUsage;
  readonly tools: readonly ChargedTool[];
  readonly estimated: boolean;
  readonly costMicrocents: bigint;
  /** The requested output limit and the limit to which it was lowered. Null or absent: it was not lowered. */
  readonly shrunk?: { readonly requestedTokens: number; readonly maxTokens: number } | null;
}

/** A request with the values of derived members. */
interface LineSource extends LoggedRequest {
  readonly timeline: RequestTimeline | null;
  readonly upstream: UpstreamEnd | null;
  readonly owners: OwnerIds;
  readonly settledAtMs: number;
}

interface Member {
  /** Returns JSON. */
  readonly write: (source: LineSource) => string;
  /** Schema for reports that add lines up; absent if only people read the member. */
  readonly read?: z.ZodType;
}

/** Members of a line in order. docs/request-log.md describes them. */
const MEMBERS = {
  request_id: { write: ({ identity }) => formatJsonText(identity.requestId), read: z.string() },
  organization_id: { write: ({ identity }) => formatJsonText(identity.organizationId), read: z.string() },
  key_id: { write: ({ identity }) => formatJsonText(identity.keyId), read: z.string() },
  user_id: {
    write: ({ owners }) => formatJsonText(owners.userId),
    read: z.string().nullable(),
  },
  group_id: {
    write: ({ owners }) => formatJsonText(owners.groupId),
    read: z.string().nullable(),
  },
  session_id: { write: ({ identity }) => formatJsonText(identity.session ?? null) },
  model: { write: ({ identity }) => formatJsonText(identity.model), read: z.string().nullable() },
  requested_model: { write: ({ identity }) => formatJsonText(identity.requestedModel ?? null) },
  route: { write: ({ identity }) => formatJsonText(identity.route), read: z.string() },
  status: { write: ({ result }) => String(result.status), read: z.number() },
  error_code: {
    write: ({ result }) => formatJsonText(result.errorCode),
    read: z.string().nullable(),
  },
  outcome: { write: ({ outcome }) => `"${outcome}"`, read: z.string() },
  admitted_at: { write: ({ identity }) => formatMoment(timeOfId(identity.requestId)) },
  settled_at: { write: ({ settledAtMs }) => formatMoment(settledAtMs), read: z.string() },
  duration_ms: { write: ({ timeline }) => String(timeline?.endMs ?? null) },
  first_token_ms: { write: ({ timeline }) => String(timeline?.firstTokenMs ?? null) },
  pinned_by: { write: ({ result }) => formatJsonText(result.trace?.pinnedBy ?? null) },
  upstream: { write: ({ upstream }) => formatJsonText(upstream?.name ?? null) },
  upstream_status: { write: ({ upstream }) => String(upstream?.status ?? null) },
  upstream_reason: {
    write: ({ upstream }) => formatJsonText(upstream === null ? null : formatReason(upstream)),
  },
  upstream_cause: { write: ({ upstream }) => formatJsonText(upstream?.cause ?? null) },
  month: { write: ({ identity }) => `"${identity.month}"`, read: z.string() },
  day: { write: ({ identity }) => `"${identity.day}"`, read: z.string() },
  ...nameTokens(
    mapTokens((kind) => ({
      write: compileExpression(["source"], `String(source.tokens.${kind})`) as (source: LineSource) => string,
      read: z.number(),
    })),
  ),
  estimated: { write: ({ estimated }) => String(estimated), read: z.boolean() },
  shrunk: { write: formatShrunk },
  currency: { write: ({ identity }) => formatJsonText(identity.currency), read: z.string() },
  tags: {
    write: ({ identity }) => formatTags(identity.tags),
    read: z.record(z.string(), z.string()),
  },
  tag_row: {
    write: ({ identity }) => formatJsonText(formatTagRow(identity)),
    read: z.enum(["own", "other"]).nullable(),
  },
  server_tools: {
    write: ({ tools }) => formatTools(tools),
    read: z.record(
      z.string(),
      z.object({ uses: z.number().int(), microcents_per_thousand: z.number().int() }),
    ),
  },
  prices: { write: ({ price }) => (price === null ? "null" : formatChargedPrice(price)) },
  // Must be last: it may have more digits than a double holds, so it is read from the text.
  cost_microcents: { write: ({ costMicrocents }) => String(costMicrocents) },
} as const satisfies Readonly<Record<string, Member>>;

type Members = typeof MEMBERS;
type ReadName = {
  [Name in keyof Members]: Members[Name] extends { read: z.ZodType } ? Name : never;
}[keyof Members];

const readMembers = Object.entries<Member>(MEMBERS).flatMap(([name, { read }]) =>
  read === undefined ? [] : [[name, read] as const],
);

/** The members that are read to add lines up. */
export const lineSchema = z.object(
  Object.fromEntries(readMembers) as { [Name in ReadName]: Members[Name]["read"] },
);

/** Matches the cost at the end of a line. */
export const LINE_COST = /"cost_microcents":(\d{1,20})\}$/;

/** Calls each member's writer at a separate call site, so that V8 can inline it. */
const formatMembers = compileExpression(
  ["source", "members"],
  Object.keys(MEMBERS)
    .map((name, index) => `'${index === 0 ? "{" : ","}"${name}":' + members.${name}.write(source)`)
    .join(" + "),
) as (source: LineSource, members: Members) => string;

/** Formats a line of the request log. Amounts are integers with all their digits. */
export function formatRequestLogLine(request: LoggedRequest, settledAtMs: number): string {
  const { identity, price, outcome, result, tokens, tools, estimated, costMicrocents, shrunk } = request;
  const source: LineSource = {
    identity,
    price,
    outcome,
    result,
    tokens,
    tools,
    estimated,
    costMicrocents,
    shrunk: shrunk ?? null,
    timeline: result.trace?.timeline ?? null,
    upstream: result.trace?.upstream ?? null,
    owners: parseOwnerIds(identity.owners ?? ""),
    settledAtMs,
  };
  // JSON.stringify takes twice as long for this many members.
  return `${formatMembers(source, MEMBERS)}}`;
}

function formatMoment(timeMs: number | null): string {
  return timeMs === null ? "null" : `"${formatTime(timeMs)}"`;
}

/**
 * Explains the upstream's end if Envoy reported a cause; null if there is none, or `cause` is the upstream's own text.
 */
function formatReason({ name, status, cause }: UpstreamEnd): string | null {
  const reason = cause === null ? null : explainCause(status, cause);
  return reason === null ? null : describeReason(reason, name);
}

function formatShrunk({ shrunk = null }: LoggedRequest): string {
  if (shrunk === null) return "null";
  return `{"requested_max_tokens":${shrunk.requestedTokens},"max_tokens":${shrunk.maxTokens}}`;
}

/** Returns null without tags, or if Redis was unreachable and decides later. */
function formatTagRow({ tagRow }: LoggedRequest["identity"]): "own" | "other" | null {
  if (tagRow === undefined) return null;
  return tagRow === OTHER_TAGS ? "other" : "own";
}

/** Formats uses and prices, in microcents per thousand uses. */
function formatTools(tools: readonly ChargedTool[]): string {
  const members = tools.map(
    ({ name, uses, rate }) => `"${name}":{"uses":${uses},"microcents_per_thousand":${rate}}`,
  );
  return `{${members.join(",")}}`;
}

function formatTags(tags: string | undefined): string {
  return tags === undefined || tags === "" ? "{}" : JSON.stringify(readTags(tags));
}
