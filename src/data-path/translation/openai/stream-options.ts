import type { UsageWish } from "../fields/usage-wish.ts";
import { applyEdits, type Edit, findMembers } from "../json/object-spans.ts";

/** Which `usage` fields of an upstream's stream the client gets to see: those that it would get without a gateway. */
export type UsageVisibility = "none" | "last" | "all";

/** `continuous_usage_stats` (vLLM, SGLang) gives usage with every chunk. */
interface StreamOptions {
  readonly include_usage?: unknown;
  readonly continuous_usage_stats?: unknown;
}

/** What a client that sent these `stream_options` expects of its stream. */
export function mapUsageVisibility(options: StreamOptions | null, wish: UsageWish | null): UsageVisibility {
  if (options?.include_usage !== true) return "none";
  return wish?.isContinuous === true && options.continuous_usage_stats !== true ? "last" : "all";
}

/**
 * The text of `stream_options` that makes an upstream report usage; members that stand in it already are kept.
 * @param text The client's own value, null or an object, or null when it sent none.
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
