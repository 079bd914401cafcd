/**
 * Facts of a request as its records store them: in the spool, the list of recent requests, the request log
 * and the management API. Each fact has one row in a table here with its name in each place; all writers and
 * readers are derived from the tables.
 */
import * as z from "zod";
import { formatJsonText } from "../../../shared/text/json-text.ts";
import { compileExpression } from "../../../shared/text/compile-expression.ts";
import { mapTokens, rateOf, TOKEN_KINDS, type TokenUsage } from "../../../shared/usage/token-usage.ts";
import {
  type Check,
  type RequestTimeline,
  type RequestTrace,
  UNKNOWN_TRACE,
} from "../../../shared/stored/reporting.ts";
import type { RequestIdentity } from "../../../shared/stored/settlement.ts";

/** `text`: always present. `plain`: the same, with nothing that JSON must escape. `optional`: omitted if unknown. */
type IdentityKind = "text" | "plain" | "optional" | "flag";

/** Identity that every command of a request carries: names in code and in the spool, in the spool's order. */
const IDENTITY = {
  organizationId: "text",
  keyId: "text",
  requestId: "text",
  month: "plain",
  day: "plain",
  route: "text",
  model: "text",
  requestedModel: "optional",
  currency: "optional",
  owners: "optional",
  session: "optional",
  isSessionCapped: "flag",
  tags: "optional",
  tagRow: "optional",
} as const satisfies Readonly<Record<keyof RequestIdentity, IdentityKind>>;

type Facts = typeof IDENTITY;
type SchemaOf<Kind extends IdentityKind> = Kind extends "text" | "plain"
  ? z.ZodString
  : z.ZodExactOptional<Kind extends "flag" ? z.ZodLiteral<true> : z.ZodString>;

/** Schema of the identity in an entry of the spool. */
export const identityShape = Object.fromEntries(
  Object.entries(IDENTITY).map(([name, kind]) => [name, createIdentitySchema(kind)]),
) as { readonly [Name in keyof Facts]: SchemaOf<Facts[Name]> };

function createIdentitySchema(kind: IdentityKind): z.ZodType {
  if (kind === "flag") return z.literal(true).exactOptional();
  return kind === "optional" ? z.string().exactOptional() : z.string();
}

const formatIdentityMembers = compileExpression(
  ["identity", "formatText"],
  Object.entries(IDENTITY)
    .map(([name, kind], index) => formatMember(name, kind, index === 0 ? "" : ","))
    .join(" + "),
) as (identity: RequestIdentity, formatText: (text: string) => string) => string;

/** Returns the source of an expression that writes one member. */
function formatMember(name: string, kind: IdentityKind, separator: string): string {
  const [value, key] = [`identity.${name}`, `'${separator}"${name}":`];
  if (kind === "plain") return `${key}"' + ${value} + '"'`;
  if (kind === "text") return `${key}' + formatText(${value})`;
  if (kind === "flag") return `(${value} === true ? ${key}true' : "")`;
  return `(${value} === undefined ? "" : ${key}' + formatText(${value}))`;
}

/**
 * Formats the identity as members of a JSON object. Generated code, because every request has an entry and
 * `JSON.stringify` takes three times as long.
 */
export function formatIdentity(identity: RequestIdentity): string {
  return formatIdentityMembers(identity, formatJsonText);
}

/** Schema of token figures in the spool, which names figures as prices do. */
export const spooledTokens = z
  .object(Object.fromEntries(TOKEN_KINDS.map((kind) => [nameInSpool(kind), z.number().int().nonnegative()])))
  .transform((named): TokenUsage => mapTokens((kind) => named[nameInSpool(kind)] ?? 0));

export const nameSpooledTokens = compileExpression(
  ["tokens"],
  `({ ${TOKEN_KINDS.map((kind) => `${nameInSpool(kind)}: tokens.${kind}`).join(", ")} })`,
) as (tokens: TokenUsage) => Readonly<Record<string, number>>;

function nameInSpool(kind: keyof TokenUsage): string {
  return rateOf(kind);
}

/** Milestones of a request: names in code and in the management API, with their descriptions. */
export const TIMELINE = {
  bodyMs: { apiName: "body_ms", about: "Its whole body was there." },
  routedMs: { apiName: "routed_ms", about: "It was handed to the upstream." },
  upstreamMs: { apiName: "upstream_ms", about: "The upstream's answer began." },
  firstTokenMs: { apiName: "first_token_ms", about: null },
  endMs: { apiName: "end_ms", about: null },
} as const satisfies Readonly<Record<keyof RequestTimeline, { apiName: string; about: string | null }>>;

const moment = z.number().int().nullable();

/** Schema of the upstream's outcome and timeline, as the spool and the list of recent requests store them. */
export const traceSchema: z.ZodType<RequestTrace> = z.object({
  timeline: z
    .object({
      bodyMs: moment,
      routedMs: moment,
      upstreamMs: moment,
      firstTokenMs: moment,
      endMs: z.number().int(),
    } satisfies Record<keyof RequestTimeline, z.ZodType>)
    .nullable(),
  upstream: z.object({ name: z.string(), status: moment, cause: z.string().nullable() }).nullable(),
  requestedModel: z.string().optional(),
  pinnedBy: z.string().optional(),
});

export function formatTrace(trace: RequestTrace | undefined): string {
  return trace === undefined ? "null" : JSON.stringify(trace);
}

/** @param value Null in entries of requests whose worker died. */
export function parseTrace(value: unknown): RequestTrace {
  return value === null ? UNKNOWN_TRACE : traceSchema.parse(value);
}

/** Schema of a check with its figures, in the spool, the list of recent requests and responses. */
export const checkShape = {
  name: z.string(),
  passed: z.boolean(),
  figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
};
export const checksSchema = z.array(z.object(checkShape));

/** JSON of a check; requests at one price share the check, so it is formatted once. */
const wordsOfCheck = new WeakMap<Check, string>();

export function formatChecks(checks: readonly Check[]): string {
  const [check] = checks;
  if (check === undefined || checks.length > 1) return JSON.stringify(checks);
  const known = wordsOfCheck.get(check);
  if (known !== undefined) return known;
  const words = JSON.stringify(checks);
  wordsOfCheck.set(check, words);
  return words;
}

/** @param value Null if there are none. */
export function parseChecks(value: unknown): readonly Check[] {
  return value === null ? [] : checksSchema.parse(value);
}
