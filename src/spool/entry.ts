import { crc32 } from "node:zlib";
import * as z from "zod";
import type { ChargeInput } from "../store/types/settlement.ts";
import { TOKEN_FIGURES } from "../usage/figures.ts";
import { isListed, mapTokens, TOKEN_KINDS } from "../usage/token-usage.ts";
import { formatJsonText } from "../text/json-text.ts";
import { type OpenedRequest, openingCharge } from "./opened-request.ts";

/**
 * What stands in the spool. `atMs`: this host's clock when it was put there. "open": nobody knows whether Redis has ever
 * heard of the request. "begun": its admission entered it there, and it counts only as long as it has not ended.
 */
export type SpoolEntry = ChargeEntry | OpenedEntry;

interface ChargeEntry {
  readonly kind: "charge";
  readonly atMs: number;
  readonly charge: ChargeInput;
}

interface OpenedEntry {
  readonly kind: "open" | "begun";
  readonly atMs: number;
  readonly opened: OpenedRequest;
}

const identityFields = {
  organizationId: z.string(),
  keyId: z.string(),
  requestId: z.string(),
  month: z.string(),
  day: z.string(),
  model: z.string(),
  route: z.string(),
  // Lines of older versions do not say it.
  currency: z.string().exactOptional(),
  owners: z.string().exactOptional(),
  session: z.string().exactOptional(),
  isSessionCapped: z.literal(true).exactOptional(),
  tags: z.string().exactOptional(),
  tagRow: z.string().exactOptional(),
};
const amount = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform((text) => BigInt(text));
const count = z.number().int().nonnegative();
const figures = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const moment = count.nullable();
const timeline = z.object({
  bodyMs: moment,
  routedMs: moment,
  upstreamMs: moment,
  firstTokenMs: moment,
  endMs: count,
});
const upstream = z.object({ name: z.string(), status: moment, cause: z.string().nullable() });
const way = z.object({
  timeline: timeline.nullable(),
  upstream: upstream.nullable(),
  requestedModel: z.string().optional(),
});

/** An entry calls figures as prices do. Lines of older versions have only those that were there at first. */
const tokensSchema = z
  .object(
    Object.fromEntries(
      TOKEN_KINDS.map((kind) => [TOKEN_FIGURES[kind].price.rate, isListed(kind) ? count : count.optional()]),
    ),
  )
  .transform((named) => mapTokens((kind) => named[TOKEN_FIGURES[kind].price.rate] ?? 0));

const entrySchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("charge"),
    atMs: z.number(),
    charge: z.object({
      ...identityFields,
      totalMicrocents: amount,
      // Lines of older versions do not have it.
      toolMicrocents: amount.optional(),
      sequence: count,
      tokens: tokensSchema,
      usedTokens: z
        .object({
          buckets: z.string(),
          prompt: count,
          countsCached: z.boolean(),
          input: count,
          output: count,
        })
        .optional(),
      requests: z.union([z.literal(0), z.literal(1)]),
      estimated: z.boolean(),
      // Only final charges are put in the spool; files of older versions do not say it.
      estimate: z.null().default(null),
      final: z
        .object({
          status: z.number(),
          errorCode: z.string().nullable(),
          checks: z.array(z.object({ name: z.string(), passed: z.boolean(), figures })),
          // Files of older versions do not say it.
          way: way.optional(),
        })
        .nullable(),
    }),
  }),
  z.object({
    kind: z.literal(["open", "begun"]),
    atMs: z.number(),
    opened: z.object({ ...identityFields, floorMicrocents: amount, floorInputTokens: count }),
  }),
]);

const HEAD = '{"checksum":"';
const MIDDLE = '","entry":';
const CHECKSUM_DIGITS = 8;
/** Of each byte: to make the digits takes as long as the checksum itself. */
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const ENTRY_START = HEAD.length + CHECKSUM_DIGITS + MIDDLE.length;

/**
 * One line of a spool file, with its line break: JSON, whose `checksum` is the CRC-32 (hexadecimal) of the bytes of
 * `entry` as they stand in the line. Amounts are strings, so that no reader rounds them.
 */
export function formatSpoolLine(entry: SpoolEntry): string {
  const json = entry.kind === "charge" ? formatCharge(entry) : formatOpened(entry);
  return `${HEAD}${checksumOf(json)}${MIDDLE}${json}}\n`;
}

function formatCharge({ kind, atMs, charge }: ChargeEntry): string {
  const tokens = Object.fromEntries(
    TOKEN_KINDS.map((kind) => [TOKEN_FIGURES[kind].price.rate, charge.tokens[kind]]),
  );
  return JSON.stringify({ kind, atMs, charge: { ...charge, tokens } }, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

/** As above, but written out: each request has one, and JSON takes three times as long to ask for each of its fields. */
function formatOpened({ kind, atMs, opened }: OpenedEntry): string {
  return (
    `{"kind":"${kind}","atMs":${atMs},"opened":{` +
    `"organizationId":${formatJsonText(opened.organizationId)}` +
    `,"keyId":${formatJsonText(opened.keyId)}` +
    `,"requestId":${formatJsonText(opened.requestId)}` +
    `,"month":"${opened.month}","day":"${opened.day}"` +
    `,"route":${formatJsonText(opened.route)}` +
    `,"model":${formatJsonText(opened.model)}` +
    formatMember("requestedModel", opened.requestedModel) +
    formatMember("currency", opened.currency) +
    formatMember("owners", opened.owners) +
    formatMember("session", opened.session) +
    (opened.isSessionCapped === true ? ',"isSessionCapped":true' : "") +
    formatMember("tags", opened.tags) +
    formatMember("tagRow", opened.tagRow) +
    `,"floorMicrocents":"${opened.floorMicrocents}","floorInputTokens":${opened.floorInputTokens}}}`
  );
}

function formatMember(name: string, text: string | undefined): string {
  return text === undefined ? "" : `,"${name}":${formatJsonText(text)}`;
}

/** The entry of a line (without its line break), or null when the line is torn or damaged. */
export function parseSpoolLine(line: string): SpoolEntry | null {
  if (!line.startsWith(HEAD) || !line.endsWith("}")) return null;
  const json = line.slice(ENTRY_START, -1);
  if (line.slice(HEAD.length, ENTRY_START) !== `${checksumOf(json)}${MIDDLE}`) return null;
  const parsed = entrySchema.safeParse(parseJson(json));
  return parsed.success ? parsed.data : null;
}

/** The charge that an entry comes to. */
export function chargeOf(entry: SpoolEntry): ChargeInput {
  if (entry.kind === "charge") return entry.charge;
  const opening = openingCharge(entry.opened);
  return entry.kind === "begun" ? { ...opening, onlyIfEntered: true } : opening;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The checksum was right, so it was written so: no entry of ours.
    return null;
  }
}

function checksumOf(json: string): string {
  const sum = crc32(json);
  return `${DIGITS[sum >>> 24]}${DIGITS[(sum >>> 16) & 255]}${DIGITS[(sum >>> 8) & 255]}${DIGITS[sum & 255]}`;
}
