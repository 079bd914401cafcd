/**
 * The facts of a request in the words of its records: what the spool, the list of recent requests, the log of requests and
 * the management API write and read of them. A fact stands in its table here, with its name in each of them; each of its
 * writers and readers is made of the table.
 */
import * as z from "zod";
import { formatJsonText } from "../../../shared/text/json-text.ts";
import { compileExpression } from "../../../shared/usage/compile.ts";
import { mapTokens, rateOf, TOKEN_KINDS, type TokenUsage } from "../../../shared/usage/token-usage.ts";
import { type Check, type RequestTimeline, type RequestWay, UNKNOWN_WAY } from "../types/reporting.ts";
import type { RequestIdentity } from "../types/settlement.ts";

/** `text`: always there, of `plain` form where JSON has nothing to escape in it; `optional`: left out where it is not known. */
type IdentityKind = "text" | "plain" | "optional" | "flag";

/** What every command of a request says of it: the names in code, which the spool has as well, in the spool's order. */
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

/** The identity in an entry of the spool. */
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

/** The expression that writes a member. */
function formatMember(name: string, kind: IdentityKind, separator: string): string {
  const [value, key] = [`identity.${name}`, `'${separator}"${name}":`];
  if (kind === "plain") return `${key}"' + ${value} + '"'`;
  if (kind === "text") return `${key}' + formatText(${value})`;
  if (kind === "flag") return `(${value} === true ? ${key}true' : "")`;
  return `(${value} === undefined ? "" : ${key}' + formatText(${value}))`;
}

/** The members of a JSON object. Each request has an entry, and JSON takes three times as long to ask for each field. */
export function formatIdentity(identity: RequestIdentity): string {
  return formatIdentityMembers(identity, formatJsonText);
}

/** In entries of the spool, which call figures as prices do. */
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

/** How far a request came: the names in code, in the management API, and what each says there. */
export const TIMELINE = {
  bodyMs: { apiName: "body_ms", about: "Its whole body was there." },
  routedMs: { apiName: "routed_ms", about: "It was handed to the upstream." },
  upstreamMs: { apiName: "upstream_ms", about: "The upstream's answer began." },
  firstTokenMs: { apiName: "first_token_ms", about: null },
  endMs: { apiName: "end_ms", about: null },
} as const satisfies Readonly<Record<keyof RequestTimeline, { apiName: string; about: string | null }>>;

const moment = z.number().int().nullable();

/** What happened at the upstreams, as the spool and the list of recent requests keep it. */
export const waySchema: z.ZodType<RequestWay> = z.object({
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
});

/** JSON. */
export function formatWay(way: RequestWay | undefined): string {
  return way === undefined ? "null" : JSON.stringify(way);
}

/** @param value Null in entries of requests whose worker died. */
export function parseWay(value: unknown): RequestWay {
  return value === null ? UNKNOWN_WAY : waySchema.parse(value);
}

/** What decided a request, with its figures: in the spool, in the list of recent requests and in answers. */
export const checkShape = {
  name: z.string(),
  passed: z.boolean(),
  figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
};
export const checksSchema = z.array(z.object(checkShape));

/** Requests at one price share its check: it is put into words once. */
const wordsOfCheck = new WeakMap<Check, string>();

/** JSON. */
export function formatChecks(checks: readonly Check[]): string {
  const [check] = checks;
  if (check === undefined || checks.length > 1) return JSON.stringify(checks);
  const known = wordsOfCheck.get(check);
  if (known !== undefined) return known;
  const words = JSON.stringify(checks);
  wordsOfCheck.set(check, words);
  return words;
}

/** @param value Null where there are none. */
export function parseChecks(value: unknown): readonly Check[] {
  return value === null ? [] : checksSchema.parse(value);
}
