/** Entry of the stream of requests rejected at admission. */
import { describeChecks, parseCap } from "../admission/checks.ts";
import { parseTokenLimit } from "../admission/token-buckets.ts";
import { parseArray, parseInteger, parseIntegerOrNull, textAt } from "../redis/parse-reply.ts";
import type { AdmissionDecision } from "../../../shared/stored/decision.ts";
import type { Check } from "../../../shared/stored/reporting.ts";

/** Positions in the list `refused` of an entry, which scripts also write. Append new fields at the end. */
export const REFUSED_FIELDS = [
  "key",
  "route",
  "decision",
  "bucket",
  "rpm",
  "max_concurrent",
  "expires_at",
  "spent",
  "currency",
  "organization_spent",
  "remaining",
  "capacity",
  "retry_after",
  "concurrent",
  "owners",
  "token_limit",
  "caps",
  "reached",
] as const;

type Fields = Readonly<Record<string, string>>;

/** Returns a rejection's texts by their names. */
export function nameRefusedTexts(texts: Fields): Fields {
  const { refused } = texts;
  if (refused === undefined) return texts;
  const list = parseArray(refused);
  const named = REFUSED_FIELDS.slice(0, list.length).map((name, position) => [name, textAt(list, position)]);
  return { ...texts, ...Object.fromEntries(named) };
}

export function parseRefusalChecks(decision: AdmissionDecision, fields: Fields): readonly Check[] {
  const caps = parseArray(JSON.parse(`[${fields["caps"] ?? ""}]`)).map((cap) => parseCap(parseArray(cap)));
  return describeChecks({
    decision,
    bucket: fields["bucket"] === "count_tokens" ? "count_tokens" : "requests",
    requestsPerMinute: countOf(fields, "rpm"),
    capacity: countOf(fields, "capacity"),
    remaining: countOf(fields, "remaining"),
    retryAfterSeconds: countOf(fields, "retry_after"),
    expiresAtMs: parseIntegerOrNull(fields["expires_at"]),
    concurrentRequests: parseIntegerOrNull(fields["concurrent"]),
    maxConcurrentRequests: parseIntegerOrNull(fields["max_concurrent"]),
    currency: fields["currency"] ?? "",
    keySpentMicrocents: BigInt(fields["spent"] ?? "0"),
    organizationSpentMicrocents: BigInt(fields["organization_spent"] ?? "0"),
    caps,
    reachedCap: caps[(parseIntegerOrNull(fields["reached"]) ?? 0) - 1] ?? null,
    tokenLimit: parseTokenLimit(fields["token_limit"] ?? ""),
  });
}

function countOf(fields: Fields, name: string): number {
  return parseInteger(fields[name] ?? "0");
}
