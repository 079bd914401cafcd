import { crc32 } from "node:zlib";
import * as z from "zod";
import {
  checksSchema,
  formatIdentity,
  identityShape,
  nameSpooledTokens,
  spooledTokens,
  traceSchema,
} from "../store/requests/facts.ts";
import type { ChargeInput } from "../../shared/stored/settlement.ts";
import { type OpenedRequest, openingCharge } from "./opened-request.ts";

/**
 * An entry of the spool. `atMs`: host time when it was added. "open": Redis may not know the request. "begun": its
 * admission entered it in Redis, and it only counts as long as it has not ended.
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

const amount = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform((text) => BigInt(text));
const count = z.number().int().nonnegative();
const entrySchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("charge"),
    atMs: z.number(),
    charge: z.object({
      ...identityShape,
      totalMicrocents: amount,
      toolMicrocents: amount.optional(),
      sequence: count,
      tokens: spooledTokens,
      usedTokens: z
        .object({
          buckets: z.string(),
          prompt: count,
          reserved: count,
          countsCached: z.boolean(),
          input: count,
          output: count,
        })
        .optional(),
      requests: z.union([z.literal(0), z.literal(1)]),
      estimated: z.boolean(),
      // Only final charges are put into the spool.
      estimate: z.null(),
      final: z
        .object({
          status: z.number(),
          errorCode: z.string().nullable(),
          checks: checksSchema,
          trace: traceSchema.optional(),
        })
        .nullable(),
    }),
  }),
  z.object({
    kind: z.literal(["open", "begun"]),
    atMs: z.number(),
    opened: z.object({ ...identityShape, floorMicrocents: amount, floorInputTokens: count }),
  }),
]);

const HEAD = '{"checksum":"';
const MIDDLE = '","entry":';
const CHECKSUM_DIGITS = 8;
/** Hexadecimal digits of each byte, because formatting them takes as long as the checksum itself. */
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const ENTRY_START = HEAD.length + CHECKSUM_DIGITS + MIDDLE.length;

/**
 * Formats one line of a spool file, with its line break: JSON whose `checksum` is the CRC-32 (hexadecimal) of the
 * bytes of `entry` in the line. Amounts are strings, so that no reader rounds them.
 */
export function formatSpoolLine(entry: SpoolEntry): string {
  const json = entry.kind === "charge" ? formatCharge(entry) : formatOpened(entry);
  return `${HEAD}${checksumOf(json)}${MIDDLE}${json}}\n`;
}

function formatCharge({ kind, atMs, charge }: ChargeEntry): string {
  const tokens = nameSpooledTokens(charge.tokens);
  return JSON.stringify({ kind, atMs, charge: { ...charge, tokens } }, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

/**
 * Written by hand: each request has one, and JSON.stringify takes three times as long with a function for each field.
 */
function formatOpened({ kind, atMs, opened }: OpenedEntry): string {
  return (
    `{"kind":"${kind}","atMs":${atMs},"opened":{${formatIdentity(opened)}` +
    `,"floorMicrocents":"${opened.floorMicrocents}","floorInputTokens":${opened.floorInputTokens}}}`
  );
}

/** Parses a line without its line break; null if it is torn or damaged. */
export function parseSpoolLine(line: string): SpoolEntry | null {
  if (!line.startsWith(HEAD) || !line.endsWith("}")) return null;
  const json = line.slice(ENTRY_START, -1);
  if (line.slice(HEAD.length, ENTRY_START) !== `${checksumOf(json)}${MIDDLE}`) return null;
  const parsed = entrySchema.safeParse(parseJson(json));
  return parsed.success ? parsed.data : null;
}

export function chargeOf(entry: SpoolEntry): ChargeInput {
  if (entry.kind === "charge") return entry.charge;
  const opening = openingCharge(entry.opened);
  return entry.kind === "begun" ? { ...opening, onlyIfEntered: true } : opening;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The checksum matched, so it was written like this: not one of our entries.
    return null;
  }
}

function checksumOf(json: string): string {
  const sum = crc32(json);
  return `${DIGITS[sum >>> 24]}${DIGITS[(sum >>> 16) & 255]}${DIGITS[(sum >>> 8) & 255]}${DIGITS[sum & 255]}`;
}
