import type { UsageRequest } from "../fields/usage-request.ts";
import { applyEdits, type Edit, findMembers } from "../json/object-spans.ts";

/** `usage` fields of an upstream's stream that the client sees: the same as without a gateway. */
export type UsageVisibility = "none" | "last" | "all";

/** `continuous_usage_stats` (vLLM, SGLang) adds the usage to every chunk. */
interface StreamOptions {
  readonly include_usage?: unknown;
  readonly continuous_usage_stats?: unknown;
}

/** Maps a client's `stream_options` to the usage that it expects in its stream. */
export function mapUsageVisibility(
  options: StreamOptions | null,
  usageRequest: UsageRequest | null,
): UsageVisibility {
  if (options?.include_usage !== true) return "none";
  return usageRequest?.isContinuous === true && options.continuous_usage_stats !== true ? "last" : "all";
}

/**
 * Formats `stream_options` that make an upstream report usage, keeping members that are already set.
 * @param text The client's value (null or an object), or null if it sent none.
 */
export function formatStreamOptions(text: string | null, isContinuous: boolean): string {
  const wanted = isContinuous ? ["include_usage", "continuous_usage_stats"] : ["include_usage"];
  const members = text === null ? null : findMembers(text);
  if (text === null || members === null) return `{${wanted.map((key) => `"${key}":true`).join(",")}}`;
  const missing = wanted.filter((key) => !members.some((member) => member.key === key));
  const added = missing.map((key) => `"${key}":true`).join(",");
  const edits: Edit[] = [];
  if (added !== "") {
    const afterBrace = text.indexOf("{") + 1;
    const replacement = members.length === 0 ? added : `${added},`;
    edits.push({ start: afterBrace, end: afterBrace, replacement });
  }
  for (const { key, valueStart, valueEnd } of members) {
    if (wanted.includes(key)) edits.push({ start: valueStart, end: valueEnd, replacement: "true" });
  }
  return applyEdits(text, edits);
}
