/** A line of the log of requests: how it is written, and how those read it who add lines up. */
import * as z from "zod";
import { formatTime } from "../../shared/time/calendar.ts";
import { sayReason } from "../../shared/envoy-reasons/reason.ts";
import { explainCause } from "../../shared/envoy-reasons/upstream-cause.ts";
import { formatJsonText } from "../../shared/text/json-text.ts";
import { timeOfId } from "../store/ids.ts";
import type { RequestTimeline, RequestWay, UpstreamEnd } from "../store/types/reporting.ts";
import { type OwnerIds, parseOwnerIds } from "../store/types/owner-ids.ts";
import type { BilledRequest } from "../store/types/settlement.ts";
import { formatChargedPrice } from "../pricing/charged-price.ts";
import type { ChosenRates } from "../pricing/price.ts";
import type { ChargedTool } from "../pricing/tool-charges.ts";
import { OTHER_TAGS, readTags } from "../../shared/usage/tags.ts";
import { compileExpression } from "../../shared/usage/compile.ts";
import { mapTokens, nameTokens, type TokenUsage } from "../../shared/usage/token-usage.ts";

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

/** A request with what its members are taken from. */
interface Told extends LoggedRequest {
  readonly timeline: RequestTimeline | null;
  readonly upstream: UpstreamEnd | null;
  readonly owners: OwnerIds;
  readonly settledAtMs: number;
}

/** A member of a line. */
interface Member {
  /** JSON. */
  readonly write: (told: Told) => string;
  /** Reads the member for reports that add lines up; left out if only people read the member. */
  readonly read?: z.ZodType;
}

/** The members of a line, in their order. docs/request-log.md describes them. */
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
      write: compileExpression(["told"], `String(told.tokens.${kind})`) as (told: Told) => string,
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
  // The last one: its digits may be more than a double holds, so they are read from the text.
  cost_microcents: { write: ({ costMicrocents }) => String(costMicrocents) },
} as const satisfies Readonly<Record<string, Member>>;

type Members = typeof MEMBERS;
type ReadName = {
  [Name in keyof Members]: Members[Name] extends { read: z.ZodType } ? Name : never;
}[keyof Members];

const readMembers = Object.entries<Member>(MEMBERS).flatMap(([name, { read }]) =>
  read === undefined ? [] : [[name, read] as const],
);

/** What those read of a line who add lines up. */
export const lineSchema = z.object(
  Object.fromEntries(readMembers) as { [Name in ReadName]: Members[Name]["read"] },
);

/** The cost of a line, which is its end. */
export const LINE_COST = /"cost_microcents":(\d{1,20})\}$/;

/** Each member's writer is called at a place of its own, which V8 puts the writer's code into. */
const formatMembers = compileExpression(
  ["told", "members"],
  Object.keys(MEMBERS)
    .map((name, index) => `'${index === 0 ? "{" : ","}"${name}":' + members.${name}.write(told)`)
    .join(" + "),
) as (told: Told, members: Members) => string;

/** A line of the log of requests. Amounts are written as whole numbers with all their digits. */
export function formatRequestLogLine(request: LoggedRequest, settledAtMs: number): string {
  const { identity, price, outcome, result, tokens, tools, estimated, costMicrocents, shrunk } = request;
  const told: Told = {
    identity,
    price,
    outcome,
    result,
    tokens,
    tools,
    estimated,
    costMicrocents,
    shrunk: shrunk ?? null,
    timeline: result.way?.timeline ?? null,
    upstream: result.way?.upstream ?? null,
    owners: parseOwnerIds(identity.owners ?? ""),
    settledAtMs,
  };
  // JSON.stringify takes twice as long for so many names.
  return `${formatMembers(told, MEMBERS)}}`;
}

function formatMoment(timeMs: number | null): string {
  return timeMs === null ? "null" : `"${formatTime(timeMs)}"`;
}

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
